#include "sharelearn/transform/mutual_information.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "transform/column_sums.hpp"

namespace sharelearn {
namespace {

std::size_t class_at(std::span<const std::int32_t> class_of_row, std::size_t row) {
  return static_cast<std::size_t>(class_of_row[row]);
}

/// joint ln(joint / (one * other)); 0 if `joint` is 0.
double term(double joint, double one, double other) {
  return joint > 0 ? joint * std::log(joint / (one * other)) : 0.0;
}

}  // namespace

std::vector<double> mutual_information(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                       Index classes, std::span<const double> row_weights) {
  const RowWeights weights(row_weights, x.rows());
  const double total = weights.total();
  std::vector<double> of_class(static_cast<std::size_t>(classes)), present(of_class.size());
  serial_sum(x.rows(), of_class, [&](RowRange block, std::span<double> sums) {
    for (auto i = static_cast<std::size_t>(block.begin); i < static_cast<std::size_t>(block.end); ++i) {
      sums[class_at(class_of_row, i)] += weights[i];
    }
  });
  std::vector<double> information;
  for (Index j = 0; j < x.cols(); ++j) {
    sum_column(x, j, present, [&](std::size_t row, float value, std::span<double> sums) {
      if (value != 0) sums[class_at(class_of_row, row)] += weights[row];
    });
    const double occurs = std::accumulate(present.begin(), present.end(), 0.0) / total;
    double sum = 0;
    for (std::size_t c = 0; c < present.size(); ++c) {
      const double both = present[c] / total, of_this = of_class[c] / total;
      sum += term(both, occurs, of_this) + term(of_this - both, 1 - occurs, of_this);
    }
    information.push_back(std::max(sum, 0.0));
  }
  return information;
}

std::vector<Index> most_informative_columns(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                            Index classes, Index count, std::span<const double> row_weights) {
  const std::vector<double> information = mutual_information(x, class_of_row, classes, row_weights);
  std::vector<Index> order(information.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto of = [&](Index j) { return information[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return of(a) > of(b); });
  order.resize(static_cast<std::size_t>(std::min<Index>(count, std::ssize(order))));
  return order;
}

}  // namespace sharelearn
