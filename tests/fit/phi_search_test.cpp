#include "sharelearn/fit/phi_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/cascade_problem.hpp"
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
