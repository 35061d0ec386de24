#include "sharelearn/fit/cascade.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fit/joint_rows.hpp"
#include "model/increments.hpp"
#include "sharelearn/fit/evaluate.hpp"
#include "sharelearn/fit/structural.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::class_rows;
using testing::task_rows;

TEST(fit_cascade, a_model_predicts_raw_rows_as_its_report_says) {
  ThreadPool threads(1);
  const Dataset train = class_rows(90, 6, 1), test = class_rows(60, 6, 2);
  const std::vector<float> before(train.x.dense().column(2), train.x.dense().column(2) + train.rows());
  const Fitted fitted = fit({train, &test}, CascadeFit{.phi = {{0.05, 0.02}}, .smoothing = 0.1}, {threads});
  EXPECT_TRUE(std::equal(before.begin(), before.end(), train.x.dense().column(2)));  // read only
  const Predictions predicted = fitted.model->predict(test, threads);
  const Classes truth = classes_of(test, fitted.model->output_names());
  Index wrong = 0;
  for (std::size_t i = 0; i < truth.of_row.size(); ++i) wrong += predicted.classes[i] != truth.of_row[i];
  EXPECT_NEAR(*fitted.report.end.test_error, static_cast<double>(wrong) / 60, 1e-12);
  ASSERT_EQ(fitted.report.rounds.size(), 2U);
  EXPECT_EQ(fitted.report.options["levels"], 2);
  EXPECT_EQ(fitted.report.options["mix"], (std::vector<double>{0, 1}));
  EXPECT_EQ(fitted.report.options["scale"], "minmax");
}

TEST(fit_cascade, unset_phi_is_chosen_by_folds_and_set_phi_refuses_them) {
  ThreadPool threads(1);
  const Dataset train = class_rows(60, 4, 3);
  const Fitted fitted =
      fit({train}, CascadeFit{.levels = 2, .folds = 3, .phi_scales = {{0.3, 0.1}}}, {threads});
  bool found = false;
  for (const auto& trial : fitted.report.cross_validation) {
    found = found || (trial["phi"] == fitted.report.options["phi"] &&
                      trial["ridge"] == fitted.report.options["ridge"] && trial["folds"] == 3);
  }
  EXPECT_TRUE(found);
  const Fitted plain = fit({train}, CascadeFit{.levels = 2, .ridge = 0, .folds = 3}, {threads});
  for (const auto& trial : plain.report.cross_validation) EXPECT_EQ(trial["ridge"], 0);
  EXPECT_EQ(fit({train}, CascadeFit{.phi = {{0.1}}}, {threads}).report.options["ridge"], 0);
  EXPECT_THROW(fit({train}, CascadeFit{.phi = {{0.1}}, .folds = 3}, {threads}), OptionError);
  EXPECT_THROW(fit({train}, CascadeFit{.phi = {{0.1}}, .rows = {.sigma = 2}}, {threads}), OptionError);
  EXPECT_THROW(fit({train}, CascadeFit{.phi = {{0.1}}, .rows = {.negatives = 2}}, {threads}), OptionError);
}

TEST(fit_cascade, tasks_made_of_classes_report_and_predict_the_class_of_the_highest_score) {
  ThreadPool threads(1);
  const Dataset train = class_rows(60, 4, 3);
  for (const char* loss : {"multitask-hinge", "multitask-logistic"}) {
    const Fitted fitted = fit({train, &train}, CascadeFit{.loss = loss, .phi = {{0.05, 0.02}}}, {threads});
    ASSERT_EQ(fitted.model->outputs_are(), OutputKind::classes);
    const Grid<double> scores = fitted.model->scores(train, threads);
    const Classes truth = classes_of(train, fitted.model->output_names());
    double wrong = 0, wrong_signs = 0;
    for (Index i = 0; i < train.rows(); ++i) {
      Index best = 0;
      const auto y = static_cast<Index>(truth.of_row[static_cast<std::size_t>(i)]);
      for (Index c = 0; c < scores.cols(); ++c) {
        if (scores(i, c) > scores(i, best)) best = c;
        wrong_signs += (scores(i, c) > 0) == (c == y) ? 0 : 1;
      }
      wrong += best == y ? 0 : 1;
    }
    const Round& end = fitted.report.end;
    EXPECT_NEAR(*end.train_error, wrong / 60, 1e-12);
    EXPECT_NEAR(*end.test_error, wrong / 60, 1e-12);
    EXPECT_NEAR(*fitted.report.rounds.back().train_task_accuracy,
                1 - wrong_signs / static_cast<double>(60 * scores.cols()), 1e-12);
  }
}

