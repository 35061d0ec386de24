#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

struct Group {
  double weight = 0;
  std::map<std::size_t, double> of_class;  ///< weight of its rows of each class
};

std::vector<Group> groups_of(std::span<const std::int32_t> group_of_row,
                             std::span<const std::int32_t> class_of_row, std::span<const double> weights) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < group_of_row.size(); ++i) {
    const auto g = static_cast<std::size_t>(group_of_row[i]);
    if (g >= groups.size()) groups.resize(g + 1);
    const double weight = weights.empty() ? 1.0 : weights[i];
    groups[g].weight += weight;
    groups[g].of_class[static_cast<std::size_t>(class_of_row[i])] += weight;
  }
  return groups;
}

/// Deals the groups to parts that shall have these shares of every class. A group goes where the sum over
/// parts and classes of (weight / class's weight)^2 / share grows least: that sum is least where all shares
/// are met.
std::vector<std::size_t> part_of_groups(const std::vector<Group>& groups, std::span<const double> shares,
                                        std::uint64_t seed) {
  std::map<std::size_t, double> whole;
  for (const Group& group : groups) {
    for (const auto& [c, weight] : group.of_class) whole[c] += weight;
  }
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(seed, 0).shuffle(order);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t g) { return groups[g].weight; });
  std::vector<std::map<std::size_t, double>> held(shares.size());
  std::vector<double> weight_of_part(shares.size(), 0);
  std::vector<std::size_t> part_of(groups.size(), 0);
  for (const std::size_t g : order) {
    const auto cost = [&](std::size_t part) {
      double sum = 0;
      for (const auto& [c, weight] : groups[g].of_class) {
        if (weight > 0) sum += weight * (2 * held[part][c] + weight) / (whole[c] * whole[c]);
      }
      return std::pair(sum / shares[part], weight_of_part[part] / shares[part]);
    };
    std::size_t& best = part_of[g];
    auto least = cost(0);
    for (std::size_t part = 1; part < shares.size(); ++part) {
      if (const auto found = cost(part); found < least) {
        least = found;
        best = part;
      }
    }
    weight_of_part[best] += groups[g].weight;
    for (const auto& [c, weight] : groups[g].of_class) held[best][c] += weight;
  }
  return part_of;
}

}  // namespace

Split group_holdout(std::span<const std::int32_t> group_of_row, std::span<const std::int32_t> class_of_row,
                    double fraction, std::uint64_t seed, std::span<const double> weights) {
  const std::vector<Group> groups = groups_of(group_of_row, class_of_row, weights);
  std::vector<std::size_t> part_of = part_of_groups(groups, std::vector{1 - fraction, fraction}, seed);
  if (groups.size() > 1 && std::ranges::count(part_of, std::size_t{1}) == 0) {
    const auto lightest = std::ranges::min_element(groups, {}, &Group::weight);
    part_of[static_cast<std::size_t>(lightest - groups.begin())] = 1;
  }
  Split split;
  for (std::size_t i = 0; i < group_of_row.size(); ++i) {
    const bool is_test = part_of[static_cast<std::size_t>(group_of_row[i])] == 1;
    (is_test ? split.test : split.train).push_back(static_cast<Index>(i));
  }
  return split;
}

std::vector<Split> group_folds(std::span<const std::int32_t> group_of_row,
                               std::span<const std::int32_t> class_of_row, int folds, std::uint64_t seed,
                               std::span<const double> weights) {
  const std::vector<double> shares(static_cast<std::size_t>(folds), 1.0 / folds);
  const auto part_of = part_of_groups(groups_of(group_of_row, class_of_row, weights), shares, seed);
  std::vector<std::int32_t> fold_of_row;
  for (const std::int32_t group : group_of_row)
    fold_of_row.push_back(static_cast<std::int32_t>(part_of[static_cast<std::size_t>(group)]));
  return splits_by_fold(fold_of_row, folds);
}

std::vector<Split> splits_by_fold(std::span<const std::int32_t> fold_of_row, int folds) {
  std::vector<Split> splits(static_cast<std::size_t>(folds));
  for (int fold = 0; fold < folds; ++fold) {
    Split& split = splits[static_cast<std::size_t>(fold)];
    for (std::size_t i = 0; i < fold_of_row.size(); ++i)
      (fold_of_row[i] == fold ? split.test : split.train).push_back(static_cast<Index>(i));
  }
  return splits;
}

}  // namespace sharelearn
