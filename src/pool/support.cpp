// Support sets for kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "pool/kernel.hpp"
#include "pool/kmeans.hpp"
#include "pool/points.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

void check_count(Index count, const RowCopies& copies) {
  if (count >= 1 && count <= copies.count()) return;
  throw InputError(
      fmt::format("a support set of {} points was asked for; the data has {} rows", count, copies.count()));
}

std::vector<float> points_of(const ColumnView& x, std::span<const Index> rows) {
  const Matrix some = x.raw().select_rows(rows);
  ThreadPool alone(1);
  return rows_of({some, x.scaling()}, alone);
}

/// Eight separate running sums, which the compiler turns into vector instructions.
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

/// A multiclass kernel perceptron: the support points, each with its votes for the classes.
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
  const RowCopies copies(weights, x.rows());
  check_count(count, copies);
  Random random(seed);
  std::vector<Index> rows = copies.sample(count, random);
  const std::vector<float> points = points_of(x, rows);
  std::iota(rows.begin(), rows.end(), Index{0});
  return as_columns(points, rows, x.cols());
}

Grid<float> clustered_support(const ColumnView& x, Index count, std::uint64_t seed, ThreadPool& threads,
                              std::span<const double> weights) {
  check_count(count, RowCopies(weights, x.rows()));
  const std::vector<float> rows = rows_of(x, threads);
  return kmeans({rows.data(), x.rows(), x.cols(), weights}, {.centres = count, .seed = seed}, threads)
      .centres;
}

Grid<float> perceptron_support(const ColumnView& x, std::span<const std::int32_t> class_of_row, Index classes,
                               Index count, double sigma, std::uint64_t seed, std::span<const double> weights,
                               ThreadPool* threads) {
  const RowCopies copies(weights, x.rows());
  check_count(count, copies);
  ThreadPool alone(1);
  const std::vector<float> rows = rows_of(x, alone);
  std::vector<Index> order = copies.all();
  Random(seed).shuffle(order);
  KernelPerceptron perceptron(rows, x.cols(), classes, sigma);
  std::vector<Index> support;
  for (const Index row : order) {
    if (std::ssize(support) == count) break;
    if (threads != nullptr) threads->throw_if_cancelled();
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
  const RowCopies copies(weights, x.rows());
  const std::vector<float> values = points_of(x, copies.sample(std::min(kMostRows, copies.count()), random));
  std::vector<Index> order(to_size(std::min(kMostRows, copies.count())));
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  std::vector<double> squared;
  for (std::size_t n = 0; n + 1 < order.size(); n += 2) {
    squared.push_back(squared_distance(values.data() + order[n] * x.cols(),
                                       values.data() + order[n + 1] * x.cols(), x.cols()));
  }
  if (squared.empty()) return 1.0;
  const auto median = squared.begin() + std::ssize(squared) / 2;  // the upper one of two
  std::nth_element(squared.begin(), median, squared.end());
  return *median > 0 ? *median / 2 : 1.0;
}

}  // namespace sharelearn