/// Tasks a and b with numbers; task a has three rows of four.
Dataset number_rows(Index rows, Index columns, std::uint64_t seed) {
  Dataset data = task_rows(rows, columns, seed);
  Random random(seed + 1);
  const DenseMatrix x = data.x.to_dense();
  data.label = {};
  for (Index i = 0; i < rows; ++i) {
    data.task.id[static_cast<std::size_t>(i)] = i % 4 == 3 ? 1 : 0;
    data.label.id.push_back(static_cast<std::int32_t>(i));
    data.label.names.push_back(std::to_string(50 + 3 * x(i, 0) + x(i, 1 + i % 4 / 3) + random.normal()));
  }
  return data;
}

TEST(fit_cascade, one_level_of_numbers_is_gradboost_with_the_same_penalty) {
  ThreadPool threads(1);
  const Dataset train = number_rows(80, 5, 4);
  for (const double mix : {0.0, 0.4, 1.0}) {
    const Fitted cascade =
        fit({train}, CascadeFit{.loss = "multitask-squared", .phi = {{0.3}}, .mix = {{mix}}}, {threads});
    GradBoostFit options;
    options.loss = "squared";
    options.penalty = "sparse-group";
    options.mix = mix;
    options.lambda = 0.3;
    const Fitted boosted = fit({train}, options, {threads});
    EXPECT_NEAR(*cascade.report.end.objective, *boosted.report.end.objective,
                2e-6 * *boosted.report.end.objective);
    EXPECT_NEAR(*cascade.report.end.train_error, *boosted.report.end.train_error, 1e-3);
  }
}

TEST(fit_cascade, numbers_are_chosen_judged_and_predicted_task_by_task) {
  ThreadPool threads(1);
  const Dataset train = number_rows(80, 5, 4), test = number_rows(60, 5, 5);
  for (const char* loss : {"multitask-squared", "multitask-insensitive"}) {
    for (const char* weight : {"rows", "equal"}) {
      const Fitted fitted =
          fit({train, &test}, CascadeFit{.loss = loss, .levels = 2, .task_weight = weight, .folds = 3},
              {threads});
      ASSERT_EQ(fitted.model->outputs_are(), OutputKind::value);
      EXPECT_EQ(fitted.model->output_names(), (std::vector<std::string>{"a", "b"}));
      const Evaluation evaluation = evaluate(*fitted.model, test, threads);
      const Grid<double> scores = fitted.model->scores(test, threads);
      double squares[2] = {}, rows[2] = {};
      for (Index i = 0; i < test.rows(); ++i) {
        const Index t = test.task.id[static_cast<std::size_t>(i)];
        squares[t] += std::pow(scores(i, t) - std::stod(test.label.names[static_cast<std::size_t>(i)]), 2);
        rows[t] += 1;
      }
      EXPECT_NEAR(*fitted.report.end.test_error, std::sqrt((squares[0] + squares[1]) / 60), 1e-9);
      EXPECT_NEAR(evaluation.values->root_mean_square, std::sqrt((squares[0] + squares[1]) / 60), 1e-9);
      for (std::size_t t = 0; t < 2; ++t) {
        EXPECT_NEAR(evaluation.output_errors[t], std::sqrt(squares[t] / rows[t]), 1e-9);
        EXPECT_NEAR((*fitted.report.end.output_errors)[t].get<double>(), std::sqrt(squares[t] / rows[t]),
                    1e-9);
      }
      EXPECT_GT(evaluation.explained.all, 0.8);
    }
  }
}

TEST(fit_cascade, options_of_numbers_need_numbers_and_tasks) {
  ThreadPool threads(1);
  const Dataset classes = class_rows(30, 4, 1);
  const auto refused = [&](const Dataset& rows, const CascadeFit& options) {
    EXPECT_THROW(fit({rows}, options, {threads}), InputError);
  };
  refused(classes, {.loss = "multitask-squared", .phi = {{0.1}}});
  refused(classes, {.loss = "multitask-logistic", .phi = {{0.1}}, .task_weight = "equal"});
  const Dataset numbers = number_rows(30, 4, 1);
  refused(numbers, {.loss = "multitask-squared", .phi = {{0.1}}, .epsilon = 0.1});
  refused(numbers, {.loss = "multitask-insensitive", .phi = {{0.1}}, .epsilon = -0.1});
  refused(numbers, {.loss = "multitask-squared", .phi = {{0.1}}, .rows = {.negatives = 2}});
}

