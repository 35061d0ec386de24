#include "sharelearn/learn/phi_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/cascade_problem.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/learn/online_run.hpp"
#include "sharelearn/learn/output_tree.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

TEST(phi_search, never_chooses_a_cascade_worse_than_its_best_level_alone) {
  ThreadPool threads(1);
  Context context{threads};
  const HeldOutPair pair{testing::random_tasks({.rows = 60, .columns = 20}, true, 1),
                         testing::random_tasks({.rows = 60, .columns = 20}, true, 2)};
  const CascadeOptions options{.loss = JointLoss::multitask_hinge, .levels = 3};
  const PhiSearch all = search_phi({&pair, 1}, options, {}, context);
  ASSERT_EQ(all.phi.size(), 3U);
  for (const double mix : {0.0, 0.5, 1.0}) {
    CascadeOptions one = options;
    one.levels = 1;
    one.mix = {mix};
    EXPECT_GE(all.accuracy, search_phi({&pair, 1}, one, {}, context).accuracy - 1e-12);
  }
  EXPECT_THROW(search_phi({&pair, 1}, options, {.scales = {}}, context), InputError);
  EXPECT_THROW(search_phi({&pair, 1}, options, {.scales = {1.5}}, context), InputError);
}

TEST(phi_search, folds_judge_every_row_once_and_depend_on_the_seed_alone) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = testing::random_classes({.rows = 60, .columns = 6}, 3);
  const CascadeOptions options{.loss = JointLoss::multiclass_hinge, .levels = 2};
  const PhiSearch once = cross_validate_phi(data, options, {}, 3, context);
  EXPECT_EQ(once.phi, cross_validate_phi(data, options, {}, 3, context).phi);
  // Folds of 20 rows each: accuracies are multiples of 1/60.
  for (const PhiTrial& trial : once.trials)
    EXPECT_NEAR(trial.accuracy * 60, std::round(trial.accuracy * 60), 1e-6);
}

TEST(phi_search, needs_rows_that_weigh_something_in_every_fold) {
  ThreadPool threads(1);
  Context context{threads};
  MultiOutputData data = testing::random_classes({.rows = 30, .columns = 3}, 3);
  std::fill(data.weights.begin(), data.weights.end(), 0.0);
  data.weights[4] = 1;
  EXPECT_THROW(cross_validate_phi(data, {.levels = 2}, {}, 3, context), InputError);
}

// Cancelled while it runs: trials that were cut short are none.
TEST(phi_search, a_cancelled_search_ends_with_what_it_judged) {
  class AfterTwo : public Monitor {
   public:
    bool cancelled() const override { return done_ >= 2; }
    void progress(std::string_view, std::int64_t done, std::int64_t, std::string_view) override {
      done_ = done;
    }

   private:
    std::int64_t done_ = 0;
  } monitor;
  ThreadPool threads(1);
  Context context{threads, monitor};
  const MultiOutputData data = testing::random_classes({.rows = 60, .columns = 6}, 3);
  EXPECT_EQ(cross_validate_phi(data, {.levels = 2}, {}, 3, context).trials.size(), 2U);
}

TEST(joint_data, errors_count_rows_by_their_weights) {
  MultiOutputData data = testing::random_classes({.rows = 4, .columns = 1, .outputs = 2}, 1);
  data.label = {0, 0, 0, 1};
  data.weights = {0.125, 0.125, 0.25, 0.5};
  const Grid<double> scores(4, 2);  // all ties: class 0
  EXPECT_DOUBLE_EQ(accuracy(data, scores), 0.5);
  EXPECT_DOUBLE_EQ(pair_error(data, scores), 0.5);
  data.label = {};
  data.sign = {-1, -1, -1, -1, -1, -1, -1, 1};  // a score of 0 is a negative: the last sign is wrong
  EXPECT_DOUBLE_EQ(pair_error(data, scores), 0.25);
  EXPECT_DOUBLE_EQ(accuracy(data, scores), 0.75);
  EXPECT_DOUBLE_EQ(task_accuracies(data, scores)[1], 0.5);
}

TEST(joint_data, errors_are_rounded_once) {
  Dataset rows;
  rows.x = DenseMatrix(20, 1);
  rows.label = {{"a", "b"}, std::vector<std::int32_t>(20, 0)};
  std::fill_n(rows.label.id.begin(), 9, 1);
  const Grid<double> scores(20, 2);  // all ties: class a
  EXPECT_EQ(pair_error(joint_data(rows, true), scores), 0.45);
  rows.weight.assign(20, 0.3);
  rows.weight[19] = 0.7;
  double wrong = 0, all = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    all += rows.weight[i];
    if (i < 9) wrong += rows.weight[i];
  }
  EXPECT_EQ(pair_error(joint_data(rows, true), scores), wrong / all);
}

