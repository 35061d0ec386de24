#include "sharelearn/transform/mutual_information.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sharelearn {
namespace {

/// Rows of each class in which column j is not zero.
void count_present(const Matrix& x, Index j, std::span<const std::int32_t> class_of_row,
                   std::vector<double>& present) {
  std::fill(present.begin(), present.end(), 0.0);
  const auto count = [&](std::size_t row) { ++present[static_cast<std::size_t>(class_of_row[row])]; };
  if (x.is_sparse()) {
    for (const std::uint32_t row : x.sparse().column_rows(j)) count(row);
    return;
  }
  const auto values = x.dense().column_span(j);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row] != 0) count(row);
  }
}

/// joint ln(joint / (one * other)), 0 where nothing is joint.
double term(double joint, double one, double other) {
  return joint > 0 ? joint * std::log(joint / (one * other)) : 0.0;
}

}  // namespace

std::vector<double> mutual_information(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                       Index classes) {
  const double rows = static_cast<double>(x.rows());
  std::vector<double> of_class(static_cast<std::size_t>(classes), 0.0), present(of_class.size());
  for (const std::int32_t c : class_of_row) of_class[static_cast<std::size_t>(c)] += 1 / rows;
  std::vector<double> information;
  for (Index j = 0; j < x.cols(); ++j) {
    count_present(x, j, class_of_row, present);
    const double occurs = std::accumulate(present.begin(), present.end(), 0.0) / rows;
    double sum = 0;
    for (std::size_t c = 0; c < present.size(); ++c) {
      const double both = present[c] / rows;
      sum += term(both, occurs, of_class[c]) + term(of_class[c] - both, 1 - occurs, of_class[c]);
    }
    information.push_back(std::max(sum, 0.0));
  }
  return information;
}

std::vector<Index> most_informative_columns(const Matrix& x, std::span<const std::int32_t> class_of_row,
                                            Index classes, Index count) {
  const std::vector<double> information = mutual_information(x, class_of_row, classes);
  std::vector<Index> order(information.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto of = [&](Index j) { return information[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return of(a) > of(b); });
  order.resize(static_cast<std::size_t>(std::min<Index>(count, std::ssize(order))));
  return order;
}

}  // namespace sharelearn
