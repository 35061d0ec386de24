#include "pool/distances.hpp"

#include <algorithm>

namespace sharelearn {

Distances::Distances(const Grid<float>& points) : products_(points) {
  for (Index n = 0; n < points.cols(); ++n) {
    double sum = 0;
    for (const float v : points.column_span(n)) sum += static_cast<double>(v) * static_cast<double>(v);
    square_.push_back(sum);
  }
}

void Distances::for_each_strip(const ColumnView& x, ThreadPool& threads,
                               const std::function<void(RowRange, const double*)>& visit) const {
  constexpr Index kRows = RowProducts::kRows;
  const auto work = [&](RowRange rows, int) {
    std::vector<double> squared(square_.size() * kRows);
    double of_row[kRows];
    products_.compute(x, rows, squared.data(), of_row);
    for (std::size_t n = 0; n < square_.size(); ++n) {
      for (Index r = 0; r < rows.size(); ++r) {
        double& value = squared[n * kRows + static_cast<std::size_t>(r)];
        value = std::max(of_row[r] + square_[n] - 2 * value, 0.0);
      }
    }
    visit(rows, squared.data());
  };
  for_each_row_block(x.rows(), threads, work, kRows);
}

Grid<double> Distances::all(const ColumnView& x, ThreadPool& threads) const {
  Grid<double> out(x.rows(), products_.vectors());
  for_each_strip(x, threads, [&](RowRange rows, const double* squared) {
    for (Index n = 0; n < out.cols(); ++n) {
      std::copy_n(squared + n * RowProducts::kRows, rows.size(), out.column(n) + rows.begin);
    }
  });
  return out;
}

}  // namespace sharelearn