Dataset four_rows_of_tasks(std::vector<std::int32_t> task) {
  Dataset rows;
  DenseMatrix x(4, 1);
  for (Index i = 0; i < 4; ++i) x(i, 0) = static_cast<float>(i);
  rows.x = std::move(x);
  rows.label = {{"1", "-1"}, {0, 1, 0, 1}};
  rows.task = {{"a", "b", "c"}, std::move(task)};
  rows.weight = {1, 2, 3, 4};
  return rows;
}

TEST(joint_data, rows_of_unknown_tasks_are_left_out) {
  const std::vector<std::string> known{"b", "a"};
  const MultiOutputData data = joint_data(four_rows_of_tasks({0, 2, 0, 1}), false, &known);
  EXPECT_EQ(data.unknown_tasks, std::vector<std::string>{"c"});
  EXPECT_EQ(data.order, (std::vector<Index>{3, 0, 2}));
  EXPECT_EQ(data.task_begin, (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(data.sign, (std::vector<std::int8_t>{-1, 1, 1}));
  EXPECT_EQ(data.counts, (std::vector<double>{4, 1, 3}));
  EXPECT_NEAR(data.weights[0], 0.5, 1e-15);
  EXPECT_EQ(data.x.to_dense()(0, 0), 3);
  const Grid<double> negative(3, 1);  // a score of 0 is a negative
  EXPECT_EQ(pair_error(data, negative), 0.5);
}

TEST(joint_data, tasks_without_rows_are_no_part_of_the_mean_accuracy) {
  const std::vector<std::string> known{"a", "b", "c"};
  const MultiOutputData data = joint_data(four_rows_of_tasks({0, 1, 0, 1}), false, &known);
  EXPECT_EQ(accuracy(data, Grid<double>(4, 1)), 0.5);  // all of b is right, nothing of a
}

TEST(joint_data, folds_leave_rows_of_every_task_to_learn_from) {
  const MultiOutputData data = testing::random_tasks({.rows = 45, .columns = 2, .outputs = 20}, true, 5);
  for (const int folds : {2, 3, 5}) {
    for (const Split& split : stratified_folds(strata(data), folds, 1)) {
      const MultiOutputData train = select_rows(data, split.train);
      for (std::size_t t = 0; t < 20; ++t) EXPECT_LT(train.task_begin[t], train.task_begin[t + 1]);
    }
  }
}

TEST(joint_data, one_against_rest_keeps_the_weights_of_the_rows) {
  Dataset data;
  data.x = DenseMatrix(3, 1);
  data.label = {{"a", "b"}, {0, 1, 1}};
  data.weight = {4, 1, 1};
  const MultiOutputData tasks = one_against_rest(data, 1, 1);
  // Task a: row 0 and one of b, task b: a row of a and both of b.
  std::vector<double> weights = tasks.weights;
  std::sort(weights.begin(), weights.end());
  ASSERT_EQ(weights.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(weights[i], (i < 3 ? 1.0 : 4.0) / 11, 1e-15);
}

TEST(online_run, steps_take_the_next_row_of_every_task) {
  MultiOutputData data =
      testing::random_tasks({.rows = 9, .columns = 3, .outputs = 2}, true, 4);  // 4 and 5 rows
  OnlineSource source(data);
  EXPECT_EQ(source.steps(), 5);
  EXPECT_EQ(source.step(0).size(), 2U);
  ASSERT_EQ(source.step(4).size(), 1U);
  EXPECT_EQ(source.step(4)[0].output, 1);
}

TEST(output_tree, clustering_joins_tasks_of_one_kind_first) {
  // Tasks 0 and 2 label by column 0, tasks 1 and 3 by column 1.
  Random random(6);
  DenseMatrix x(400, 2);
  MultiOutputData data;
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < 2; ++j) x(i, j) = static_cast<float>(random.normal());
    for (Index t = 0; t < 4; ++t) data.sign.push_back(x(i, t % 2) + 0.1 * random.normal() > 0 ? 1 : -1);
  }
  data.names = {"a", "b", "c", "d"};
  data.weights.assign(400, 1.0 / 400);
  data.x = std::move(x);
  const OutputTree tree = clustered_tree(data);
  EXPECT_EQ(tree.parent[0], tree.parent[2]);
  EXPECT_EQ(tree.parent[1], tree.parent[3]);
  EXPECT_NE(tree.parent[0], tree.parent[1]);
  EXPECT_EQ(tree.height.back(), 1);
  const OutputTree random_one = random_tree(4, 1);
  EXPECT_EQ(random_one.parent.size(), 7U);
  TreeGroup check(random_one);  // does not throw
}

}  // namespace
}  // namespace sharelearn
