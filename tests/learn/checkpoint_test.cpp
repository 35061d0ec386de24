// A learner that is stopped after any number of rounds and started again from its checkpoint ends with the
// bits of a run that was never stopped.
#include "sharelearn/run/checkpoint.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "learn/cascade_problem.hpp"
#include "pool/induced_products.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/learn/group_path.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

using Numbers = std::vector<double>;
/// Learns from the beginning, with this monitor and checkpoint, and returns all weights of the result.
using Learning = std::function<Numbers(const Context& context)>;

/// Cancels after a number of questions.
class Impatient : public Monitor {
 public:
  explicit Impatient(int questions) : left_(questions) {}
  bool cancelled() const override { return left_-- <= 0; }

 private:
  mutable int left_;
};

std::string checkpoint_path() {
  return std::filesystem::temp_directory_path() / ("learn_checkpoint_test." + std::to_string(::getpid()));
}

/// Stops after every number of questions up to `most`, goes on, and compares.
void expect_same_after_stops(const Learning& run, int most) {
  ThreadPool threads(1);
  const Numbers expected = run({threads});
  int resumed = 0;
  for (int questions = 1; questions <= most; ++questions) {
    std::filesystem::remove(checkpoint_path());
    {
      Impatient monitor(questions);
      Checkpoint checkpoint(checkpoint_path(), 1, 0);
      run({threads, monitor, 1, &checkpoint});
    }
    Checkpoint checkpoint(checkpoint_path(), 1, 0);
    resumed += checkpoint.is_resumed() ? 1 : 0;
    EXPECT_EQ(run({threads, silent_monitor(), 1, &checkpoint}), expected) << questions;
  }
  EXPECT_GE(resumed, most / 2);
  std::filesystem::remove(checkpoint_path());
}

struct Rows {
  explicit Rows(Index count = 400, Index columns = 14)
      : x(test::random_dense(count, columns, 5)),
        loss(test::random_labels(x.to_dense(), 3, 5), 3, test::equal_weights(count), 1) {}
  Matrix x;
  MulticlassLogistic loss;
};

Learning shareboost_run(const Rows& rows, const ShareBoostOptions& options) {
  return [&rows, options](const Context& context) {
    ColumnPool pool(rows.x);
    Numbers all;
    for (const ShareBoostStage& stage : shareboost(pool, rows.loss, options, context).stages) {
      all.insert(all.end(), stage.weights.begin(), stage.weights.end());
      all.insert(all.end(), {stage.score, stage.report.objective, stage.report.gradient_norm});
    }
    return all;
  };
}

TEST(checkpoint, shareboost_goes_on_after_any_round) {
  const Rows rows;
  expect_same_after_stops(shareboost_run(rows, {.features = 10}), 10);
}

TEST(checkpoint, shareboost_takes_over_the_curvature_of_the_round_before) {
  const Rows rows;
  ShareBoostOptions options{.features = 14};
  options.penalty.ridge = 1e-3;
  options.corrective.relative_gradient = 0.1;
  expect_same_after_stops(shareboost_run(rows, options), 14);
}

TEST(checkpoint, shareboost_prunes_the_same_features) {
  const Rows rows;
  ShareBoostOptions options{.features = 6, .surplus = 1};
  options.penalty.ridge = 1e-3;
  expect_same_after_stops(shareboost_run(rows, options), 12);
}

Learning path_run(const Rows& rows, const Penalty& penalty, StructuralOptions options,
                  const std::function<std::unique_ptr<Pool>(const Rows&)>& make_pool, Numbers ratios) {
  return [&rows, &penalty, options, make_pool, ratios](const Context& context) {
    const auto pool = make_pool(rows);
    StructuralBooster booster(*pool, rows.loss, penalty, options, context);
    const double first = booster.first_lambda();
    Numbers lambdas, all;
    for (const double ratio : ratios) lambdas.push_back(ratio * first);
    for (const StructuralStage& stage : structural_path(booster, lambdas, context).stages) {
      all.insert(all.end(), stage.weights.begin(), stage.weights.end());
      all.insert(all.end(), stage.bias.begin(), stage.bias.end());
      all.insert(all.end(), {stage.objective, stage.score, static_cast<double>(stage.rounds)});
    }
    return all;
  };
}

std::unique_ptr<Pool> columns_of(const Rows& rows) {
  return std::make_unique<ColumnPool>(rows.x);
}

TEST(checkpoint, a_path_goes_on_after_any_round_of_any_lambda) {
  const Rows rows;
  for (const char* name : {"l1", "l1l2", "l1linf"}) {
    const auto penalty = penalty_from(name);
    expect_same_after_stops(path_run(rows, *penalty, {.induce = 2}, columns_of, {0.9, 0.5, 0.3, 0.02}), 14);
  }
}

TEST(checkpoint, a_path_without_selection_goes_on) {
  const Rows rows;
  const auto penalty = penalty_from("l2sq");
  expect_same_after_stops(path_run(rows, *penalty, {}, columns_of, {1, 0.1, 0.01, 1e-3, 1e-4}), 4);
}

