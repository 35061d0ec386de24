#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Groups of one to nine rows, whose rows have one class or many.
struct GroupedRows {
  explicit GroupedRows(std::int32_t groups, std::uint64_t seed) {
    Random random(seed);
    for (std::int32_t g = 0; g < groups; ++g) {
      const auto rows = random.below(9) + 1, first = random.below(3);
      for (std::int64_t i = 0; i < rows; ++i) {
        group.push_back(g);
        label.push_back(static_cast<std::int32_t>(g % 2 == 0 ? first : random.below(3)));
        weight.push_back(static_cast<double>(random.below(4) + 1));
      }
    }
    random.shuffle(group);  // rows of a group stand anywhere; their classes are mixed then
  }
  std::vector<std::int32_t> group, label;
  std::vector<double> weight;
};

std::set<std::int32_t> groups_in(const GroupedRows& rows, const std::vector<Index>& part) {
  std::set<std::int32_t> groups;
  for (const Index i : part) groups.insert(rows.group[static_cast<std::size_t>(i)]);
  return groups;
}

void expect_whole_groups(const GroupedRows& rows, const Split& split) {
  EXPECT_EQ(split.train.size() + split.test.size(), rows.group.size());
  for (const std::int32_t group : groups_in(rows, split.test))
    EXPECT_EQ(groups_in(rows, split.train).count(group), 0U);
}

TEST(group_folds, no_group_is_in_two_folds_and_every_row_is_left_out_once) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const GroupedRows rows(40, seed);
    std::vector<int> left_out(rows.group.size(), 0);
    for (const Split& split : group_folds(rows.group, rows.label, 5, seed, rows.weight)) {
      expect_whole_groups(rows, split);
      for (const Index i : split.test) ++left_out[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(std::ranges::count(left_out, 1), std::ssize(left_out));
  }
}

TEST(group_folds, spread_every_class_evenly) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const GroupedRows rows(300, seed);
    std::map<std::int32_t, double> all;
    for (std::size_t i = 0; i < rows.label.size(); ++i) all[rows.label[i]] += rows.weight[i];
    for (const Split& split : group_folds(rows.group, rows.label, 4, seed, rows.weight)) {
      std::map<std::int32_t, double> part;
      for (const Index i : split.test)
        part[rows.label[static_cast<std::size_t>(i)]] += rows.weight[static_cast<std::size_t>(i)];
      for (const auto& [label, weight] : all) EXPECT_NEAR(part[label] / weight, 0.25, 0.03);
    }
  }
}

TEST(group_folds, as_many_groups_as_folds_are_left_out_one_by_one) {
  const std::vector<std::int32_t> group{0, 0, 0, 0, 0, 0, 1, 2, 2}, label{0, 0, 0, 1, 1, 1, 0, 0, 1};
  std::set<std::size_t> sizes;
  for (const Split& split : group_folds(group, label, 3, 1)) sizes.insert(split.test.size());
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 6}));
}

TEST(group_folds, depend_on_the_seed) {
  const GroupedRows rows(40, 1);
  EXPECT_NE(group_folds(rows.group, rows.label, 5, 1)[0].test,
            group_folds(rows.group, rows.label, 5, 2)[0].test);
}

TEST(group_holdout, takes_about_the_fraction_of_every_class_in_whole_groups) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const GroupedRows rows(300, seed);
    const Split split = group_holdout(rows.group, rows.label, 0.2, seed);
    expect_whole_groups(rows, split);
    EXPECT_NEAR(static_cast<double>(split.test.size()) / static_cast<double>(rows.group.size()), 0.2, 0.02);
  }
}

TEST(group_holdout, holds_out_the_lightest_of_two_groups) {
  const Split split =
      group_holdout(std::vector<std::int32_t>{0, 1, 1, 1, 0, 1}, std::vector<std::int32_t>(6), 0.1, 1);
  EXPECT_EQ(split.test, (std::vector<Index>{0, 4}));
  EXPECT_TRUE(group_holdout(std::vector<std::int32_t>(5), std::vector<std::int32_t>(5), 0.1, 1).test.empty());
}

}  // namespace
}  // namespace sharelearn
