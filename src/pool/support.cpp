// Support sets for kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "pool/kernel.hpp"
#include "pool/kmeans.hpp"
#include "pool/points.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

void check_count(const ColumnView& x, Index count, std::span<const double> weights) {
  const Index most = weights.empty()
                         ? x.rows()
                         : std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
  if (count >= 1 && count <= most) return;
  throw InputError(
      fmt::format("a support set of {} points was asked for; the data has {} rows", count, most));
}

/// All rows, each next one drawn among those left with probability proportional to its weight (Efraimidis and
/// Spirakis 2006); rows of weight 0 are left out.
std::vector<Index> drawn_by_weight(std::span<const double> weights, Random& random) {
  std::vector<std::pair<double, Index>> keys;
  for (Index i = 0; i < std::ssize(weights); ++i) {
    const double weight = weights[static_cast<std::size_t>(i)];
    const double key = -std::log(1 - random.uniform());
    if (weight > 0) keys.emplace_back(key / weight, i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Index> rows;
  for (const auto& [key, row] : keys) rows.push_back(row);
  return rows;
}

std::vector<float> points_of(const ColumnView& x, std::span<const Index> rows) {
  const Matrix some = x.raw().select_rows(rows);
  ThreadPool alone(1);
  return rows_of({some, x.scaling()}, alone);
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

Grid<float> sampled_support(const ColumnView& x, Index count, std::uint64_t seed,
                            std::span<const double> weights) {
  check_count(x, count, weights);
  Random random(seed);
  std::vector<Index> rows =
      weights.empty() ? random.sample(x.rows(), count) : drawn_by_weight(weights, random);
  rows.resize(static_cast<std::size_t>(count));
  const std::vector<float> points = points_of(x, rows);
  std::iota(rows.begin(), rows.end(), Index{0});
  return as_columns(points, rows, x.cols());
}

Grid<float> clustered_support(const ColumnView& x, Index count, std::uint64_t seed, ThreadPool& threads,
                              std::span<const double> weights) {
  check_count(x, count, weights);
  const std::vector<float> rows = rows_of(x, threads);
  return kmeans({rows.data(), x.rows(), x.cols(), weights}, {.centres = count, .seed = seed}, threads)
      .centres;
}

Grid<float> perceptron_support(const ColumnView& x, std::span<const std::int32_t> class_of_row, Index classes,
                               Index count, double sigma, std::uint64_t seed,
                               std::span<const double> weights) {
  check_count(x, count, weights);
  ThreadPool alone(1);
  const std::vector<float> rows = rows_of(x, alone);
  Random random(seed);
  std::vector<Index> order(static_cast<std::size_t>(x.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  if (weights.empty()) {
    random.shuffle(order);
  } else {
    order = drawn_by_weight(weights, random);
  }
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

double typical_sigma(const ColumnView& x, std::uint64_t seed, std::span<const double> weights) {
  constexpr Index kMostRows = 2000;
  Random random(seed);
  const std::vector<Index> rows = random.sample(x.rows(), std::min(kMostRows, x.rows()));
  const std::vector<float> values = points_of(x, rows);
  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  const auto weight = [&](Index n) {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(rows[static_cast<std::size_t>(n)])];
  };
  std::vector<std::pair<double, double>> pairs;  // squared distance, weight
  double total = 0;
  for (std::size_t n = 0; n + 1 < order.size(); n += 2) {
    const Index a = order[n], b = order[n + 1];
    const double both = weight(a) * weight(b);
    if (both <= 0) continue;
    pairs.emplace_back(squared_distance(values.data() + a * x.cols(), values.data() + b * x.cols(), x.cols()),
                       both);
    total += both;
  }
  std::sort(pairs.begin(), pairs.end());
  double median = 0, below = 0;
  for (const auto& [squared, both] : pairs) {  // the upper one of two
    below += both;
    median = squared;
    if (2 * below > total) break;
  }
  return median > 0 ? median / 2 : 1.0;
}

}  // namespace sharelearn
