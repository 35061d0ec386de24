#include "fit/ridge_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fit/joint_rows.hpp"
#include "learn/refit.hpp"
#include "learn/shareboost_problem.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {
namespace {

TEST(refit_along, every_ridge_is_solved_to_its_own_optimum) {
  const test::ShareBoostProblem problem(3);
  ColumnPool pool(problem.x);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(1);
  ShareBoostOptions options{.features = 4, .penalty = {.ridge = 0.01}};
  options.corrective.tolerance = 1e-14;
  const ShareBoostResult path = shareboost(pool, loss, options, {threads});
  const std::vector<double> ridges{0.1, 0.01, 0.001};
  std::vector<ShareBoostStage> stages;
  refit_along(ridges, path, pool, loss, options, {threads}, [&](const ShareBoostStage& solution) {
    stages.push_back(solution);
    return true;
  });
  ASSERT_EQ(stages.size(), 3U);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    Grid<double> scores(test::kRows, test::kClasses);
    for (Index c = 0; c < test::kClasses; ++c)
      for (Index i = 0; i < test::kRows; ++i) scores(i, c) = stages[s].bias[static_cast<std::size_t>(c)];
    const auto w = [&](std::size_t f, Index c) {
      return stages[s].weights[f * test::kClasses + static_cast<std::size_t>(c)];
    };
    for (std::size_t f = 0; f < 4; ++f)
      scores = problem.with_column(scores, path.chosen[f], {w(f, 0), w(f, 1), w(f, 2)});
    for (std::size_t f = 0; f < 4; ++f) {
      const std::vector<double> gradient = problem.gradient(scores, path.chosen[f]);
      for (Index c = 0; c < test::kClasses; ++c)
        EXPECT_NEAR(gradient[static_cast<std::size_t>(c)] + 2 * ridges[s] * w(f, c), 0, 1e-6);
    }
  }
}

RidgeTrial trial(std::vector<double> row_loss) {
  RidgeTrial made;
  for (const double loss : row_loss) made.loss += loss / static_cast<double>(row_loss.size());
  made.row_loss = std::move(row_loss);
  return made;
}

TEST(strongest_within_one_error, compares_row_by_row) {
  const std::vector<double> weights(4, 0.25);
  // Differences to the best: all 1 (no scatter: worse for sure); mean 0.1 with deviations of 1 and -1.
  const std::vector<RidgeTrial> trials{trial({2, 3, 4, 5}), trial({2.1, 1.1, 4.1, 3.1}), trial({1, 2, 3, 4})};
  EXPECT_EQ(strongest_within_one_error(trials, weights, 4), 1U);
  EXPECT_EQ(strongest_within_one_error(std::vector{trial({1, 1}), trial({1, 1})}, std::vector(2, 0.5), 2),
            0U);
}

TEST(strongest_within_one_error, weights_are_copies) {
  // Mean difference 0.5; its standard error is sqrt(0.75 / (rows - 1)) with values 2 (once) and 0 (3 times).
  const std::vector<RidgeTrial> copies{trial({2, 0, 0, 0}), trial({0, 0, 0, 0})};
  std::vector<RidgeTrial> weighted{trial({2, 0}), trial({0, 0})};
  weighted[0].loss = 0.5;
  for (const Index rows : {4, 5}) {
    EXPECT_EQ(strongest_within_one_error(copies, std::vector(4, 0.25), rows), rows == 4 ? 0U : 1U);
    EXPECT_EQ(strongest_within_one_error(weighted, std::vector{0.25, 0.75}, rows), rows == 4 ? 0U : 1U);
  }
}

