#include "sharelearn/model/preprocessing.hpp"

#include <fmt/format.h>

#include "data/to_size.hpp"
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

/// Data with only the columns that are read gets the others, too, as zeros.
void spread_columns(Dataset& data, const std::vector<char>& needed) {
  Matrix x = data.x.room(data.rows(), std::ssize(needed));
  Index next = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    if (needed[to_size(j)] != 0) data.x.copy_column(next++, x.writable_column(j));
  }
  data.x = std::move(x);
}

}  // namespace

struct Preprocessing::Changes {
  bool order, spread, fill, width;
  bool any() const { return order || spread || fill || width; }
};

std::vector<std::string> Preprocessing::data_names() const {
  if (names.empty()) return {};
  return {names.begin(), names.end() - std::ssize(indicators)};
}

std::vector<char> Preprocessing::needed_in_data(const std::vector<char>& needed) const {
  if (needed.empty() || transform.reads_whole_rows()) return {};
  std::vector<char> result(needed.begin(), needed.end() - std::ssize(indicators));
  for (std::size_t i = 0; i < indicators.size(); ++i) {
    if (needed[result.size() + i] != 0) result[to_size(indicators[i])] = 1;
  }
  return result;
}

Preprocessing::Changes Preprocessing::changes_for(const Dataset& data,
                                                  const std::vector<char>& needed) const {
  const bool sparse = data.x.is_sparse(), named = !data.column_names.empty();
  const auto read = std::ranges::count_if(needed, [](char n) { return n != 0; });
  Changes changes{.order = !sparse && named && !names.empty() && data.column_names != data_names(),
                  .spread = !sparse && !named && data_columns() > 0 && data.columns() != data_columns() &&
                            data.columns() == read,
                  .fill = false,
                  .width = sparse && !named && width() > 0 && data.columns() != data_columns()};
  const bool as_in_model = !changes.order && !changes.spread;
  changes.fill = has_missing(data.x, as_in_model ? needed : std::span<const char>());
  return changes;
}

void Preprocessing::apply(const Changes& changes, Dataset& data, ThreadPool& threads,
                          const std::vector<char>& needed) const {
  if (changes.order) take_columns(data, data_names(), needed, "the model");
  if (changes.spread) spread_columns(data, needed);
  if (changes.width) {
    data.x.own();
    fit_width(data.x.owned_sparse(), data_columns());
  }
  const bool fill = changes.fill && has_missing(data.x, needed);
  if (fill && means.empty()) {
    throw InputError(fmt::format(
        "{}: values are missing, and the model was not fitted with `missing` mean, so that it has no "
        "means for them; fit it so, or read the data with `missing` zero",
        data.source));
  }
  if (!data.x.is_sparse() || data.column_names.empty()) append_indicators(data, indicators);
  if (fill) fill_missing(data.x, means, threads);
  transform.apply(data.x, threads, data.source);
}

void Preprocessing::arrange(Dataset& data, ThreadPool& threads, const std::vector<char>& needed) const {
  const std::vector<char> read = needed_in_data(needed);
  apply(changes_for(data, read), data, threads, read);
}

const Dataset& Preprocessing::prepare(const Dataset& data, std::optional<Dataset>& room, ThreadPool& threads,
                                      const std::vector<char>& needed) const {
  const std::vector<char> read = needed_in_data(needed);
  const Changes changes = changes_for(data, read);
  if (!changes.any() && indicators.empty() && transform.is_identity()) return data;
  room = data;
  apply(changes, *room, threads, read);
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
