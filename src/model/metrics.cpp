#include "sharelearn/model/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/row_copies.hpp"
#include "run/ranks.hpp"
#include "run/serial_sum.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// For each row of a block the number of classes ranked before the true one; all of them if it is unknown.
/// NaN counts as better than any true class, and a true class with score NaN is ranked last. So a row with a
/// NaN score is never right. Class by class, as the scores lie in memory.
class TrueClassPlaces {
 public:
  TrueClassPlaces(const Grid<double>& scores, std::span<const std::int32_t> truth, RowRange block)
      : block_(block) {
    const auto rows = static_cast<std::size_t>(block.size());
    std::array<double, kBlockRows> own;
    std::array<Index, kBlockRows> label;
    for (std::size_t i = 0; i < rows; ++i) {
      const Index row = block.begin + static_cast<Index>(i);
      label[i] = truth[static_cast<std::size_t>(row)];
      own[i] = label[i] < 0 ? kUndefined : scores(row, label[i]);
    }
    for (Index c = 0; c < scores.cols(); ++c) {
      const double* score = scores.column(c) + block.begin;
      for (std::size_t i = 0; i < rows; ++i) {
        const int behind = static_cast<int>(score[i] < own[i]) |
                           (static_cast<int>(score[i] == own[i]) & static_cast<int>(c >= label[i]));
        place_[i] += 1 - behind;
      }
    }
  }
  Index of(Index row) const { return place_[static_cast<std::size_t>(row - block_.begin)]; }

 private:
  RowRange block_;
  std::array<Index, kBlockRows> place_{};
};

double log_loss_of(const Grid<double>& scores, Index row, Index y) {
  double highest = scores(row, 0);
  for (Index c = 1; c < scores.cols(); ++c) highest = std::max(highest, scores(row, c));
  double sum = 0;
  for (Index c = 0; c < scores.cols(); ++c) sum += std::exp(scores(row, c) - highest);
  return std::log(sum) + highest - scores(row, y);
}

double weight_at(std::span<const double> weights, Index row) {
  return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
}

struct ScoredRow {
  double score;
  bool positive;
  double weight;
};

/// Area under the ROC curve: the weight of the pairs in which the positive row has the higher score; ties
/// count half.
double area_under_curve(std::vector<ScoredRow> rows) {
  if (std::any_of(rows.begin(), rows.end(), [](const ScoredRow& row) { return std::isnan(row.score); }))
    return kUndefined;
  std::sort(rows.begin(), rows.end(),
            [](const ScoredRow& a, const ScoredRow& b) { return a.score < b.score; });
  double positives = 0, negatives = 0, pairs = 0;
  for (std::size_t i = 0; i < rows.size();) {
    double positive_ties = 0, negative_ties = 0;
    for (const double score = rows[i].score; i < rows.size() && rows[i].score == score; ++i) {
      (rows[i].positive ? positive_ties : negative_ties) += rows[i].weight;
    }
    pairs += positive_ties * (negatives + negative_ties / 2);
    positives += positive_ties;
    negatives += negative_ties;
  }
  if (positives == 0 || negatives == 0) return kUndefined;
  return pairs / (positives * negatives);
}

/// From the weights of the rows that are predicted and right, of all predicted and of all actual ones.
ClassQuality quality_of(double hits, double predicted, double actual) {
  const auto share = [](double part, double of) { return of > 0 ? part / of : kUndefined; };
  return {actual, share(hits, predicted), share(hits, actual), share(2 * hits, predicted + actual),
          kUndefined};
}

constexpr std::size_t kBins = 15;

/// One row's probability of its predicted class, and its weight.
struct ConfidentRow {
  double probability;
  double weight;
};

