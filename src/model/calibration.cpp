// The parameters of a link that are fitted on held-out rows: a temperature and a map of the confidence.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "sharelearn/model/link.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

constexpr double kMostTemperature = 1e4;
constexpr std::size_t kMostGroups = 15;
constexpr Index kLeastOfGroup = 50;

/// The t in [1 / kMostTemperature, kMostTemperature] with the least log_loss(1 / t), which is convex in
/// 1 / t but for the link with a margin, where it still has one minimum in practice.
template <class LogLoss>
double least_temperature(const LogLoss& log_loss) {
  const double golden = std::numbers::phi - 1;
  double low = -std::log(kMostTemperature), high = -low;
  const auto at = [&](double log_of_t) { return log_loss(std::exp(-log_of_t)); };
  double a = high - golden * (high - low), b = low + golden * (high - low), at_a = at(a), at_b = at(b);
  while (high - low > 1e-4) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      at_a = at(a = high - golden * (high - low));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      at_b = at(b = low + golden * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

double weight_at(std::span<const double> weights, std::size_t row) {
  return weights.empty() ? 1.0 : weights[row];
}

Grid<double> log_probabilities_of(Link link, const Grid<double>& scores, double factor) {
  Grid<double> result = scores;
  for (Index c = 0; c < result.cols(); ++c) {
    for (double& score : result.column_span(c)) score *= factor;
  }
  to_log_probabilities(link, result);
  return result;
}

/// Rows that were as confident, and how often they were right.
struct Group {
  double weight = 0, confidence = 0, right = 0;  ///< sums
  double highest = 0;                            ///< confidence of one row
};

/// Log of the sum of all but the most probable class, and the largest of them.
struct Others {
  double log_sum, log_largest;
};

Others others_of(const Grid<double>& log_p, Index row, Index best) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index c = 0; c < log_p.cols(); ++c) {
    if (c != best) largest = std::max(largest, log_p(row, c));
  }
  for (Index c = 0; c < log_p.cols(); ++c) {
    if (c != best) sum += std::exp(log_p(row, c) - largest);
  }
  return {largest + std::log(sum), largest};
}

/// The least confidence that leaves the first place to the most probable class.
double least_confidence(const Others& others) {
  constexpr double kAbove = 1 + 1e-9;  // what keeps the first place is more than rounding
  const double second = std::exp(others.log_largest - others.log_sum);  // its share of the others
  return second / (1 + second) * kAbove;
}

double value_at(const ConfidenceMap& map, double confidence) {
  const auto after = std::ranges::upper_bound(map.from, confidence);
  if (after == map.from.begin()) return map.to.front();
  if (after == map.from.end()) return map.to.back();
  const auto i = static_cast<std::size_t>(after - map.from.begin());
  const double share = (confidence - map.from[i - 1]) / (map.from[i] - map.from[i - 1]);
  return map.to[i - 1] + share * (map.to[i] - map.to[i - 1]);
}

/// Joins groups whose confidence hardly differs: the map stays moderate in steepness, so that rounding of
/// scores, also in exported models, stays rounding of probabilities.
std::vector<Group> distinct(const std::vector<Group>& groups) {
  const auto doubt = [](const Group& group) { return std::max(1 - group.confidence / group.weight, 1e-6); };
  std::vector<Group> result;
  for (const Group& group : groups) {
    if (group.weight == 0) continue;
    if (result.empty() || doubt(group) < 0.98 * doubt(result.back())) {
      result.push_back(group);
    } else {
      result.back().weight += group.weight;
      result.back().confidence += group.confidence;
      result.back().right += group.right;
      result.back().highest = group.highest;
    }
  }
  return result;
}

/// Groups of about equal weight, least confident first. Equally confident rows share a group, so that copies
/// of a row count as its weight does.
std::vector<Group> groups_of(const Grid<double>& log_p, std::span<const std::int32_t> truth,
                             std::span<const double> weights, std::size_t count) {
  const std::vector<std::int32_t> predicted = predicted_classes(log_p);
  const auto confidence = [&](std::size_t i) { return log_p(static_cast<Index>(i), predicted[i]); };
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, confidence);
  double total = 0, before = 0;
  for (const std::size_t i : order) total += weight_at(weights, i);
  std::vector<Group> groups(count);
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    Group equal;
    for (to = from; to < order.size() && confidence(order[to]) == confidence(order[from]); ++to) {
      const double weight = weight_at(weights, order[to]);
      equal.weight += weight;
      equal.right += predicted[order[to]] == truth[order[to]] ? weight : 0;
    }
    const double middle = (before + equal.weight / 2) / total * static_cast<double>(count);
    before += equal.weight;
    Group& group = groups[std::min(static_cast<std::size_t>(middle), count - 1)];
    group.weight += equal.weight;
    group.right += equal.right;
    group.confidence += equal.weight * std::exp(confidence(order[from]));
    group.highest = std::exp(confidence(order[from]));
  }
  return distinct(groups);
}

