#include "sharelearn/transform/counts.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"
#include "transform/column_sums.hpp"

namespace sharelearn {
namespace {

constexpr std::array<std::string_view, 4> kNames{"none", "log1p", "binary", "tfidf"};

/// Calls visit(row, value) for the stored entries of column j.
template <class Visit>
void each_entry(Matrix& x, Index j, const Visit& visit) {
  if (!x.is_sparse()) {
    float* const column = x.writable_column(j);
    for (std::size_t i = 0; i < to_size(x.rows()); ++i) visit(i, column[i]);
    return;
  }
  SparseMatrix& s = x.owned_sparse();
  for (Index e = s.start[to_size(j)]; e < s.start[to_size(j) + 1]; ++e) {
    visit(std::size_t{s.row[to_size(e)]}, s.value[to_size(e)]);
  }
}

void require_counts(Matrix& x, const std::string& source, CountTransformKind kind) {
  for (Index j = 0; j < x.cols(); ++j) {
    each_entry(x, j, [&](std::size_t row, float value) {
      if (value >= 0) return;
      throw InputError(
          fmt::format("{}: row {} has the value {} in column {} (counted from 0), but `transform` {} needs "
                      "counts: values of at least 0",
                      source, row + 1, value, j, name_of(kind)));
    });
  }
}

float transformed(float value, CountTransformKind kind) {
  if (kind == CountTransformKind::binary) return value > 0 ? 1.0f : 0.0f;
  return static_cast<float>(std::log1p(static_cast<double>(value)));
}

}  // namespace

CountTransformKind count_transform_from(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<CountTransformKind>(i);
  }
  throw InputError(fmt::format("expected none, log1p, binary or tfidf, found '{}'", name));
}

std::string_view name_of(CountTransformKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

CountTransform CountTransform::fit(const Matrix& x, CountTransformKind kind, ThreadPool& threads,
                                   std::span<const double> row_weights) {
  CountTransform result{kind, {}};
  if (kind != CountTransformKind::tfidf) return result;
  const RowWeights weights(row_weights, x.rows());
  const double rows = weights.total();
  result.idf.resize(to_size(x.cols()));
  threads.for_each(x.cols(), [&](Index j, int) {
    const double with = sum_over_entries(x, j, weights, [](double value) { return value > 0 ? 1.0 : 0.0; });
    result.idf[to_size(j)] = std::log((1 + rows) / (1 + with)) + 1;
  });
  return result;
}

void CountTransform::apply(Matrix& x, ThreadPool& threads, const std::string& source) const {
  if (is_identity()) return;
  x.own();  // values of another owner stay as they are
  require_counts(x, source, kind);
  if (kind != CountTransformKind::tfidf) {
    threads.for_each(x.cols(), [&](Index j, int) {
      each_entry(x, j, [&](std::size_t, float& value) { value = transformed(value, kind); });
    });
    return;
  }
  std::vector<double> squares(to_size(x.rows()), 0.0);  // columns in order: the same sum for any threads
  for (Index j = 0; j < x.cols(); ++j) {
    each_entry(x, j, [&](std::size_t row, float value) {
      const double weighted = static_cast<double>(value) * idf[to_size(j)];
      squares[row] += weighted * weighted;
    });
  }
  threads.for_each(x.cols(), [&](Index j, int) {
    each_entry(x, j, [&](std::size_t row, float& value) {
      if (value == 0) return;
      value = static_cast<float>(static_cast<double>(value) * idf[to_size(j)] / std::sqrt(squares[row]));
    });
  });
}

}  // namespace sharelearn