/// Mean over the bins of |weight of the right rows - sum of the probabilities|, relative to all weight.
template <class IsRight>
double calibration_error(std::span<const ConfidentRow> rows, const IsRight& is_right) {
  std::array<double, kBins> beyond{};  // right rows minus probabilities
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto bin = static_cast<std::size_t>(rows[i].probability * kBins);
    beyond[std::min(bin, kBins - 1)] += rows[i].weight * ((is_right(i) ? 1 : 0) - rows[i].probability);
    total += rows[i].weight;
  }
  double sum = 0;
  for (const double of_bin : beyond) sum += std::abs(of_bin);
  return total > 0 ? sum / total : kUndefined;
}

}  // namespace

std::vector<std::int32_t> predicted_classes(const Grid<double>& scores) {
  std::vector<std::int32_t> best(static_cast<std::size_t>(scores.rows()), 0);
  for (Index c = 1; c < scores.cols(); ++c) {
    const double* column = scores.column(c);
    for (Index i = 0; i < scores.rows(); ++i) {
      std::int32_t& so_far = best[static_cast<std::size_t>(i)];
      if (column[i] > scores(i, so_far)) so_far = static_cast<std::int32_t>(c);
    }
  }
  return best;
}

std::vector<std::int32_t> best_classes(const Grid<double>& scores, Index row, Index count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(scores.cols()));
  std::iota(order.begin(), order.end(), 0);
  const auto take = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(take), order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      return scores(row, a) != scores(row, b) ? scores(row, a) > scores(row, b) : a < b;
                    });
  order.resize(take);
  return order;
}

double error_rate(const Grid<double>& scores, std::span<const std::int32_t> truth,
                  std::span<const double> weights) {
  double sums[2] = {};  // weight of the wrong rows, weight of all rows
  serial_sum(scores.rows(), sums, [&](RowRange block, std::span<double> to) {
    const TrueClassPlaces places(scores, truth, block);
    for (Index i = block.begin; i < block.end; ++i) {
      const double weight = weight_at(weights, i);
      to[1] += weight;
      if (places.of(i) > 0) to[0] += weight;
    }
  });
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

LabelErrors label_errors(const Grid<double>& scores, std::span<const std::int32_t> truth,
                         std::span<const double> weights, ThreadPool* shared) {
  enum { kTotal, kErrors, kKnown, kPlaces, kOfClass };  // then of each class: wrong rows, all rows
  std::vector<double> sums(static_cast<std::size_t>(kOfClass + 2 * scores.cols()));
  const auto add = [&](RowRange block, std::span<double> to) {
    const TrueClassPlaces places(scores, truth, block);
    for (Index i = block.begin; i < block.end; ++i) {
      const double weight = weight_at(weights, i);
      const std::int32_t y = truth[static_cast<std::size_t>(i)];
      const Index place = places.of(i);
      const double wrong = place > 0 ? weight : 0;
      to[kTotal] += weight;
      to[kErrors] += wrong;
      if (y < 0) continue;
      to[kKnown] += weight;
      to[kPlaces] += weight * static_cast<double>(place);
      const std::span<double> of_class = to.subspan(kOfClass + 2 * static_cast<std::size_t>(y), 2);
      of_class[0] += wrong;
      of_class[1] += weight;
    }
  };
  if (shared != nullptr) {
    sum_blocks(scores.rows(), sums, *shared, add);
  } else {
    serial_sum(scores.rows(), sums, add);
  }
  LabelErrors errors{sums[kTotal] > 0 ? sums[kErrors] / sums[kTotal] : 0,
                     sums[kKnown] > 0 ? sums[kPlaces] / sums[kKnown] : kUndefined,
                     {}};
  for (std::size_t at = kOfClass; at < sums.size(); at += 2) {
    errors.of_class.push_back(sums[at + 1] > 0 ? sums[at] / sums[at + 1] : 0.0);
  }
  return errors;
}

Calibration calibration(const Grid<double>& probabilities, std::span<const std::int32_t> truth,
                        std::span<const double> weights) {
  const std::vector<std::int32_t> predicted = predicted_classes(probabilities);
  std::vector<ConfidentRow> rows;
  for (Index i = 0; i < probabilities.rows(); ++i) {
    rows.push_back({probabilities(i, predicted[static_cast<std::size_t>(i)]), weight_at(weights, i)});
  }
  Calibration result{calibration_error(rows, [&](std::size_t i) { return predicted[i] == truth[i]; }),
                     kUndefined};
  if (std::isnan(result.error)) return result;
  const RowCopies copies(weights, probabilities.rows());  // each copy of a row draws a label of its own
  std::vector<ConfidentRow> copied;
  for (const Index row : copies.all()) {
    copied.push_back({rows[static_cast<std::size_t>(row)].probability, copies.weight()});
  }
  constexpr std::size_t kDraws = 200, kLarger = kDraws / 20;
  Random random(1);
  std::vector<double> drawn;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    drawn.push_back(
        calibration_error(copied, [&](std::size_t i) { return random.uniform() < copied[i].probability; }));
  }
  std::ranges::sort(drawn);
  result.limit = drawn[kDraws - kLarger];
  return result;
}

