// Penalties over groups of features, against proximal gradient steps written out here.
#include "sharelearn/learn/group_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/run/error.hpp"
#include "structural_problem.hpp"

namespace sharelearn {
namespace {

using namespace test;

constexpr double kMix = 0.3;
const std::vector<std::vector<Index>> kGroups = {{0, 3, 4}, {1, 2}, {5, 6, 7}};  // column 8 is alone

std::unique_ptr<Penalty> named(const std::string& name) {
  if (name == "sparse-group") return std::make_unique<SparseGroup>(kMix);
  return penalty_from(name);
}

double l2(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

double value(const std::string& name, const std::vector<double>& v) {
  double sum = 0, largest = 0;
  for (const double x : v) sum += std::abs(x), largest = std::max(largest, std::abs(x));
  if (name == "l1linf") return largest;
  return name == "l1l2" ? l2(v) : (1 - kMix) * l2(v) + kMix * sum;
}

/// argmin_u |u - v|^2 / 2 + step value(u).
void prox(const std::string& name, std::vector<double>& v, double step) {
  if (name == "l1linf") {  // clip at the level t with sum (|v| - t)+ = step, found by bisection
    double sum = 0, low = 0, high = 0;
    for (const double x : v) sum += std::abs(x), high = std::max(high, std::abs(x));
    if (sum <= step) high = 0;
    for (int halving = 0; halving < 200 && high > 0; ++halving) {
      const double t = (low + high) / 2;
      double above = 0;
      for (const double x : v) above += std::max(std::abs(x) - t, 0.0);
      (above > step ? low : high) = t;
    }
    for (double& x : v) x = std::clamp(x, -high, high);
    return;
  }
  const double soft = name == "l1l2" ? 0 : kMix * step, shrink = name == "l1l2" ? step : (1 - kMix) * step;
  for (double& x : v) x = std::copysign(std::max(std::abs(x) - soft, 0.0), x);
  const double size = l2(v);
  for (double& x : v) x *= size > shrink ? 1 - shrink / size : 0.0;
}

/// The least objective, by accelerated proximal gradient steps of fixed length over all columns.
double reference(const DenseMatrix& x, const Loss& loss, const std::string& name, double lambda) {
  std::vector<std::vector<Index>> groups = kGroups;
  groups.push_back({8});
  const Index k = loss.outputs();
  ThreadPool threads(1);
  const auto size = static_cast<std::size_t>((kColumns + 1) * k);  // the last column is the bias
  std::vector<double> w(size, 0.0), y(w), gradient(size);
  Grid<double> scores(kRows, k), residual(kRows, k);
  const auto entry = [&](Index i, Index j) { return j < kColumns ? static_cast<double>(x(i, j)) : 1.0; };
  const auto loss_at = [&](const std::vector<double>& at) {
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < kRows; ++i) {
        scores(i, c) = 0;
        for (Index j = 0; j <= kColumns; ++j)
          scores(i, c) += at[static_cast<std::size_t>(j * k + c)] * entry(i, j);
      }
    }
    return evaluate(loss, scores, &residual, threads);
  };
  const double step = 1 / (loss.curvature_bound() * (kColumns / 3.0 + 3));  // uniform columns and a constant
  double momentum = 1;
  for (int t = 0; t < 2500; ++t) {
    loss_at(y);
    for (Index j = 0; j <= kColumns; ++j) {
      for (Index c = 0; c < k; ++c) {
        double sum = 0;
        for (Index i = 0; i < kRows; ++i) sum += entry(i, j) * residual(i, c);
        gradient[static_cast<std::size_t>(j * k + c)] = sum;
      }
    }
    std::vector<double> next(y);
    for (std::size_t v = 0; v < size; ++v) next[v] -= step * gradient[v];
    for (const auto& group : groups) {
      std::vector<double> block;
      for (const Index j : group) {
        for (Index c = 0; c < k; ++c) block.push_back(next[static_cast<std::size_t>(j * k + c)]);
      }
      prox(name, block, step * lambda);
      std::size_t from = 0;
      for (const Index j : group) {
        for (Index c = 0; c < k; ++c) next[static_cast<std::size_t>(j * k + c)] = block[from++];
      }
    }
    const double grown = t % 300 == 299 ? 1 : (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t v = 0; v < size; ++v)
      y[v] = next[v] + (t % 300 == 299 ? 0 : (momentum - 1) / grown) * (next[v] - w[v]);
    w = next;
    momentum = grown;
  }
  double objective = loss_at(w);
  for (const auto& group : groups) {
    std::vector<double> block;
    for (const Index j : group) {
      for (Index c = 0; c < k; ++c) block.push_back(w[static_cast<std::size_t>(j * k + c)]);
    }
    objective += lambda * value(name, block);
  }
  return objective;
}

TEST(group_path, reaches_the_optimum_of_proximal_gradient_steps_with_a_certified_gap) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(2);
  std::vector<std::unique_ptr<Loss>> losses = all_losses(dense);
  losses.erase(losses.begin() +
               3);  // the exponential loss has no bound on its curvature, which the reference needs
  losses.push_back(squared_loss(dense));
  for (const auto& loss : losses) {
    for (const std::string name : {"l1l2", "l1linf", "sparse-group"}) {
      const auto penalty = named(name);
      for (const Index induce : {Index{0}, Index{1}}) {
        ColumnPool pool(x);
        GroupBooster booster(pool, *loss, *penalty, {.members = kGroups, .tolerance = 1e-8, .induce = induce},
                             Context{threads});
        const StructuralStage stage = booster.solve(0.15 * booster.first_lambda());
        EXPECT_EQ(stage.stop, StructuralStop::optimal) << loss->name() << name << induce;
        EXPECT_LE(stage.gap, 1e-8) << loss->name() << name << induce;
        if (induce > 0) continue;
        const double best = reference(dense, *loss, name, stage.lambda);
        EXPECT_NEAR(stage.objective, best, 1e-6 * best) << loss->name() << name;
      }
    }
  }
}

