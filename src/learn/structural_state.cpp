// Checkpoints of penalised paths.
#include <limits>
#include <utility>

#include "learn/learner_bytes.hpp"
#include "learn/structural_engine.hpp"

namespace sharelearn {
namespace {

constexpr const char* kPathEntry = "path";  // of a checkpoint

}  // namespace

/// Stores the state at the beginning of a round, if that is due.
void StructuralBooster::Engine::offer(const Inner& inner, const StructuralStage& stage) {
  if (context_.checkpoint == nullptr) return;
  context_.checkpoint->offer(kPathEntry, [&](ByteWriter& out) { save(out, inner, stage); });
}

void StructuralBooster::Engine::resume(const ObserverState& of_rounds) {
  of_rounds_ = of_rounds;
  const std::string* found = context_.checkpoint ? context_.checkpoint->find(kPathEntry) : nullptr;
  if (found == nullptr) return;
  ByteReader in = context_.checkpoint->reader(*found);
  restore(in);
}

void StructuralBooster::Engine::save(ByteWriter& out, const Inner& inner,
                                     const StructuralStage& stage) const {
  out.indices(included_);
  std::vector<Index> in_use;
  for (const StructuralSlot& slot : slots_) {
    if (slot.column == 0) in_use.push_back(slot.candidate);
  }
  out.indices(in_use);
  solver_.save(out);
  out.doubles(scan_.scores());
  out.indices(screened_);
  write_bits(out, scanned_lambda_);
  out.indices(designed_);
  out.u64(result.stages.size());
  for (const StructuralStage& solved : result.stages) write_stage(out, solved);
  out.index(static_cast<Index>(between_));
  write_bits(out, inner.tolerance);
  out.index(inner.tightenings);
  write_stage(out, stage);
  if (of_rounds_.save) of_rounds_.save(out);
}

/// Brings pool and solver to the candidates that were in use. The pool may have grown with candidates that
/// were dropped since; the first of them may be in use already (first_lambda()).
void StructuralBooster::Engine::restore_columns(ByteReader& in) {
  const std::vector<Index> included = in.indices(0, std::numeric_limits<Index>::max());
  if (included.size() < included_.size() || !std::equal(included_.begin(), included_.end(), included.begin()))
    in.damaged("its candidates are not those of this run");
  for (std::size_t i = included_.size(); i < included.size(); ++i) {
    if (included[i] >= pool_.candidates()) in.damaged("it has a candidate that the pool lacks");
    pool_.chosen(included[i]);
  }
  included_ = included;
  solver_.drop_zero_groups(1);
  slots_.clear();
  active_.assign(static_cast<std::size_t>(pool_.candidates()), 0);
  for (const Index candidate : in.indices(0, pool_.candidates() - 1)) {
    if (active_[static_cast<std::size_t>(candidate)] != 0) in.damaged("it has a candidate twice");
    add_columns(candidate);
  }
}

void StructuralBooster::Engine::restore_stages(ByteReader& in) {
  for (const Index candidate : in.indices(0, pool_.candidates() - 1)) design_column({candidate, 0});
  for (std::uint64_t left = in.u64(); left > 0; --left)
    result.stages.push_back(read_structural_stage(in, design_columns_, solver_.outputs()));
}

void StructuralBooster::Engine::restore(ByteReader& in) {
  restore_columns(in);
  solver_.restore(in);
  scan_.restore(in.doubles());
  if (scan_.scores().size() > active_.size()) in.damaged("it has scores of candidates that the pool lacks");
  screened_ = in.indices(0, pool_.candidates() - 1);
  scanned_lambda_ = read_bits(in);
  restore_stages(in);
  Place place;
  place.between = static_cast<std::size_t>(in.index(0, std::numeric_limits<int>::max()));
  place.inner.tolerance = read_bits(in);
  place.inner.tightenings = static_cast<int>(in.index(0, kMostTightenings));
  place.stage = read_structural_stage(in, design_columns_, solver_.outputs());
  resumed_ = std::move(place);
  if (of_rounds_.restore) of_rounds_.restore(in);
  in.expect_end();
}

}  // namespace sharelearn
