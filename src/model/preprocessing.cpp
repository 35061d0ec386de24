#include "sharelearn/model/preprocessing.hpp"

#include <fmt/format.h>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {
namespace {

/// Gives x exactly `count` columns: surplus columns are dropped, missing columns are zero.
void fit_width(SparseMatrix& x, Index count) {
  require_memory(16.0 * static_cast<double>(count), fmt::format("data with the model's {} columns", count));
  x.start.resize(static_cast<std::size_t>(count) + 1, x.start.back());
  x.cols = count;
  x.row.resize(static_cast<std::size_t>(x.start.back()));
  x.value.resize(static_cast<std::size_t>(x.start.back()));
}

}  // namespace

struct Preprocessing::Changes {
  bool order, fill, width;
  bool any() const { return order || fill || width; }
};

Preprocessing::Changes Preprocessing::changes_for(const Dataset& data) const {
  const bool sparse = data.x.is_sparse(), named = !data.column_names.empty();
  const Changes changes{.order = !sparse && named && !names.empty() && data.column_names != names,
                        .fill = has_missing(data.x),
                        .width = sparse && !named && width() > 0 && data.columns() != width()};
  if (!changes.fill || !means.empty()) return changes;
  throw InputError(fmt::format(
      "{}: values are missing, and the model was not fitted with `missing` mean, so that it has no "
      "means for them; fit it so, or read the data with `missing` zero",
      data.source));
}

void Preprocessing::apply(const Changes& changes, Dataset& data, ThreadPool& threads) const {
  if (changes.order) order_columns(data, names, "the model");
  if (changes.fill) fill_missing(data.x, means, threads);
  if (changes.width) fit_width(data.x.sparse(), width());
}

void Preprocessing::arrange(Dataset& data, ThreadPool& threads) const {
  apply(changes_for(data), data, threads);
}

const Dataset& Preprocessing::prepare(const Dataset& data, std::optional<Dataset>& room,
                                      ThreadPool& threads) const {
  const Changes changes = changes_for(data);
  if (!changes.any()) return data;
  room = data;
  apply(changes, *room, threads);
  return *room;
}

void write_scaling(ByteWriter& out, const Scaling& scaling) {
  out.u8(static_cast<std::uint8_t>(scaling.kind));
  out.doubles(scaling.offset);
  out.doubles(scaling.factor);
}

Scaling read_scaling(ByteReader& in, Index columns) {
  Scaling scaling;
  const std::uint8_t kind = in.u8();
  if (kind > static_cast<std::uint8_t>(ScalingKind::standard)) in.damaged("its scaling is unknown");
  scaling.kind = static_cast<ScalingKind>(kind);
  scaling.offset = in.doubles();
  scaling.factor = in.doubles();
  const bool fits = scaling.factor.empty() || columns < 0 || std::ssize(scaling.factor) == columns;
  if (scaling.offset.size() != scaling.factor.size() || !fits) {
    in.damaged("its scaling does not fit its columns");
  }
  return scaling;
}

}  // namespace sharelearn
