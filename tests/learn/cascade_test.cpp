// Algorithm 1: the objective of every level compared with a slow solver written for the test, and
// consequences of optimality.
#include "sharelearn/learn/cascade.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/cascade_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::random_classes;
using testing::random_numbers;
using testing::random_tasks;
using testing::Sizes;
using testing::SlowLevel;

Eigen::MatrixXd level_scores(const SlowLevel& slow, const CompositePoint& point, Index k) {
  const auto columns = slow.x().cols();
  const Eigen::MatrixXd w =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          point.weights.data(), columns, k);
  Eigen::MatrixXd scores = slow.x() * w;
  if (!point.bias.empty()) scores.rowwise() += Eigen::Map<const Eigen::RowVectorXd>(point.bias.data(), k);
  return scores;
}

void expect_every_level_optimal(const MultiOutputData& data, CascadeOptions options) {
  ThreadPool threads(1);
  Context context{threads};
  const Cascade cascade = fit_cascade(data, options, context);
  const bool insensitive = options.loss == JointLoss::multitask_insensitive;
  const SlowLevel slow(data, options.loss, insensitive ? options.epsilon : options.smoothing);
  Eigen::MatrixXd offset = Eigen::MatrixXd::Zero(data.rows(), data.outputs());
  for (const CascadeLevel& level : cascade.levels) {
    const double best = slow.minimum(offset, level.phi, level.mix, options.bias, 6000, options.ridge);
    EXPECT_TRUE(level.report.converged);
    EXPECT_NEAR(level.report.objective, best, 1e-6 * best);
    EXPECT_NEAR(level.report.objective, level.report.loss + level.report.penalty, 1e-12);
    offset += level_scores(slow, level.increment, data.outputs());
    Eigen::MatrixXd unused;
    EXPECT_NEAR(slow.loss(offset, unused), level.report.loss, 1e-9);
  }
}

CascadeOptions three_levels(JointLoss loss) {
  return {.loss = loss, .levels = 3, .phi = {0.1, 0.05, 0.02}, .tolerance = 1e-7};
}

/// Random sparse rows with random labels. With enough columns the classes are separable.
MultiOutputData separable_classes(Index rows, Index columns, Index classes) {
  Random random(1);
  DenseMatrix x(rows, columns);
  MultiOutputData data;
  for (Index c = 0; c < classes; ++c) data.names.push_back(std::to_string(c));
  for (Index i = 0; i < rows; ++i) {
    data.label.push_back(static_cast<std::int32_t>(random.below(classes)));
    for (Index j = 0; j < columns; ++j) x(i, j) = random.uniform() < 0.15 ? 0.2F : 0.0F;
  }
  data.weights.assign(static_cast<std::size_t>(rows), 1 / static_cast<double>(rows));
  data.x = std::move(x);
  return data;
}

// The loss is near zero, but its margins are not. Rounding must not keep the line search of a sharp hinge
// going.
TEST(cascade, levels_that_find_hardly_any_loss_end) {
  ThreadPool threads(1);
  Context context{threads};
  const CascadeOptions options{.loss = JointLoss::multiclass_hinge,
                               .levels = 3,
                               .phi = {0.002, 0.0015, 0.001},
                               .smoothing = 0.01,
                               .tolerance = 1e-3};
  const Cascade cascade = fit_cascade(separable_classes(20, 40, 8), options, context);
  for (const CascadeLevel& level : cascade.levels) {
    EXPECT_TRUE(level.report.converged);
    EXPECT_LT(level.report.loss, 1e-3);
  }
}

TEST(cascade, multiclass_hinge_levels_reach_the_independent_optimum) {
  expect_every_level_optimal(random_classes({}, 1), three_levels(JointLoss::multiclass_hinge));
}

TEST(cascade, multiclass_logistic_levels_reach_the_independent_optimum) {
  expect_every_level_optimal(random_classes({.outputs = 4}, 2), three_levels(JointLoss::multiclass_logistic));
}

TEST(cascade, multitask_hinge_levels_reach_the_independent_optimum) {
  expect_every_level_optimal(random_tasks({}, false, 3), three_levels(JointLoss::multitask_hinge));
}

TEST(cascade, multitask_logistic_levels_without_bias_reach_the_independent_optimum) {
  CascadeOptions options = three_levels(JointLoss::multitask_logistic);
  options.bias = false;
  expect_every_level_optimal(random_tasks({}, false, 4), options);
}

TEST(cascade, tasks_with_per_task_rows_reach_the_independent_optimum) {
  CascadeOptions options = three_levels(JointLoss::multitask_hinge);
  options.phi = {0.05, 0.03, 0.01};
  expect_every_level_optimal(random_tasks({.rows = 75}, true, 5), options);
}

