// Support sets for kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pool/points.hpp"
#include "sharelearn/pool/kernel.hpp"
#include "sharelearn/pool/kmeans.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

void check_count(const Matrix& x, Index count) {
  if (count >= 1 && count <= x.rows()) return;
  throw InputError(
      fmt::format("a support set of {} points was asked for; the data has {} rows", count, x.rows()));
}

/// In eight running sums, which a compiler turns into vectors.
double squared_distance(const float* a, const float* b, Index dimensions) {
  constexpr Index kLanes = 8;
  double lane[kLanes] = {};
  const auto square = [&](Index j) {
    const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    return difference * difference;
  };
  Index j = 0;
  for (; j + kLanes <= dimensions; j += kLanes) {
    for (Index l = 0; l < kLanes; ++l) lane[l] += square(j + l);
  }
  for (; j < dimensions; ++j) lane[0] += square(j);
  return std::accumulate(lane, lane + kLanes, 0.0);
}

Grid<float> as_columns(const std::vector<float>& by_rows, std::span<const Index> rows, Index dimensions) {
  Grid<float> points(dimensions, std::ssize(rows));
  for (Index n = 0; n < points.cols(); ++n) {
    std::copy_n(by_rows.data() + rows[static_cast<std::size_t>(n)] * dimensions, dimensions,
                points.column(n));
  }
  return points;
}

/// A multiclass perceptron in the kernel's space: the support's points with their votes for each class.
class KernelPerceptron {
 public:
  KernelPerceptron(const std::vector<float>& rows, Index dimensions, Index classes, double sigma)
      : rows_(rows), dimensions_(dimensions), scores_(static_cast<std::size_t>(classes)), sigma_(sigma) {}

  Index predict(Index row) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    for (const Support& s : support_) {
      const double k = std::exp(-squared_distance(at(s.row), at(row), dimensions_) / (2 * sigma_));
      scores_[s.right] += k;
      scores_[s.wrong] -= k;
    }
    return std::max_element(scores_.begin(), scores_.end()) - scores_.begin();
  }
  void learn(Index row, std::int32_t right, Index wrong) {
    support_.push_back({row, static_cast<std::size_t>(right), static_cast<std::size_t>(wrong)});
  }

 private:
  struct Support {
    Index row;
    std::size_t right, wrong;
  };
  const float* at(Index row) const { return rows_.data() + row * dimensions_; }
  const std::vector<float>& rows_;
  Index dimensions_;
  std::vector<Support> support_;
  std::vector<double> scores_;
  double sigma_;
};

}  // namespace

Grid<float> sampled_support(const Matrix& x, Index count, std::uint64_t seed) {
  check_count(x, count);
  const std::vector<Index> rows = Random(seed).sample(x.rows(), count);
  const DenseMatrix some = x.select_rows(rows).to_dense();
  Grid<float> points(x.cols(), count);
  for (Index n = 0; n < count; ++n) {
    for (Index j = 0; j < x.cols(); ++j) points(j, n) = some(n, j);
  }
  return points;
}

Grid<float> clustered_support(const Matrix& x, Index count, std::uint64_t seed, ThreadPool& threads) {
  check_count(x, count);
  const std::vector<float> rows = rows_of(x);
  return kmeans({rows.data(), x.rows(), x.cols()}, {.centres = count, .seed = seed}, threads).centres;
}

Grid<float> perceptron_support(const Matrix& x, std::span<const std::int32_t> class_of_row, Index classes,
                               Index count, double sigma, std::uint64_t seed) {
  check_count(x, count);
  const std::vector<float> rows = rows_of(x);
  std::vector<Index> order(static_cast<std::size_t>(x.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  KernelPerceptron perceptron(rows, x.cols(), classes, sigma);
  std::vector<Index> support;
  for (const Index row : order) {
    if (std::ssize(support) == count) break;
    const std::int32_t right = class_of_row[static_cast<std::size_t>(row)];
    const Index predicted = perceptron.predict(row);
    if (predicted == right && !support.empty()) continue;
    perceptron.learn(row, right, predicted);
    support.push_back(row);
  }
  return as_columns(rows, support, x.cols());
}

double typical_sigma(const Matrix& x, std::uint64_t seed) {
  constexpr Index kMostRows = 2000;
  Random random(seed);
  std::vector<Index> rows = random.sample(x.rows(), std::min(kMostRows, x.rows()));
  const std::vector<float> values = rows_of(x.select_rows(rows));
  std::iota(rows.begin(), rows.end(), Index{0});
  random.shuffle(rows);
  std::vector<double> squared;
  for (std::size_t n = 0; n + 1 < rows.size(); n += 2) {
    squared.push_back(squared_distance(values.data() + rows[n] * x.cols(),
                                       values.data() + rows[n + 1] * x.cols(), x.cols()));
  }
  if (squared.empty()) return 1.0;
  const auto middle = squared.begin() + std::ssize(squared) / 2;
  std::nth_element(squared.begin(), middle, squared.end());
  return *middle > 0 ? *middle / 2 : 1.0;
}

}  // namespace sharelearn
