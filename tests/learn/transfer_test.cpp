#include "sharelearn/learn/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/cascade_problem.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

TEST(transfer, subspace_is_orthonormal_and_spans_the_weights) {
  // Rank 2: the third output is the sum of the first two.
  Random random(1);
  std::vector<double> weights;
  for (int j = 0; j < 6; ++j) {
    const double a = random.normal(), b = random.normal();
    weights.insert(weights.end(), {a, b, a + b});
  }
  const Subspace subspace = leading_subspace(weights, 6, 3, 5);
  ASSERT_EQ(subspace.vectors.size(), 2U);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> rest(6);
    for (std::size_t j = 0; j < 6; ++j) rest[j] = weights[j * 3 + c];
    for (const auto& vector : subspace.vectors) {
      double product = 0, length = 0;
      for (std::size_t j = 0; j < 6; ++j) product += vector[j] * rest[j], length += vector[j] * vector[j];
      EXPECT_NEAR(length, 1, 1e-12);
      for (std::size_t j = 0; j < 6; ++j) rest[j] -= product * vector[j];
    }
    for (const double value : rest) EXPECT_NEAR(value, 0, 1e-10);
  }
}

TEST(transfer, with_all_directions_known_is_the_unpenalised_fit) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = testing::random_tasks({.rows = 80, .columns = 5, .outputs = 2}, true, 3);
  CompositePoint known{std::vector<double>(25, 0.0), {}};
  for (std::size_t j = 0; j < 5; ++j) known.weights[j * 5 + j] = 1 + static_cast<double>(j);
  TransferOptions options;
  options.cascade.loss = JointLoss::multitask_hinge;
  const Cascade transferred = transfer_batch(data, {known}, options, context);
  const Cascade plain =
      fit_cascade(data, {.loss = JointLoss::multitask_hinge, .levels = 1, .phi = {0}}, context);
  EXPECT_NEAR(transferred.levels[0].report.objective, plain.levels[0].report.objective, 1e-5);
  // The increment in the space of the features gives the scores of the projections.
  const Grid<double> scores = cascade_scores(transferred, data, 1, threads);
  for (Index i = 0; i < data.rows(); ++i) EXPECT_NEAR(scores(i, 0), transferred.scores(i, 0), 1e-4);
}

TEST(transfer, weights_stay_in_the_known_subspace) {
  ThreadPool threads(1);
  Context context{threads};
  const MultiOutputData data = testing::random_tasks({.rows = 60, .columns = 4, .outputs = 1}, true, 4);
  // One known task, which depends on the sum of the first two features.
  const CompositePoint known{{1, 1, 0, 0}, {}};
  TransferOptions options;
  options.cascade.loss = JointLoss::multitask_hinge;
  const Cascade transferred = transfer_batch(data, {known}, options, context);
  const std::vector<double>& weights = transferred.levels[0].increment.weights;
  EXPECT_NE(weights[0], 0);
  EXPECT_NEAR(weights[0], weights[1], 1e-12);
  EXPECT_EQ(weights[2], 0);
  EXPECT_EQ(weights[3], 0);
  EXPECT_THROW(transfer_batch(data, {CompositePoint{{1, 2, 3}, {}}}, options, context), InputError);
}

TEST(transfer, online_learner_takes_the_known_groups_over) {
  const OnlineCascadeOptions options{.loss = JointLoss::multitask_hinge, .mix = {0, 1}, .phi = {0.1, 0.1}};
  OnlineCascade known(options, 3, 2, false);
  const std::vector<std::uint32_t> column{0};
  const std::vector<float> value{1.0F};
  const std::vector<std::int8_t> sign{1, 1, -1};
  const OnlineExample example{column, value, 0, sign};
  online_step(known, {&example, 1});
  const OnlineCascade fresh = transfer_online(known, 1, true);
  EXPECT_EQ(fresh.outputs(), 1);
  EXPECT_NEAR(fresh.group_squares(0)[0], 3, 1e-12);
  EXPECT_EQ(fresh.group_squares(0)[1], 0);
}

}  // namespace
}  // namespace sharelearn
