// Missing values are NaN while a file is read.
#include <cmath>

#include "data/readers.hpp"

namespace sharelearn {
namespace {

float mean_or_zero(double sum, Index present, Missing missing) {
  return missing == Missing::mean && present > 0 ? static_cast<float>(sum / static_cast<double>(present))
                                                 : 0.0f;
}

}  // namespace

void fill_missing(DenseMatrix& x, Missing missing, ThreadPool& threads) {
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    double sum = 0;
    Index present = 0;
    for (const float value : x.column_span(j)) {
      if (std::isnan(value)) continue;
      sum += value;
      ++present;
    }
    if (present == x.rows()) return;
    const float fill = mean_or_zero(sum, present, missing);
    for (float& value : x.column_span(j)) {
      if (std::isnan(value)) value = fill;
    }
  });
}

/// The zeros that are not written down are values, and count in the mean.
void fill_missing(SparseMatrix& x, Missing missing) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(x.cols); ++j) {
    const auto begin = static_cast<std::size_t>(x.start[j]), end = static_cast<std::size_t>(x.start[j + 1]);
    double sum = 0;
    Index present = x.rows;
    for (std::size_t e = begin; e < end; ++e) {
      if (std::isnan(x.value[e])) {
        --present;
      } else {
        sum += x.value[e];
      }
    }
    const float fill = mean_or_zero(sum, present, missing);
    x.start[j] = static_cast<Index>(kept);
    for (std::size_t e = begin; e < end; ++e) {
      const float value = std::isnan(x.value[e]) ? fill : x.value[e];
      if (value == 0) continue;
      x.row[kept] = x.row[e];
      x.value[kept++] = value;
    }
  }
  x.start.back() = static_cast<Index>(kept);
  x.row.resize(kept);
  x.value.resize(kept);
}

}  // namespace sharelearn