TEST(checkpoint, one_distant_lambda_goes_on_between_intermediate_ones) {
  const Rows rows;
  const auto penalty = penalty_from("l1l2");
  expect_same_after_stops(path_run(rows, *penalty, {.tolerance = 1e-9}, columns_of, {1e-5}), 12);
}

TEST(checkpoint, a_pool_that_grows_is_grown_again) {
  const Rows rows(200, 5);
  const auto penalty = penalty_from("l1");
  const auto products = [](const Rows& of) -> std::unique_ptr<Pool> {
    return std::make_unique<InducedProductPool>(ColumnView(of.x), 3, true);
  };
  expect_same_after_stops(path_run(rows, *penalty, {.induce = 2}, products, {0.7, 0.4, 0.2}), 10);
}

TEST(checkpoint, updates_of_the_paper_go_on) {
  const Rows rows;
  const auto penalty = penalty_from("l1linf");
  StructuralOptions options{.rounds = 12, .corrective = false};
  options.row_update = std::make_shared<AdaBoostUpdate>(rows.loss, *penalty, AdaBoostTemplate::one);
  expect_same_after_stops(path_run(rows, *penalty, options, columns_of, {0.1}), 10);
  options.row_update = std::make_shared<GradBoostUpdate>(rows.loss, *penalty);
  options.corrective = true;
  options.max_steps = 1000;
  expect_same_after_stops(path_run(rows, *penalty, options, columns_of, {0.5, 0.2}), 4);
}

TEST(checkpoint, a_path_over_groups_goes_on_after_any_lambda) {
  const Rows rows;
  const auto penalty = penalty_from("l1l2");
  const Learning run = [&](const Context& context) {
    ColumnPool pool(rows.x);
    GroupBooster booster(pool, rows.loss, *penalty, {.members = {{0, 1, 2}, {3, 4}}}, context);
    const double first = booster.first_lambda();
    Numbers lambdas, all;
    for (const double ratio : {0.8, 0.6, 0.4, 0.2}) lambdas.push_back(ratio * first);
    for (const StructuralStage& stage : structural_path(booster, lambdas, context).stages) {
      all.insert(all.end(), stage.weights.begin(), stage.weights.end());
      all.push_back(stage.objective);
    }
    return all;
  };
  expect_same_after_stops(run, 8);
}

TEST(checkpoint, a_cascade_goes_on_after_any_level) {
  const MultiOutputData data = testing::random_classes({.rows = 200, .columns = 12, .outputs = 4}, 3);
  const Learning run = [&](const Context& context) {
    Context world = context;
    const CascadeOptions options{.levels = 4, .phi = {0.03, 0.02, 0.02, 0.01}};
    Numbers all;
    for (const CascadeLevel& level : fit_cascade(data, options, world).levels) {
      all.insert(all.end(), level.increment.weights.begin(), level.increment.weights.end());
      all.push_back(level.report.objective);
    }
    return all;
  };
  ThreadPool threads(1);
  const Numbers expected = run({threads});
  for (const int questions : {1, 20, 60, 120, 200}) {
    std::filesystem::remove(checkpoint_path());
    Impatient monitor(questions);
    {
      Checkpoint checkpoint(checkpoint_path(), 1, 0);
      run({threads, monitor, 1, &checkpoint});
    }
    Checkpoint checkpoint(checkpoint_path(), 1, 0);
    EXPECT_EQ(run({threads, silent_monitor(), 1, &checkpoint}), expected);
  }
  std::filesystem::remove(checkpoint_path());
}

/// A file that is whole, but whose content is not that of the run, must not be believed.
TEST(checkpoint, states_with_wrong_content_are_refused) {
  const Rows rows;
  const auto penalty = penalty_from("l1");
  const Learning runs[] = {shareboost_run(rows, {.features = 6}),
                           path_run(rows, *penalty, {.induce = 2}, columns_of, {0.9, 0.5, 0.3})};
  const char* names[] = {"rounds", "path"};
  ThreadPool threads(1);
  for (int which : {0, 1}) {
    std::filesystem::remove(checkpoint_path());
    Checkpoint first(checkpoint_path(), 1, 0);
    Impatient monitor(4);
    runs[which]({threads, monitor, 1, &first});
    const std::string state = *first.find(names[which]);
    for (std::size_t cut = 0; cut < state.size(); cut += 97) {
      std::filesystem::remove(checkpoint_path());
      Checkpoint wrong(checkpoint_path(), 1, 0);
      wrong.offer(names[which], [&](ByteWriter& out) {
        for (std::size_t at = 0; at < cut; ++at) out.u8(static_cast<std::uint8_t>(state[at]));
      });
      EXPECT_THROW(runs[which]({threads, silent_monitor(), 1, &wrong}), InputError) << cut;
    }
  }
  std::filesystem::remove(checkpoint_path());
}

}  // namespace
}  // namespace sharelearn