TEST(cascade, levels_of_numbers_reach_the_independent_optimum) {
  for (const JointLoss loss : {JointLoss::multitask_squared, JointLoss::multitask_insensitive}) {
    for (const bool own_rows : {false, true}) {
      for (const double ridge : {0.0, 0.05}) {
        CascadeOptions options = three_levels(loss);
        options.phi = {0.3, 0.1, 0.02};
        options.ridge = ridge;
        options.epsilon = 0.4;
        expect_every_level_optimal(random_numbers({.rows = 75}, own_rows, 6), options);
      }
    }
  }
}

TEST(cascade, a_number_added_to_all_targets_of_a_task_is_added_to_its_bias) {
  ThreadPool threads(1);
  Context context{threads};
  CascadeOptions options = three_levels(JointLoss::multitask_squared);
  options.tolerance_from = 0.1;
  MultiOutputData data = random_numbers({.rows = 75}, true, 7);
  const Cascade near = fit_cascade(data, options, context);
  for (double& value : data.value) value += 1000;
  const Cascade far = fit_cascade(data, options, context);
  for (std::size_t l = 0; l < near.levels.size(); ++l) {
    const CascadeLevel &a = near.levels[l], &b = far.levels[l];
    EXPECT_NEAR(a.report.objective, b.report.objective, 1e-6 * a.report.objective);
    for (std::size_t c = 0; l == 0 && c < 3; ++c)
      EXPECT_NEAR(a.increment.bias[c] + 1000, b.increment.bias[c], 1e-2);
  }
}

TEST(cascade, tasks_that_count_the_same_do_not_depend_on_copies_of_their_rows) {
  ThreadPool threads(1);
  Context context{threads};
  CascadeOptions options = three_levels(JointLoss::multitask_squared);
  MultiOutputData data = random_numbers({.rows = 60}, true, 8);
  weigh_tasks_equally(data);
  const Cascade once = fit_cascade(data, options, context);
  std::vector<Index> rows;  // those of the first task three times
  for (Index copy = 0; copy < 3; ++copy)
    for (Index i = 0; i < data.rows_of(0).end; ++i) rows.push_back(i);
  for (Index i = data.rows_of(0).end; i < data.rows(); ++i) rows.push_back(i);
  MultiOutputData more = select_rows(data, rows);
  more.task_begin = {0};
  for (Index t = 0; t < data.outputs(); ++t)
    more.task_begin.push_back(more.task_begin.back() + data.rows_of(t).size() * (t == 0 ? 3 : 1));
  more.weights.assign(rows.size(), 1 / static_cast<double>(rows.size()));
  weigh_tasks_equally(more);
  const Cascade copied = fit_cascade(more, options, context);
  for (std::size_t l = 0; l < once.levels.size(); ++l)
    EXPECT_NEAR(once.levels[l].report.objective, copied.levels[l].report.objective,
                1e-6 * once.levels[l].report.objective);
}

TEST(cascade, levels_with_a_ridge_reach_the_independent_optimum) {
  for (const double ridge : {1e-3, 0.1}) {
    CascadeOptions options = three_levels(JointLoss::multiclass_hinge);
    options.ridge = ridge;
    expect_every_level_optimal(random_classes({}, 1), options);
    options = three_levels(JointLoss::multiclass_logistic);
    options.ridge = ridge;
    expect_every_level_optimal(random_classes({.outputs = 4}, 2), options);
    options.phi = {0};  // the ridge alone
    options.levels = 1;
    expect_every_level_optimal(random_classes({.outputs = 4}, 2), options);
    options = three_levels(JointLoss::multitask_hinge);
    options.phi = {0.05, 0.03, 0};
    options.ridge = ridge;
    expect_every_level_optimal(random_tasks({.rows = 75}, true, 5), options);
  }
}

// The gap of a point that is not optimal is above its distance from the minimum, and not far above.
TEST(cascade, the_gap_with_a_ridge_bounds_the_distance_from_the_minimum) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = random_classes({}, 1);
  for (const double phi : {0.0, 0.02}) {
    CascadeOptions options{.levels = 1, .phi = {phi}, .ridge = 0.003, .tolerance = 1e-10};
    const double best = fit_cascade(data, options, context).levels[0].report.objective;
    options.tolerance = 0;
    for (const Index iterations : {3, 10, 30}) {
      options.max_iterations = iterations;
      const FistaReport report = fit_cascade(data, options, context).levels[0].report;
      EXPECT_GE(report.gap, report.objective - best - 1e-9);
      EXPECT_LE(report.gap, std::max(report.objective, 1e3 * (report.objective - best)));
    }
  }
}