/// The share of right rows of each group, made ascending by pooling neighbours (isotonic regression), away
/// from 0 and 1 by half a row of weight `row`.
std::vector<double> ascending_shares(const std::vector<Group>& groups, double row) {
  struct Pooled {
    double right, weight;
    std::size_t members;
    double share() const { return right / weight; }
  };
  std::vector<Pooled> pools;
  for (const Group& group : groups) {
    pools.push_back({group.right, group.weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].share() >= pools.back().share()) {
      const Pooled last = pools.back();
      pools.pop_back();
      pools.back().right += last.right;
      pools.back().weight += last.weight;
      pools.back().members += last.members;
    }
  }
  std::vector<double> shares;
  for (const Pooled& pool : pools) {
    shares.insert(shares.end(), pool.members, (pool.right + row / 2) / (pool.weight + row));
  }
  std::ranges::sort(shares);  // the half rows may have disturbed the order
  return shares;
}

/// Lowers the points of the map by what map_confidence() adds, on average over a group, to keep the first
/// place the first: to half the share of right rows at most, so that the map stays moderate, and not below
/// what every row of the group gets anyway.
void make_up_for_first_places(ConfidenceMap& map, const std::vector<Group>& groups, const Grid<double>& log_p,
                              std::span<const double> weights) {
  constexpr int kMostSteps = 20;
  constexpr double kSettled = 1e-4;
  struct Row {
    double confidence, least;
    std::size_t group;
  };
  std::vector<Row> rows;
  std::vector<double> floor = map.to;
  const std::vector<std::int32_t> best = predicted_classes(log_p);
  for (Index i = 0; i < log_p.rows(); ++i) {
    const double confidence = std::exp(log_p(i, best[to_size(i)]));
    const double least = least_confidence(others_of(log_p, i, best[to_size(i)]));
    const auto at = std::ranges::lower_bound(groups, confidence, {}, &Group::highest) - groups.begin();
    rows.push_back({confidence, least, std::min(static_cast<std::size_t>(at), groups.size() - 1)});
    floor[rows.back().group] = std::min(floor[rows.back().group], least);
  }
  const std::vector<double> wanted = map.to;
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<double> added(groups.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      added[row.group] += weight_at(weights, i) * std::max(row.least - value_at(map, row.confidence), 0.0);
    }
    double largest = 0, above = 1;
    for (std::size_t g = groups.size(); g-- > 0;) {
      const double lowered = std::max({wanted[g] - added[g] / groups[g].weight, wanted[g] / 2, floor[g]});
      largest = std::max(largest, std::abs(std::min(lowered, above) - map.to[g]));
      above = map.to[g] = std::min(lowered, above);
    }
    if (largest < kSettled) return;
  }
}

}  // namespace

double fit_temperature(Link link, const Grid<double>& scores, std::span<const std::int32_t> truth,
                       std::span<const double> weights) {
  return least_temperature([&](double factor) {
    const Grid<double> log_p = log_probabilities_of(link, scores, factor);
    double sum = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      const std::int32_t y = truth[to_size(i)];
      if (y >= 0) sum -= weight_at(weights, to_size(i)) * log_p(i, y);
    }
    return sum;
  });
}

double fit_temperature(Link link, const Grid<double>& scores, const Tasks& tasks,
                       std::span<const double> weights) {
  Grid<double> signed_scores = scores;  // the score of what is true, 0 where nothing is known
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index c = 0; c < scores.cols(); ++c) {
      signed_scores(i, c) *= tasks.sign[to_size(i * scores.cols() + c)];
    }
  }
  return least_temperature([&](double factor) {
    const Grid<double> log_p = log_probabilities_of(link, signed_scores, factor);
    double sum = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      for (Index c = 0; c < scores.cols(); ++c) sum -= weight_at(weights, to_size(i)) * log_p(i, c);
    }
    return sum;
  });
}

void map_confidence(const ConfidenceMap& map, Grid<double>& log_p) {
  if (map.from.empty() || log_p.cols() < 2) return;
  const std::vector<std::int32_t> best = predicted_classes(log_p);
  for (Index i = 0; i < log_p.rows(); ++i) {
    const std::int32_t first = best[to_size(i)];
    const Others others = others_of(log_p, i, first);
    const double confidence = std::max(value_at(map, std::exp(log_p(i, first))), least_confidence(others));
    const double shift = std::log1p(-confidence) - others.log_sum;
    for (Index c = 0; c < log_p.cols(); ++c) {
      log_p(i, c) = c == first ? std::log(confidence) : log_p(i, c) + shift;
    }
  }
}

ConfidenceMap fit_confidence(const Grid<double>& log_p, std::span<const std::int32_t> truth,
                             std::span<const double> weights) {
  const RowCopies copies(weights, log_p.rows());
  const auto count = std::min(kMostGroups, static_cast<std::size_t>(copies.count() / kLeastOfGroup));
  if (count < 2 || log_p.cols() < 2) return {};
  const std::vector<Group> groups = groups_of(log_p, truth, weights, count);
  const std::vector<double> shares = ascending_shares(groups, copies.weight());
  ConfidenceMap map;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    map.from.push_back(std::min(groups[g].confidence / groups[g].weight, 1.0));
    map.to.push_back(shares[g]);
  }
  make_up_for_first_places(map, groups, log_p, weights);
  return map;
}

}  // namespace sharelearn
