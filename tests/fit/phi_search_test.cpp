#include "sharelearn/fit/phi_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "learn/cascade_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Judges points by a function, on two folds of the same result.
class FunctionJudge : public PhiJudge {
 public:
  FunctionJudge(std::function<double(const PhiPoint&)> of, double error)
      : of_(std::move(of)), error_(error) {}
  std::vector<std::vector<double>> measure(std::span<const PhiPoint> path,
                                           const std::vector<double>&) override {
    std::vector<std::vector<double>> out;
    for (const PhiPoint& point : path) out.push_back(std::vector<double>(2, of_(point)));
    tried += std::ssize(path);
    return out;
  }
  std::size_t folds() const override { return 2; }
  double standard_error(const std::vector<double>&, const std::vector<double>&) const override {
    return error_;
  }
  Index tried = 0;

 private:
  std::function<double(const PhiPoint&)> of_;
  double error_;
};

PhiPoint alone(std::size_t levels, std::size_t level, double scale, double ridge) {
  PhiPoint point{std::vector<double>(levels, kOff), ridge};
  point.scales[level] = scale;
  return point;
}

TEST(phi_search, finds_every_special_case_where_it_is_best) {
  const PhiGrid grid{.ridges = usual_ridges()};
  const std::vector<PhiPoint> cases{alone(5, 4, 0, 0),      // no penalty
                                    alone(5, 4, 0, 0.01),   // L2
                                    alone(5, 0, 0.1, 0),    // L12
                                    alone(5, 4, 0.025, 0),  // L1
                                    alone(5, 4, 0.4, 0)};
  for (const PhiPoint& best : cases) {
    FunctionJudge judge([&](const PhiPoint& point) { return point == best ? 1.0 : 0.5; }, 0.1);
    EXPECT_EQ(search_points(5, grid, judge).point, best);
  }
}

TEST(phi_search, adds_a_level_only_if_it_gains_more_than_a_standard_error) {
  const auto value = [](const PhiPoint& point) {
    return (point.scales[0] == 0.1 ? 0.7 : 0.5) + (point.scales[2] == 0.05 && point.scales[0] < 1 ? 0.05 : 0);
  };
  FunctionJudge sure(value, 0.04), unsure(value, 0.06);
  EXPECT_LT(search_points(3, {}, sure).point.scales[2], 1);
  EXPECT_EQ(search_points(3, {}, unsure).point, alone(3, 0, 0.1, 0));
}

TEST(phi_search, ties_go_to_the_stronger_penalty) {
  FunctionJudge judge([](const PhiPoint&) { return 0.5; }, 0.1);
  EXPECT_EQ(search_points(3, {.ridges = usual_ridges()}, judge).point, alone(3, 2, 0, 10));
  EXPECT_EQ(search_points(3, {.scales = {0.2, 0.1}}, judge).point, alone(3, 2, 0.1, 0));
}

TEST(phi_search, five_levels_take_at_most_two_and_a_half_times_the_points_of_one) {
  const PhiGrid grid{.ridges = usual_ridges()};
  const auto smooth = [](const PhiPoint& point) {
    double sum = 0;
    for (const double scale : point.scales)
      sum += scale < 1 ? std::abs(std::log(scale + 1e-3) - std::log(0.05)) : 0.1;
    return 1 - 0.01 * sum - 0.01 * std::abs(std::log(point.ridge + 1e-4) - std::log(0.01));
  };
  FunctionJudge five(smooth, 0.1), one(smooth, 0.1);
  search_points(5, grid, five);
  search_points(1, grid, one);
  EXPECT_LE(five.tried, 5 * one.tried / 2);
}

TEST(phi_search, warns_of_a_choice_at_an_end_of_the_grid) {
  const PhiGrid open{.scales = {0.4, 0.2, 0.1}}, closed{.scales = {0.4, 0.2, 0}};
  EXPECT_NE(edge_warning(alone(3, 1, 0.4, 0), open), "");
  EXPECT_NE(edge_warning(alone(3, 1, 0.1, 0), open), "");
  EXPECT_EQ(edge_warning(alone(3, 1, 0.2, 0), open), "");
  EXPECT_EQ(edge_warning(alone(3, 1, 0, 0), closed), "");
}