double coverage(const Grid<double>& scores, std::span<const std::int32_t> truth,
                std::span<const double> weights) {
  return label_errors(scores, truth, weights).coverage;
}

ClassMetrics class_metrics(const Grid<double>& scores, std::span<const std::int32_t> truth,
                           std::span<const double> weights) {
  enum { kTotal, kKnown, kPlaces, kLogLoss, kErrors, kTop };
  const auto top = static_cast<std::size_t>(std::min<Index>(5, scores.cols()));
  std::vector<double> sums(kTop + top);
  serial_sum(scores.rows(), sums, [&](RowRange block, std::span<double> to) {
    const TrueClassPlaces places(scores, truth, block);
    for (Index i = block.begin; i < block.end; ++i) {
      const double weight = weight_at(weights, i);
      const std::int32_t y = truth[static_cast<std::size_t>(i)];
      const Index place = places.of(i);
      to[kTotal] += weight;
      if (place > 0) to[kErrors] += weight;
      for (std::size_t n = 0; n < top; ++n) {
        if (place > static_cast<Index>(n)) to[kTop + n] += weight;
      }
      if (y < 0) continue;
      to[kKnown] += weight;
      to[kPlaces] += weight * static_cast<double>(place);
      to[kLogLoss] += weight * log_loss_of(scores, i, y);
    }
  });
  ClassMetrics metrics;
  metrics.rows = scores.rows();
  metrics.errors = sums[kErrors];
  for (std::size_t n = 0; n < top; ++n) {
    metrics.top_error.push_back(sums[kTotal] > 0 ? sums[kTop + n] / sums[kTotal] : 0);
  }
  metrics.error = top == 0 ? 0 : metrics.top_error.front();
  metrics.coverage = sums[kKnown] > 0 ? sums[kPlaces] / sums[kKnown] : kUndefined;
  metrics.log_loss = sums[kKnown] > 0 ? sums[kLogLoss] / sums[kKnown] : kUndefined;
  return metrics;
}

std::vector<std::vector<double>> confusion_matrix(const Grid<double>& scores,
                                                  std::span<const std::int32_t> truth,
                                                  std::span<const double> weights) {
  const auto k = static_cast<std::size_t>(scores.cols());
  std::vector<std::vector<double>> counts(k + 1, std::vector<double>(k, 0));
  const std::vector<std::int32_t> best = predicted_classes(scores);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const std::size_t row = truth[i] < 0 ? k : static_cast<std::size_t>(truth[i]);
    counts[row][static_cast<std::size_t>(best[i])] += weight_at(weights, static_cast<Index>(i));
  }
  return counts;
}