TEST(group_path, no_group_enters_at_the_first_lambda_and_one_just_below_it) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  const auto loss = squared_loss(dense);
  for (const std::string name : {"l1l2", "l1linf", "sparse-group"}) {
    const auto penalty = named(name);
    ColumnPool pool(x);
    GroupBooster booster(pool, *loss, *penalty, {.members = kGroups, .tolerance = 1e-10}, Context{threads});
    const double first = booster.first_lambda();
    EXPECT_TRUE(booster.solve(1.0001 * first).columns.empty()) << name;
    const StructuralStage& below = booster.solve(0.99 * first);
    EXPECT_FALSE(below.columns.empty()) << name;
    if (name == "l1l2") {  // whole groups: as many columns as one of them has
      EXPECT_TRUE(below.columns.size() == 3 || below.columns.size() == 2 || below.columns.size() == 1);
    }
  }
}

TEST(group_path, groups_of_one_column_give_the_solution_without_groups) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  const auto losses = all_losses(dense);
  for (const char* name : {"l1", "l1l2", "l1linf"}) {
    const auto penalty = penalty_from(name);
    ColumnPool one(x), other(x);
    GroupBooster grouped(one, *losses[0], *penalty, {.tolerance = 1e-9}, Context{threads});
    StructuralBooster plain(other, *losses[0], *penalty, precise(true), Context{threads});
    EXPECT_NEAR(grouped.first_lambda(), plain.lambda_max(), 1e-9 * plain.lambda_max()) << name;
    const double lambda = 0.1 * plain.lambda_max();
    const double expected = plain.solve(lambda).objective;
    EXPECT_NEAR(grouped.solve(lambda).objective, expected, 1e-8 * expected) << name;
  }
}

TEST(group_path, a_piece_is_one_group_and_stays_or_leaves_whole) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  const auto labels = random_labels(dense, kClasses, 3);
  const auto losses = all_losses(dense);
  const auto pool =
      make_pool({x, labels, kClasses}, {.name = "pieces", .centres = 4, .radii = 3}, 1, threads);
  const L1L2 penalty;
  GroupBooster booster(*pool, *losses[0], penalty, {.tolerance = 1e-6}, Context{threads});
  const StructuralStage& stage = booster.solve(0.3 * booster.first_lambda());
  EXPECT_LE(stage.gap, 1e-6);
  EXPECT_FALSE(stage.columns.empty());
  EXPECT_EQ(stage.columns.size() % static_cast<std::size_t>(pool->width()), 0U);
}

TEST(group_path, groups_that_overlap_or_do_not_exist_are_refused) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  const auto losses = all_losses(dense);
  const L1L2 penalty;
  ColumnPool pool(x);
  for (const std::vector<std::vector<Index>>& members :
       {std::vector<std::vector<Index>>{{0, 1}, {1, 2}}, {{0, 9}}, {{}}}) {
    EXPECT_THROW(GroupBooster(pool, *losses[0], penalty, {.members = members}, Context{threads}), InputError);
  }
  const L2Squared ridge;
  EXPECT_THROW(GroupBooster(pool, *losses[0], ridge, {}, Context{threads}), InputError);
}

}  // namespace
}  // namespace sharelearn