TEST(cascade, a_start_near_the_solution_does_not_change_it) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = random_classes({}, 1);
  CascadeOptions options = three_levels(JointLoss::multiclass_logistic);
  const Cascade cold = fit_cascade(data, options, context);
  options.phi = {0.2, 0.1, 0.01};
  options.ridge = 0.01;
  const Cascade other = fit_cascade(data, options, context);
  options.phi = {0.1, 0.05, 0.02};
  options.ridge = 0;
  const Cascade warm = fit_cascade(data, options, context, &other);
  for (std::size_t l = 0; l < 3; ++l) {
    EXPECT_NEAR(warm.levels[l].report.objective, cold.levels[l].report.objective,
                2e-7 * cold.levels[l].report.objective);
  }
}

TEST(cascade, the_strong_ridge_follows_the_units_of_the_columns) {
  ThreadPool threads(1);
  Context context{threads};
  MultiOutputData data = random_classes({}, 1);
  const double before = strong_ridge(data, {}, context);
  EXPECT_GT(before, 0);
  DenseMatrix x = data.x.to_dense();
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) x(i, j) *= 4;
  }
  data.x = std::move(x);
  EXPECT_NEAR(strong_ridge(data, {}, context), 16 * before, 1e-6 * before);
}

/// The same data in other units: factors are powers of two between a four-millionth and a million. A constant
/// column is added.
MultiOutputData in_other_units(const MultiOutputData& data) {
  const DenseMatrix from = data.x.to_dense();
  DenseMatrix to(from.rows(), from.cols() + 1);
  for (Index j = 0; j < from.cols(); ++j) {
    const int power = 20 - 14 * static_cast<int>(j % 4);
    for (Index i = 0; i < from.rows(); ++i) to(i, j) = std::ldexp(from(i, j), power);
  }
  for (Index i = 0; i < from.rows(); ++i) to(i, from.cols()) = 123456;
  MultiOutputData out = data;
  out.x = std::move(to);
  return out;
}

/// Without a penalty the optimum does not depend on the columns' units.
void expect_optimum_in_any_units(const MultiOutputData& data, JointLoss loss) {
  ThreadPool threads(1);
  Context context{threads};
  const CascadeOptions options{.loss = loss, .levels = 1, .phi = {0}};
  const double best = SlowLevel(data, loss, options.smoothing)
                          .minimum(Eigen::MatrixXd::Zero(data.rows(), data.outputs()), 0, 0, true, 20000);
  MultiOutputData scaled = in_other_units(data);
  for (const bool sparse : {false, true}) {
    if (sparse) scaled.x = testing::sparse_copy(scaled.x.to_dense());
    const FistaReport report = fit_cascade(scaled, options, context).levels[0].report;
    EXPECT_TRUE(report.converged);
    EXPECT_NEAR(report.objective, best, 2e-6 * best);
    EXPECT_LT(report.iterations, 1000);
  }
}

TEST(cascade, without_a_penalty_the_units_of_the_columns_do_not_matter) {
  const Sizes sizes{.rows = 200, .columns = 6, .outputs = 3};
  expect_optimum_in_any_units(random_classes(sizes, 5), JointLoss::multiclass_logistic);
  expect_optimum_in_any_units(random_tasks(sizes, false, 6), JointLoss::multitask_logistic);
  expect_optimum_in_any_units(random_tasks(sizes, true, 7), JointLoss::multitask_hinge);
}

TEST(cascade, small_smoothing_is_reached_by_annealing) {
  CascadeOptions options = three_levels(JointLoss::multitask_hinge);
  options.smoothing = 0.05;
  options.levels = 1;
  options.phi = {0.05};
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = random_tasks({}, false, 6);
  const double best = SlowLevel(data, options.loss, options.smoothing)
                          .minimum(Eigen::MatrixXd::Zero(data.rows(), data.outputs()), 0.05, 0, true, 30000);
  EXPECT_NEAR(fit_cascade(data, options, context).levels[0].report.objective, best, 1e-6 * best);
}