std::vector<ClassQuality> class_quality(const std::vector<std::vector<double>>& confusion,
                                        const Grid<double>& scores, std::span<const std::int32_t> truth,
                                        std::span<const double> weights) {
  const auto k = static_cast<std::size_t>(scores.cols());
  std::vector<double> actual(k, 0.0), predicted(k, 0.0);
  for (std::size_t row = 0; row < confusion.size(); ++row) {
    for (std::size_t c = 0; c < k; ++c) {
      if (row < k) actual[row] += confusion[row][c];
      predicted[c] += confusion[row][c];
    }
  }
  std::vector<ClassQuality> all;
  for (std::size_t c = 0; c < k; ++c) {
    ClassQuality quality = quality_of(confusion[c][c], predicted[c], actual[c]);
    std::vector<ScoredRow> rows;
    for (Index i = 0; i < scores.rows(); ++i) {
      const bool positive = truth[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(c);
      rows.push_back({scores(i, static_cast<Index>(c)), positive, weight_at(weights, i)});
    }
    quality.area = area_under_curve(std::move(rows));
    all.push_back(quality);
  }
  return all;
}

ClassMeans means_of(const std::vector<ClassQuality>& classes) {
  const auto mean = [&](double ClassQuality::*value) {
    double sum = 0, count = 0;
    for (const ClassQuality& quality : classes) {
      if (std::isnan(quality.*value)) continue;
      sum += quality.*value;
      count += 1;
    }
    return count > 0 ? sum / count : kUndefined;
  };
  return {1 - mean(&ClassQuality::recall), mean(&ClassQuality::f1), mean(&ClassQuality::area)};
}

TaskMetrics task_metrics(const Grid<double>& scores, const Tasks& tasks, std::span<const double> weights) {
  TaskMetrics metrics;
  const std::size_t k = tasks.names.size();
  double wrong = 0, total = 0;
  for (std::size_t t = 0; t < k; ++t) {
    std::vector<ScoredRow> rows;
    enum { kWrong, kAll, kHits, kPredicted, kActual };
    double sums[5] = {};  // weights
    serial_sum(scores.rows(), sums, [&](RowRange block, std::span<double> to) {
      for (Index i = block.begin; i < block.end; ++i) {
        const std::int8_t sign = tasks.sign[static_cast<std::size_t>(i) * k + t];
        if (sign == 0) continue;
        const ScoredRow row{scores(i, static_cast<Index>(t)), sign > 0, weight_at(weights, i)};
        rows.push_back(row);
        to[kAll] += row.weight;
        const bool right = row.positive ? row.score > 0 : row.score <= 0;
        if (!right) to[kWrong] += row.weight;
        if (row.score > 0) to[kPredicted] += row.weight;
        if (row.positive) to[kActual] += row.weight;
        if (row.positive && row.score > 0) to[kHits] += row.weight;
      }
    });
    wrong += sums[kWrong];
    total += sums[kAll];
    metrics.task_error.push_back(sums[kAll] > 0 ? sums[kWrong] / sums[kAll] : 0);
    metrics.quality.push_back(quality_of(sums[kHits], sums[kPredicted], sums[kActual]));
    metrics.quality.back().area = area_under_curve(std::move(rows));
  }
  metrics.error = total > 0 ? wrong / total : 0;
  return metrics;
}

ValueMetrics value_metrics(const Grid<double>& scores, std::span<const double> truth,
                           std::span<const double> weights) {
  double sums[3] = {};  // squares, magnitudes, weights
  const Index rows = scores.rows();
  serial_sum(std::ssize(truth), sums, [&](RowRange block, std::span<double> to) {
    for (Index at = block.begin; at < block.end; ++at) {
      const double off = scores(at % rows, at / rows) - truth[static_cast<std::size_t>(at)];
      if (std::isnan(off)) continue;
      const double weight = weight_at(weights, at % rows);
      to[0] += weight * off * off;
      to[1] += weight * std::abs(off);
      to[2] += weight;
    }
  });
  if (sums[2] == 0) return {};
  ValueMetrics metrics;
  metrics.root_mean_square = std::sqrt(sums[0] / sums[2]);
  metrics.mean_absolute = sums[1] / sums[2];
  return metrics;
}

}  // namespace sharelearn