TEST(fit_cascade, a_row_of_weight_3_is_three_rows) {
  ThreadPool threads(1);
  Dataset weighted = class_rows(60, 4, 5);
  std::vector<Index> copies;
  for (Index i = 0; i < 60; ++i) {
    const Index times = 1 + 2 * (i % 2);
    weighted.weight.push_back(static_cast<double>(times));
    copies.insert(copies.end(), static_cast<std::size_t>(times), i);
  }
  Dataset copied = weighted;
  copied.weight.clear();
  copied = select_rows(copied, copies);
  CascadeFit options{.loss = "multiclass-logistic", .phi = {{0.02, 0.01}}};
  options.common.scale = "standard";
  options.common.tolerance = 1e-10;
  const Dataset test = class_rows(20, 4, 6);
  const Grid<double> a = fit({weighted}, options, {threads}).model->scores(test, threads);
  const Grid<double> b = fit({copied}, options, {threads}).model->scores(test, threads);
  for (Index i = 0; i < 20; ++i)
    for (Index c = 0; c < 3; ++c) EXPECT_NEAR(a(i, c), b(i, c), 1e-4);
}

TEST(fit_cascade, increments_add_up_to_the_scores_of_the_model) {
  ThreadPool threads(1);
  const std::vector<Increment> levels{{{1, -1, 0, 0, 0.5, 0}, {0.1, 0.2}}, {{0, 0, 0, 0, 0, 2}, {0, -1}}};
  Preprocessing preprocessing;
  preprocessing.columns = 3;
  const auto model = model_of_increments(levels, {"a", "b"}, OutputKind::classes, preprocessing);
  EXPECT_EQ(model->features.size(), 2U);  // no level uses column 1
  EXPECT_EQ(model->stages[0].features, 2);
  Dataset rows;
  DenseMatrix x(1, 3);
  x(0, 0) = 2;
  x(0, 1) = 7;
  x(0, 2) = 3;
  rows.x = std::move(x);
  const Grid<double> scores = model->scores(rows, threads);
  EXPECT_NEAR(scores(0, 0), 2 * 1 + 3 * 0.5 + 0.1, 1e-12);
  EXPECT_NEAR(scores(0, 1), -2 + 3 * 2 + 0.2 - 1, 1e-12);
  const std::vector<Increment> back = increments_of(*model, 3);
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(back[l].weights, levels[l].weights);
    EXPECT_EQ(back[l].bias, levels[l].bias);
  }
}

TEST(fit_cascade, a_run_that_is_cancelled_at_once_gives_no_model) {
  class AtOnce : public Monitor {
    bool cancelled() const override { return true; }
  } monitor;
  ThreadPool threads(1);
  const Dataset train = class_rows(60, 4, 5);
  EXPECT_THROW(fit({train}, CascadeFit{.phi = {{0.1}}}, {threads, monitor}), Failure);
  EXPECT_THROW(fit({train}, CascadeFit{}, {threads, monitor}), Failure);
}

TEST(fit_cascade, a_run_that_is_cancelled_later_gives_the_levels_so_far) {
  class AfterFirstLevel : public Monitor {
    void progress(std::string_view, std::int64_t, std::int64_t, std::string_view) override { done_ = true; }
    bool cancelled() const override { return done_; }
    bool done_ = false;
  } monitor;
  ThreadPool threads(1);
  const Dataset train = task_rows(60, 4, 5);
  const CascadeFit options{.loss = "multitask-hinge", .phi = {{0.05, 0.03, 0.02}}};
  const Fitted fitted = fit({train}, options, {threads, monitor});
  EXPECT_EQ(dynamic_cast<const LinearModel&>(*fitted.model).stages.size(), 1U);
  EXPECT_EQ(*fitted.report.end.stop, "cancelled");
}

// A node of height 1 does not couple its leaves: the penalty is lambda |.|_1, one level of a cascade with mix
// 1.
TEST(fit_treelasso, a_tree_of_height_1_is_the_lasso) {
  ThreadPool threads(1);
  const Dataset train = task_rows(80, 4, 7);
  TreeLassoFit tree{.tree = "all 1 a b\n", .lambda = 0.02};
  CascadeFit lasso{.loss = "multitask-hinge", .phi = {{0.02}}, .mix = {{1}}};
  tree.common.tolerance = lasso.common.tolerance = 1e-9;
  const Fitted one = fit({train}, tree, {threads}), other = fit({train}, lasso, {threads});
  EXPECT_NEAR(*one.report.end.objective, *other.report.end.objective, 1e-7);
  const Grid<double> a = one.model->scores(train, threads), b = other.model->scores(train, threads);
  for (Index i = 0; i < train.rows(); ++i) EXPECT_NEAR(a(i, 0), b(i, 0), 1e-3);
  try {
    fit({train}, TreeLassoFit{.tree = "# a comment\nall 2 a b\n", .lambda = 0.02}, {threads});
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "tree");
    EXPECT_EQ(*error.entry(), 1U);
  }
}

}  // namespace
}  // namespace sharelearn