TEST(cascade, many_columns_through_working_sets_and_sparse_storage_give_one_optimum) {
  ThreadPool threads(1);
  Context context{threads};
  for (const bool own_rows : {false, true}) {
    MultiOutputData data = random_tasks({.rows = 90, .columns = 300, .outputs = 4}, own_rows, 7);
    CascadeOptions options = three_levels(JointLoss::multitask_hinge);
    options.phi = {0.06, 0.05, 0.04};
    const Cascade dense = fit_cascade(data, options, context);
    data.x = testing::sparse_copy(data.x.to_dense());
    const Cascade sparse = fit_cascade(data, options, context);
    const double slow = SlowLevel(data, options.loss, options.smoothing)
                            .minimum(Eigen::MatrixXd::Zero(90, 4), 0.06, 0, true, 12000);
    EXPECT_NEAR(dense.levels[0].report.objective, slow, 2e-6 * slow);
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_TRUE(dense.levels[l].report.converged);
      EXPECT_NEAR(dense.levels[l].report.objective, sparse.levels[l].report.objective,
                  1e-6 * dense.levels[l].report.objective);
    }
  }
}

TEST(cascade, the_loss_falls_from_level_to_level) {
  ThreadPool threads(1);
  Context context{threads};
  CascadeOptions options{.loss = JointLoss::multiclass_hinge, .levels = 5, .phi = {0.1}};
  const Cascade cascade = fit_cascade(random_classes({.rows = 100}, 8), options, context);
  for (std::size_t l = 1; l < cascade.levels.size(); ++l) {
    // The increment 0 is feasible at level l, so the objective of level l is at most the loss before it.
    EXPECT_LE(cascade.levels[l].report.objective, cascade.levels[l - 1].report.loss * (1 + 1e-9));
    EXPECT_LE(cascade.levels[l].report.loss, cascade.levels[l].report.objective);
  }
}

TEST(cascade, scores_of_all_levels_are_those_of_training) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = random_tasks({.rows = 70}, true, 9);
  const Cascade cascade = fit_cascade(data, three_levels(JointLoss::multitask_hinge), context);
  const Grid<double> scores = cascade_scores(cascade, data, 3, threads);
  for (Index i = 0; i < data.rows(); ++i) EXPECT_NEAR(scores(i, 0), cascade.scores(i, 0), 1e-12);
}

TEST(cascade, above_the_largest_phi_no_feature_is_used_and_below_it_one_is) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = random_classes({}, 10);
  for (const double mix : {0.0, 0.5, 1.0}) {
    CascadeOptions options{.loss = JointLoss::multiclass_hinge, .levels = 1, .mix = {mix}};
    const double top = largest_phi(data, options, mix, context);
    options.phi = {top * 1.001};
    EXPECT_EQ(fit_cascade(data, options, context).levels[0].report.penalty, 0);
    options.phi = {top * 0.99};
    EXPECT_GT(fit_cascade(data, options, context).levels[0].report.penalty, 0);
  }
}

TEST(cascade, results_are_the_same_bits_for_any_number_of_threads) {
  const MultiOutputData data = random_classes({.rows = 3000, .columns = 40, .outputs = 5}, 11);
  std::vector<double> reference;
  for (const int count : {1, 3}) {
    ThreadPool threads(count);
    Context context{threads};
    const Cascade cascade = fit_cascade(data, {.levels = 2, .phi = {0.02}}, context);
    if (reference.empty()) reference = cascade.levels[1].increment.weights;
    EXPECT_EQ(cascade.levels[1].increment.weights, reference);
  }
}

/// A monitor that reports cancellation after a given number of queries.
class Impatient : public Monitor {
 public:
  explicit Impatient(int questions) : left_(questions) {}
  bool cancelled() const override { return left_-- <= 0; }

 private:
  mutable int left_;
};

TEST(cascade, a_run_that_is_cancelled_has_fewer_levels) {
  const MultiOutputData data = random_tasks({.rows = 60}, true, 5);
  ThreadPool threads(1);
  const CascadeOptions options{.loss = JointLoss::multitask_hinge, .levels = 3, .phi = {0.05, 0.03, 0.02}};
  Impatient soon(3), at_once(0);
  Context stopped{threads, soon}, none{threads, at_once};
  const Cascade some = fit_cascade(data, options, stopped);
  EXPECT_EQ(some.levels.size(), 1U);
  const Cascade empty = fit_cascade(data, options, none);
  EXPECT_TRUE(empty.levels.empty());
}

TEST(cascade, options_that_do_not_fit_are_named) {
  EXPECT_THROW(complete({.levels = 0, .phi = {1}}), InputError);
  EXPECT_THROW(complete({.levels = 3, .phi = {1, 2}}), InputError);
  EXPECT_THROW(complete({.levels = 2, .mix = {0, 1.5}, .phi = {1}}), InputError);
  EXPECT_THROW(complete({.levels = 1, .phi = {-1}}), InputError);
  EXPECT_THROW(complete({.levels = 1, .phi = {1}, .smoothing = 0}), InputError);
}

}  // namespace
}  // namespace sharelearn
