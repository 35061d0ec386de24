#include <gtest/gtest.h>

#include <cmath>

#include "fit/joint_rows.hpp"
#include "sharelearn/fit/structural.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {
namespace {

GradBoostFit path_options() {
  GradBoostFit options;
  options.common.scale = "none";
  options.common.calibration = "none";
  options.path = 12;
  return options;
}

/// The derivative of the mean logistic loss of a stage by the weights of its columns, and by the bias.
std::vector<double> gradient_of(LinearModel& model, const Dataset& data, ThreadPool& threads) {
  const Grid<double> p = model.proba(data, threads);
  const std::vector<std::int32_t> truth = classes_of(data, model.names).of_row;
  const Stage& stage = model.stages[static_cast<std::size_t>(model.stage)];
  const auto outputs = std::ssize(model.names);
  std::vector<double> gradient(stage.weights.size() + model.names.size(), 0.0);
  for (Index i = 0; i < data.rows(); ++i) {
    for (Index c = 0; c < outputs; ++c) {
      const double residual =
          (p(i, c) - (truth[static_cast<std::size_t>(i)] == c ? 1 : 0)) / static_cast<double>(data.rows());
      for (std::size_t a = 0; a < stage.columns.size(); ++a) {
        const auto feature =
            static_cast<std::size_t>(stage.columns[a]);  // the pool's features have one column
        const Index column = model.features[feature]->describe({})["column"].get<Index>();
        gradient[a * model.names.size() + static_cast<std::size_t>(c)] +=
            residual * static_cast<double>(data.x.dense()(i, column));
      }
      gradient[stage.weights.size() + static_cast<std::size_t>(c)] += residual;
    }
  }
  return gradient;
}

TEST(refit, weights_of_every_stage_are_optimal_without_the_penalty_and_its_features_stay) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(300, 6, 3);
  const auto plain = std::dynamic_pointer_cast<LinearModel>(fit({train}, path_options(), {threads}).model);
  for (const double ridge : {0.0, 0.01}) {
    GradBoostFit options = path_options();
    options.refit = ridge;
    const Fitted fitted = fit({train}, options, {threads});
    const auto model = std::dynamic_pointer_cast<LinearModel>(fitted.model);
    ASSERT_EQ(model->stages.size(), plain->stages.size());
    for (std::size_t s = 0; s < model->stages.size(); ++s) {
      model->stage = static_cast<Index>(s);
      const Stage& stage = model->stages[s];
      EXPECT_EQ(stage.columns, plain->stages[s].columns);
      const std::vector<double> gradient = gradient_of(*model, train, threads);
      for (std::size_t w = 0; w < stage.weights.size(); ++w)
        EXPECT_NEAR(gradient[w] + 2 * ridge * stage.weights[w], 0, 1e-4);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(gradient[stage.weights.size() + c], 0, 1e-4);
    }
    EXPECT_LE(*fitted.report.rounds.back().loss, *fitted.report.rounds.front().loss);
  }
}

TEST(max_features, the_path_ends_with_the_last_model_that_is_small_enough) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(300, 6, 3);
  const auto whole = std::dynamic_pointer_cast<LinearModel>(fit({train}, path_options(), {threads}).model);
  ASSERT_GT(whole->stages.back().features, 3);
  GradBoostFit options = path_options();
  options.max_features = 3;
  const Fitted fitted = fit({train}, options, {threads});
  const auto model = std::dynamic_pointer_cast<LinearModel>(fitted.model);
  EXPECT_EQ(fitted.report.rounds.size(), model->stages.size());
  ASSERT_LT(model->stages.size(), whole->stages.size());
  EXPECT_GT(whole->stages[model->stages.size()].features, 3);
  EXPECT_LE(std::ssize(model->features), 3);
  for (std::size_t s = 0; s < model->stages.size(); ++s) {
    EXPECT_LE(model->stages[s].features, 3);
    EXPECT_EQ(model->stages[s].weights, whole->stages[s].weights);
  }
}

TEST(max_features, a_path_whose_first_model_is_too_large_is_refused) {
  ThreadPool threads(1);
  GradBoostFit options = path_options();
  options.penalty = "l2sq";
  options.max_features = 3;
  EXPECT_THROW(fit({testing::class_rows(100, 6, 3)}, options, {threads}), OptionError);
}

}  // namespace
}  // namespace sharelearn
