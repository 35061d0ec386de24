#include "sharelearn/model/early.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "sharelearn/model/metrics.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr Index kColumns = 8;

/// A path of 1 to 8 columns whose later columns matter less and less.
LinearModel path_model(Index classes = 3) {
  LinearModel model;
  model.preprocessing.columns = kColumns;
  for (Index c = 0; c < classes; ++c) model.names.push_back(std::to_string(c));
  Stage stage;
  stage.bias.assign(static_cast<std::size_t>(classes), 0.1);
  Random random(5);
  for (Index j = 0; j < kColumns; ++j) {
    model.features.push_back(std::make_shared<ColumnFeature>(j));
    stage.columns.push_back(j);
    for (Index c = 0; c < classes; ++c) stage.weights.push_back(random.normal() * std::pow(0.6, double(j)));
    stage.features = j + 1;
    stage.parameter = static_cast<double>(j + 1);
    model.stages.push_back(stage);
  }
  model.stage = kColumns - 1;
  return model;
}

Dataset rows(Index count, std::uint64_t seed) {
  Dataset data;
  data.x = test::random_dense(count, kColumns, seed);
  data.source = "rows";
  return data;
}

double share_differing(const LinearModel& model, const Dataset& data, ThreadPool& threads) {
  const auto full = predicted_classes(model.scores(data, threads));
  const auto early = predicted_classes(model.early_scores(data, threads).scores);
  Index differing = 0;
  for (std::size_t i = 0; i < full.size(); ++i) differing += full[i] != early[i] ? 1 : 0;
  return static_cast<double>(differing) / static_cast<double>(full.size());
}

TEST(Early, clopper_pearson_bound_has_its_closed_forms) {
  // No hit: (1 - p)^n = 1 - confidence. All but one: p^n = confidence.
  EXPECT_NEAR(clopper_pearson_upper(0, 1000, 0.95), 1 - std::pow(0.05, 1.0 / 1000), 1e-12);
  EXPECT_NEAR(clopper_pearson_upper(9, 10, 0.95), std::pow(0.95, 0.1), 1e-12);
  EXPECT_EQ(clopper_pearson_upper(10, 10, 0.95), 1);
  EXPECT_NEAR(clopper_pearson_upper(4, 10000, 0.95), 9.1514e-4, 1e-7);  // scipy.stats.beta.ppf(0.95, 5, 9996)
}

TEST(Early, the_bound_holds_as_often_as_stated) {
  ThreadPool threads(1);
  LinearModel model = path_model();
  const Dataset population = rows(40000, 1000);
  constexpr double kBound = 0.02;
  int exceeded = 0;
  double features = 0;
  for (std::uint64_t repeat = 0; repeat < 60; ++repeat) {
    const Dataset sample = rows(1500, repeat + 1);
    model.early = nullptr;
    model.early = std::make_shared<const EarlyStop>(
        fit_early(model, sample, {.disagreement = kBound, .confidence = 0.9, .seed = repeat}, threads));
    if (share_differing(model, population, threads) > kBound) ++exceeded;
    const auto work = early_work(model, *model.early);
    for (const std::int32_t stop : model.early_scores(sample, threads).stop)
      features += static_cast<double>(work[static_cast<std::size_t>(stop)].features);
  }
  EXPECT_LE(exceeded, 12);  // 6 are expected at most; more than 12 has probability 0.004
  EXPECT_LT(features / (60 * 1500), 0.8 * kColumns);  // and something is saved
}

TEST(Early, rows_that_do_not_stop_have_the_scores_of_the_model) {
  ThreadPool threads(2);
  LinearModel model = path_model();
  const Dataset data = rows(700, 3);
  model.early = std::make_shared<const EarlyStop>(
      EarlyStop{{{model.stages[2], 2.0}, {model.stages[4], 1.5}}, model.stage, 0.1, 0.9, 0, 0, 0});
  const EarlyScores early = model.early_scores(data, threads);
  LinearModel at = model;
  at.early = nullptr;
  std::vector<Grid<double>> expected;
  for (const Index stage : {2, 4, 7}) {
    at.stage = stage;
    expected.push_back(at.scores(data, threads));
  }
  Index seen[3] = {};
  for (Index i = 0; i < data.rows(); ++i) {
    const auto stop = static_cast<std::size_t>(early.stop[static_cast<std::size_t>(i)]);
    ++seen[stop];
    for (Index c = 0; c < 3; ++c) EXPECT_EQ(early.scores(i, c), expected[stop](i, c));
  }
  for (const Index count : seen) EXPECT_GT(count, 0);
}

TEST(Early, a_model_with_one_stage_stops_by_its_largest_terms) {
  ThreadPool threads(1);
  LinearModel model = path_model();
  model.stages = {model.stages.back()};
  model.stage = 0;
  const EarlyStop early = fit_early(model, rows(4000, 7), {.disagreement = 0.02}, threads);
  ASSERT_FALSE(early.checkpoints.empty());
  EXPECT_LT(early.checkpoints.front().weights.features, kColumns);
  model.early = std::make_shared<const EarlyStop>(early);
  EXPECT_LE(share_differing(model, rows(20000, 8), threads), 0.02);
}

TEST(Early, a_saved_model_stops_as_before_and_a_plain_one_has_no_section) {
  ThreadPool threads(1);
  LinearModel model = path_model();
  const Dataset data = rows(2000, 9);
  model.early = std::make_shared<const EarlyStop>(fit_early(model, data, {.disagreement = 0.02}, threads));
  const auto path = std::filesystem::temp_directory_path() / ("early_" + std::to_string(::getpid()) + ".shl");
  save_model(model, path);
  const ModelPtr loaded = load_model(path);
  std::filesystem::remove(path);
  const EarlyScores before = model.early_scores(data, threads), after = loaded->early_scores(data, threads);
  EXPECT_EQ(before.stop, after.stop);
  for (Index i = 0; i < data.rows(); ++i) EXPECT_EQ(before.scores(i, 0), after.scores(i, 0));
}

TEST(Early, refuses_what_it_cannot_do) {
  ThreadPool threads(1);
  LinearModel model = path_model();
  EXPECT_THROW(fit_early(model, rows(100, 1), {.disagreement = 0.001}, threads), InputError);  // too few rows
  EXPECT_THROW(fit_early(model, rows(5000, 1), {.disagreement = 0}, threads), InputError);
  EXPECT_THROW(model.early_scores(rows(5, 1), threads), InputError);  // no thresholds
  model.early = std::make_shared<const EarlyStop>(EarlyStop{{}, model.stage, 0.1, 0.9, 0, 0, 0});
  model.use_features(4);
  EXPECT_THROW(model.early_scores(rows(5, 1), threads), InputError);  // thresholds of another stage
  model.kind_of_output = OutputKind::value;
  EXPECT_THROW(fit_early(model, rows(5000, 1), {}, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
