#include "nearest_neighbours.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/kernels.hpp"

namespace sharelearn::reproduce {
namespace {

/// Test rows whose products with all known rows are held at once.
constexpr Index kTestRows = 64;

/// Column i is row i of x.
Grid<float> transposed(const DenseView& x) {
  Grid<float> out(x.cols(), x.rows());
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) out(j, i) = x(i, j);
  }
  return out;
}

struct Nearest {
  std::array<double, 3> distance{};
  std::array<std::int32_t, 3> label{};

  Nearest() { distance.fill(std::numeric_limits<double>::infinity()); }
  void offer(double d, std::int32_t of) {
    if (!(d < distance[2])) return;
    std::size_t at = 2;
    for (; at > 0 && d < distance[at - 1]; --at) {
      distance[at] = distance[at - 1];
      label[at] = label[at - 1];
    }
    distance[at] = d;
    label[at] = of;
  }
  std::int32_t vote() const { return label[1] == label[2] ? label[1] : label[0]; }
};

}  // namespace

std::vector<std::int32_t> nearest_neighbours(const DenseView& known, const std::vector<std::int32_t>& labels,
                                             const DenseView& test, ThreadPool& threads) {
  const Grid<float> rows = transposed(known), asked = transposed(test);
  std::vector<double> square;
  for (Index i = 0; i < rows.cols(); ++i) {
    double sum = 0;
    for (const float v : rows.column_span(i)) sum += static_cast<double>(v) * static_cast<double>(v);
    square.push_back(sum);
  }
  std::vector<std::int32_t> found(static_cast<std::size_t>(asked.cols()));
  threads.for_each((asked.cols() + kTestRows - 1) / kTestRows, [&](Index block, int) {
    const Index first = block * kTestRows, count = std::min(kTestRows, asked.cols() - first);
    std::vector<double> products(static_cast<std::size_t>(rows.cols() * count), 0.0);
    kernels::correlate(kernels::Block<float>{rows.data(), rows.stride(), rows.cols()},
                       kernels::Block<float>{asked.column(first), asked.stride(), count}, rows.rows(),
                       products.data());
    for (Index t = 0; t < count; ++t) {
      Nearest nearest;
      for (std::size_t i = 0; i < square.size(); ++i)
        nearest.offer(
            square[i] - 2 * products[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(t)],
            labels[i]);
      found[static_cast<std::size_t>(first + t)] = nearest.vote();
    }
  });
  return found;
}

}  // namespace sharelearn::reproduce