TEST(fit_shareboost, an_unset_ridge_is_chosen_and_gives_the_model_of_that_ridge) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(400, 6, 7);
  const Fitted chosen = fit({train}, ShareBoostFit{.features = 4}, {threads});
  const nlohmann::json& choice = chosen.report.extra["ridge_choice"];
  EXPECT_NEAR(chosen.report.options["ridge"].get<double>() * 400, choice["factor"].get<double>(), 1e-12);
  EXPECT_GT(choice["trials"].size(), 2U);
  ASSERT_EQ(chosen.report.choices.size(), 2U);  // and the probabilities
  EXPECT_NE(chosen.report.choices.front().find("held-out rows"), std::string::npos);
  const Fitted fixed =
      fit({train}, ShareBoostFit{.features = 4, .ridge = chosen.report.options["ridge"].get<double>()},
          {threads});
  EXPECT_EQ(fixed.model->payload(), chosen.model->payload());
  EXPECT_EQ(fixed.report.choices.size(), 1U);
}

TEST(fit_shareboost, stumps_take_a_step_above_the_strongest_ridge_that_is_as_good) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(400, 6, 7);
  ShareBoostFit options{.features = 4};
  options.pool.name = "stumps";
  const Fitted fitted = fit({train}, options, {threads});
  EXPECT_NE(fitted.report.choices.front().find("a step above the strongest"), std::string::npos);
  const nlohmann::json& choice = fitted.report.extra["ridge_choice"];
  const auto& trials = choice["trials"];
  const auto at =
      std::ranges::find_if(trials, [&](const auto& trial) { return trial["factor"] == choice["factor"]; });
  ASSERT_NE(at, trials.end());
  if (at != trials.begin()) {
    EXPECT_GT((*at)["loss"], (*(at + 1))["loss"]);
  }
}

TEST(fit_shareboost, a_ridge_that_is_set_or_another_penalty_leaves_nothing_to_choose) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(200, 6, 7);
  for (const ShareBoostFit& options :
       {ShareBoostFit{.features = 3, .ridge = 0.0}, ShareBoostFit{.features = 3, .smooth_l1 = 0.01}}) {
    const Fitted fitted = fit({train}, options, {threads});
    EXPECT_EQ(fitted.report.options["ridge"], 0.0);
    EXPECT_FALSE(fitted.report.extra.contains("ridge_choice"));
  }
}

TEST(fit_shareboost, too_few_rows_to_judge_by_take_a_plain_ridge) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(30, 6, 7);
  const Fitted fitted = fit({train}, ShareBoostFit{.features = 3}, {threads});
  EXPECT_DOUBLE_EQ(fitted.report.options["ridge"].get<double>(), kPlainRidge / 30);
  EXPECT_NE(fitted.report.choices.front().find("too few rows"), std::string::npos);
}

TEST(fit_shareboost, the_choice_takes_a_row_of_weight_3_as_three_rows) {
  ThreadPool threads(1);
  Dataset weighted = testing::class_rows(150, 4, 5);
  std::vector<Index> copies;
  for (Index i = 0; i < 150; ++i) {
    const Index times = 1 + 2 * (i % 2);
    copies.insert(copies.end(), static_cast<std::size_t>(times), i);
  }
  const Dataset copied = select_rows(weighted, copies);
  for (Index i = 0; i < 150; ++i) weighted.weight.push_back(static_cast<double>(1 + 2 * (i % 2)));
  const auto a = fit({weighted}, ShareBoostFit{.features = 3}, {threads}).report;
  const auto b = fit({copied}, ShareBoostFit{.features = 3}, {threads}).report;
  EXPECT_EQ(a.extra["ridge_choice"]["factor"], b.extra["ridge_choice"]["factor"]);
  EXPECT_DOUBLE_EQ(a.options["ridge"].get<double>(), b.options["ridge"].get<double>());
  for (std::size_t t = 0; t < a.extra["ridge_choice"]["trials"].size(); ++t) {
    EXPECT_NEAR(a.extra["ridge_choice"]["trials"][t]["loss"].get<double>(),
                b.extra["ridge_choice"]["trials"][t]["loss"].get<double>(), 1e-4);
  }
}

}  // namespace
}  // namespace sharelearn
