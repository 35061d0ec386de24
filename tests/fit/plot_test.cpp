#include "sharelearn/fit/plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fit/joint_rows.hpp"
#include "sharelearn/fit/cascade.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/structural.hpp"

namespace sharelearn {
namespace {

const Series& named(const Plot& plot, const std::string& name) {
  const auto found = std::ranges::find(plot.series, name, &Series::name);
  EXPECT_NE(found, plot.series.end()) << name;
  return found == plot.series.end() ? plot.series.front() : *found;
}

/// A curve or points with bars, the choice marked, the baseline without features.
void expect_choice(const FitReport& report, std::size_t points) {
  const Plot plot = plot_of(report, "rows.csv");
  const Series& folds = named(plot, "cross-validation");
  EXPECT_EQ(folds.x.size(), points) << report.method;
  EXPECT_EQ(folds.bar.size(), points) << report.method;
  EXPECT_TRUE(named(plot, "no features").dashed);
  EXPECT_EQ(plot.title, report.method + " on rows.csv");
  ASSERT_TRUE(plot.mark.has_value()) << report.method;
  EXPECT_EQ(plot.mark->x, static_cast<double>(*report.end.features_used)) << report.method;
}

TEST(plot_of, shows_the_choice_of_every_method) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(80, 5, 3);
  expect_choice(fit({train}, ShareBoostFit{.features = 4, .folds = 3}, {threads}).report, 4);
  GradBoostFit path;
  path.path = 6;
  path.path_min = 0.1;
  path.folds = 3;
  expect_choice(fit({train}, path, {threads}).report, 6);
  expect_choice(fit({train}, JointBoostFit{.rounds = 7, .folds = 3}, {threads}).report, 7);
  // of the model without features, too, which is not a round
  expect_choice(fit({train}, OneVsRestFit{.features = 3, .folds = 3}, {threads}).report, 4);
  const FitReport cascade =
      fit({train}, CascadeFit{.levels = 2, .folds = 3, .phi_scales = {{0.3, 0.1}}}, {threads}).report;
  const auto& trials = cascade.cross_validation;
  const auto judged = std::ranges::count_if(trials, [](const auto& trial) { return trial["folds"] == 3; });
  expect_choice(cascade, static_cast<std::size_t>(judged));
  const Plot plot = plot_of(cascade, "");
  EXPECT_TRUE(named(plot, "cross-validation").points_only);
}

TEST(plot_of, errors_that_span_much_have_a_logarithmic_axis) {
  FitReport report;
  const auto rounds = [&](std::initializer_list<double> errors) {
    report.rounds.clear();
    for (const double error : errors) {
      Round& round = report.rounds.emplace_back();
      round.round = round.features_used = std::ssize(report.rounds);
      round.train_error = error;
    }
    return plot_of(report, "").log_y;
  };
  EXPECT_TRUE(rounds({0.5, 0.2, 0.05}));
  EXPECT_FALSE(rounds({0.5, 0.3, 0.2}));
  EXPECT_FALSE(rounds({0.5, 0.2, 0}));  // a logarithm could not show it
}

TEST(plot_of, onevsrest_counts_the_features_of_all_classes) {
  ThreadPool threads(1);
  const Dataset train = testing::class_rows(80, 5, 3);
  const FitReport report = fit({train}, OneVsRestFit{.features = 3, .folds = 3}, {threads}).report;
  const Plot plot = plot_of(report, "");
  const Series& folds = named(plot, "cross-validation");
  EXPECT_EQ(folds.x.front(), 0);
  for (std::size_t round = 0; round < report.rounds.size(); ++round)
    EXPECT_EQ(folds.x[round + 1], static_cast<double>(*report.rounds[round].features_used));
}

}  // namespace
}  // namespace sharelearn
