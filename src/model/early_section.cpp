#include "model/early_section.hpp"

#include <algorithm>

#include "model/stage_bytes.hpp"

namespace sharelearn {

std::string write_early(const Model& model) {
  if (model.early == nullptr) return "";
  ByteWriter out;
  const EarlyStop& early = *model.early;
  out.index(early.stage);
  out.f64(early.disagreement);
  out.f64(early.confidence);
  out.index(early.rows);
  out.index(early.disagreeing);
  out.f64(early.upper_bound);
  out.u64(early.checkpoints.size());
  for (const EarlyCheckpoint& point : early.checkpoints) {
    write_stage(out, point.weights);
    out.f64(point.threshold);
  }
  return out.bytes();
}

void read_early(Model& model, ByteReader& in) {
  const auto linear = as_linear(model, "stopping early");
  const Index columns = linear->first_columns().back();
  EarlyStop early;
  early.stage = in.index(0, std::ssize(linear->stages) - 1);
  early.disagreement = in.f64();
  early.confidence = in.f64();
  constexpr Index kMost = Index{1} << 40;
  early.rows = in.index(0, kMost);
  early.disagreeing = in.index(0, early.rows);
  early.upper_bound = in.f64();
  if (linear->kind_of_output == OutputKind::value) in.damaged("a model of numbers cannot stop early");
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    EarlyCheckpoint& point = early.checkpoints.emplace_back();
    read_stage(in, point.weights, columns, linear->names.size());
    if (!std::ranges::is_sorted(point.weights.columns))
      in.damaged("the columns of a checkpoint are not in order");
    point.threshold = in.f64();
  }
  model.early = std::make_shared<const EarlyStop>(std::move(early));
}

}  // namespace sharelearn