// The accuracies of a path of warm starts are those of fits on their own, up to their tolerance.
TEST(phi_search, is_not_worse_on_the_held_out_rows_than_its_special_cases) {
  ThreadPool threads(1);
  Context context{threads};
  const HeldOutPair pair{testing::random_tasks({.rows = 60, .columns = 20}, true, 1),
                         testing::random_tasks({.rows = 60, .columns = 20}, true, 2)};
  const CascadeOptions options{.loss = JointLoss::multitask_hinge, .levels = 3};
  const PhiGrid grid{.ridges = usual_ridges()};
  const PhiSearch all = search_phi({&pair, 1}, options, grid, context);
  ASSERT_EQ(all.choice().phi.size(), 3U);
  for (const double mix : {0.0, 1.0}) {
    CascadeOptions one = options;
    one.levels = 1;
    one.mix = {mix};
    EXPECT_GE(all.choice().accuracy, search_phi({&pair, 1}, one, {}, context).choice().accuracy - 1e-12);
    EXPECT_GE(
        all.choice().accuracy,
        search_phi({&pair, 1}, one, {.scales = {0}, .ridges = usual_ridges()}, context).choice().accuracy -
            1e-12);
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
  EXPECT_EQ(once.choice().phi, cross_validate_phi(data, options, {}, 3, context).choice().phi);
  // Folds of 20 rows each: accuracies are multiples of a twentieth of the inverse of the folds tried.
  for (const PhiTrial& trial : once.trials) {
    const auto rows = static_cast<double>(20 * trial.folds);
    EXPECT_NEAR(trial.accuracy * rows, std::round(trial.accuracy * rows), 1e-6);
  }
}

TEST(phi_search, needs_rows_that_weigh_something_in_every_fold) {
  ThreadPool threads(1);
  Context context{threads};
  MultiOutputData data = testing::random_classes({.rows = 30, .columns = 3}, 3);
  std::fill(data.weights.begin(), data.weights.end(), 0.0);
  data.weights[4] = 1;
  EXPECT_THROW(cross_validate_phi(data, {.levels = 2}, {}, 3, context), InputError);
}

TEST(phi_search, one_standard_error_takes_the_fewest_features_of_the_trials_that_are_as_good) {
  const auto trial = [](double accuracy, Index folds, double features, double weights, double phi) {
    return PhiTrial{{}, {phi}, 0, accuracy, 0.02, folds, features, weights};
  };
  const std::vector<PhiTrial> trials{trial(0.90, 5, 30, 90, 0.1),  // the best
                                     trial(0.89, 5, 12, 40, 0.2), trial(0.89, 5, 12, 36, 0.2),
                                     trial(0.87, 5, 4, 8, 0.4),     // too bad
                                     trial(0.95, 3, 2, 4, 0.3),     // given up
                                     trial(0.88, 5, 12, 36, 0.3)};  // as small, a stronger penalty
  EXPECT_EQ(simplest_within_one_error(trials, 0, 5), 5U);
  EXPECT_EQ(simplest_within_one_error(std::span(trials).first(5), 0, 5), 2U);
  EXPECT_EQ(simplest_within_one_error(std::span(trials).first(1), 0, 5), 0U);
}

// The rule by its definition, from what the search reports.
TEST(phi_search, one_standard_error_chooses_among_all_that_was_tried) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = testing::random_classes({.rows = 90, .columns = 8}, 3);
  const CascadeOptions options{.loss = JointLoss::multiclass_hinge, .levels = 2};
  PhiGrid grid;
  const PhiSearch least = cross_validate_phi(data, options, grid, 3, context);
  EXPECT_EQ(least.chosen, least.best);
  grid.choice = ChoiceOfPoint::one_standard_error;
  const PhiSearch sparse = cross_validate_phi(data, options, grid, 3, context);
  ASSERT_EQ(sparse.best, least.best);
  const double bar = sparse.trials[sparse.best].accuracy - sparse.trials[sparse.best].standard_error;
  EXPECT_GE(sparse.choice().accuracy, bar);
  for (const PhiTrial& trial : sparse.trials) {
    EXPECT_FALSE(trial.folds == 3 && trial.accuracy >= bar && trial.features < sparse.choice().features);
    EXPECT_LE(trial.features, 8);
    EXPECT_LE(trial.weights, 24);
  }
}

// A cancelled search must not choose from only a part of its trials.
TEST(phi_search, a_cancelled_search_chooses_nothing) {
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
  EXPECT_THROW(cross_validate_phi(data, {.levels = 2}, {}, 3, context), Failure);
}

}  // namespace
}  // namespace sharelearn
