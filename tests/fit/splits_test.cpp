#include "fit/splits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

LabelColumn named(const std::vector<std::string>& values) {
  LabelColumn column;
  for (const std::string& value : values) {
    const auto found = std::ranges::find(column.names, value);
    column.id.push_back(static_cast<std::int32_t>(found - column.names.begin()));
    if (found == column.names.end()) column.names.push_back(value);
  }
  return column;
}

/// 40 groups of six rows that are nearly equal and have the class of their group, which is drawn by chance:
/// what is learned from some groups says nothing about the others.
Dataset groups_by_chance() {
  Random random(5);
  DenseMatrix x(240, 2);
  std::vector<std::string> label, group;
  for (Index g = 0; g < 40; ++g) {
    const double a = random.uniform(), b = random.uniform();
    const std::string name = random.below(2) == 0 ? "yes" : "no";
    for (Index i = 6 * g; i < 6 * g + 6; ++i) {
      x(i, 0) = static_cast<float>(a + 1e-3 * random.uniform());
      x(i, 1) = static_cast<float>(b + 1e-3 * random.uniform());
      label.push_back(name);
      group.push_back("person " + std::to_string(g));
    }
  }
  Dataset data;
  data.x = std::move(x);
  data.label = named(label);
  data.group = named(group);
  data.source = "people.csv";
  return data;
}

double cross_validated_error(const Dataset& data) {
  ThreadPool threads(1);
  Monitor monitor;
  ShareBoostFit options{.features = 40, .folds = 5, .ridge = 1e-4, .pool = {.name = "stumps"}};
  options.common.calibration = "none";
  const Fitted fitted = fit({data}, options, {threads, monitor}, {});
  const auto errors = fitted.report.cross_validation.get<std::vector<double>>();
  return *std::ranges::min_element(errors);
}

TEST(folds_for, groups_show_what_rows_of_the_same_group_would_hide) {
  Dataset data = groups_by_chance();
  const double by_groups = cross_validated_error(data);
  data.group = {};
  const double by_rows = cross_validated_error(data);
  EXPECT_GT(by_groups, 0.25);
  EXPECT_LT(by_rows, 0.1);
}

TEST(folds_for, do_not_depend_on_the_order_of_the_rows) {
  const Dataset data = groups_by_chance();
  std::vector<Index> back(static_cast<std::size_t>(data.rows()));
  for (std::size_t i = 0; i < back.size(); ++i) back[i] = data.rows() - 1 - static_cast<Index>(i);
  const Dataset turned = select_rows(data, back);
  const std::vector<std::int32_t> strata(back.size(), 0);
  const auto folds = folds_for(data, strata, 5, 3), of_turned = folds_for(turned, strata, 5, 3);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<Index> rows;
    for (const Index i : of_turned[f].test) rows.push_back(back[static_cast<std::size_t>(i)]);
    std::ranges::sort(rows);
    EXPECT_EQ(folds[f].test, rows);
  }
}

TEST(folds_for, more_folds_than_groups_are_refused) {
  const Dataset data = groups_by_chance();
  const std::vector<std::int32_t> strata(static_cast<std::size_t>(data.rows()), 0);
  EXPECT_THROW(folds_for(data, strata, 41, 1), OptionError);
  EXPECT_EQ(folds_for(data, strata, 40, 1).size(), 40U);
}

TEST(folds_for, the_folds_of_the_data_are_taken_as_they_are) {
  Dataset data = groups_by_chance();
  std::vector<std::string> fold;
  for (Index i = 0; i < data.rows(); ++i) fold.push_back(std::to_string(10 - i % 3));
  data.group = {};
  data.fold = named(fold);
  const auto folds =
      folds_for(data, std::vector<std::int32_t>(static_cast<std::size_t>(data.rows()), 0), 3, 1);
  ASSERT_EQ(folds.size(), 3U);
  for (const Index i : folds[0].test) EXPECT_EQ(i % 3, 2);  // "8", the lowest number
  for (const Index i : folds[2].test) EXPECT_EQ(i % 3, 0);
}

TEST(side_splits, keep_groups_together_and_folds_where_there_are_no_groups) {
  Dataset data = groups_by_chance();
  const LabelColumn group = data.group;
  for (const bool as_fold : {false, true}) {
    data.group = as_fold ? LabelColumn() : group;
    data.fold = as_fold ? group : LabelColumn();
    std::vector<Split> splits = side_folds(data, 5, 7);
    EXPECT_EQ(splits.size(), 5U);
    splits.push_back(side_holdout(data, 0.2, 7));
    for (const Split& split : splits) {
      EXPECT_FALSE(split.test.empty());
      std::set<Index> groups;
      for (const Index i : split.test) groups.insert(i / 6);
      EXPECT_EQ(split.test.size(), 6 * groups.size());
    }
  }
}

TEST(holdout_for, leaves_rows_for_the_side_splits_of_the_rest) {
  Dataset data = groups_by_chance();
  data.group = {};
  const std::vector<std::int32_t> strata(static_cast<std::size_t>(data.rows()), 0);
  const Split split = holdout_for(data, strata, 0.2, 1, true);
  const Dataset rest = select_rows(data, split.train);
  EXPECT_NEAR(static_cast<double>(side_holdout(rest, 0.2, 1).test.size()), 0.2 * 192, 20);
  for (const Split& fold : side_folds(rest, 5, 1)) EXPECT_GT(fold.test.size(), 15U);
}

}  // namespace
}  // namespace sharelearn
