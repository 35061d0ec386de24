// Every loss x penalty x bias x solver, compared with a plain proximal gradient method and with its own
// duality gap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "pool/induced_products.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/products.hpp"
#include "solve/active_set.hpp"
#include "structural_problem.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

using namespace test;

/// Plain accelerated proximal gradient on dense arrays. It shares only loss and prox with the solvers.
double reference(const DenseMatrix& x, const Loss& loss, const Penalty& penalty, double lambda, bool bias) {
  const Index k = loss.outputs();
  const auto n = static_cast<std::size_t>(kColumns * k);
  std::vector<double> w(n + static_cast<std::size_t>(k), 0.0), y = w, previous = w;
  double lipschitz = 1, momentum = 1, best = 1e300;
  const auto value = [&](const std::vector<double>& at, Grid<double>* residual) {
    Grid<double> scores(kRows, k);
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < kRows; ++i) {
        double s = at[n + static_cast<std::size_t>(c)];
        for (Index j = 0; j < kColumns; ++j)
          s += static_cast<double>(x(i, j)) * at[static_cast<std::size_t>(j * k + c)];
        scores(i, c) = s;
      }
    }
    return loss.block({0, kRows}, scores, residual);
  };
  const auto objective = [&](const std::vector<double>& at) {
    double sum = value(at, nullptr);
    for (Index j = 0; j < kColumns; ++j)
      sum += lambda * penalty.value({at.data() + j * k, static_cast<std::size_t>(k)});
    return sum;
  };
  for (int iteration = 0; iteration < 4000; ++iteration) {
    Grid<double> residual(kRows, k);
    const double here = value(y, &residual);
    std::vector<double> gradient(w.size(), 0.0);
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < kRows; ++i) {
        for (Index j = 0; j < kColumns; ++j) {
          gradient[static_cast<std::size_t>(j * k + c)] += static_cast<double>(x(i, j)) * residual(i, c);
        }
        if (bias) gradient[n + static_cast<std::size_t>(c)] += residual(i, c);
      }
    }
    for (;; lipschitz *= 2) {
      double linear = 0, square = 0;
      for (std::size_t at = 0; at < w.size(); ++at) w[at] = y[at] - gradient[at] / lipschitz;
      for (Index j = 0; j < kColumns; ++j)
        penalty.prox({w.data() + j * k, static_cast<std::size_t>(k)}, lambda / lipschitz);
      for (std::size_t at = 0; at < w.size(); ++at) {
        linear += gradient[at] * (w[at] - y[at]);
        square += (w[at] - y[at]) * (w[at] - y[at]);
      }
      if (value(w, nullptr) <= here + linear + lipschitz / 2 * square + 1e-15) break;
    }
    const double now = objective(w);
    if (now > best) momentum = 1;
    best = std::min(best, now);
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t at = 0; at < w.size(); ++at)
      y[at] = w[at] + (momentum - 1) / next * (w[at] - previous[at]);
    previous = w;
    momentum = next;
  }
  return best;
}

StructuralStage solve(Pool& pool, const Loss& loss, const Penalty& penalty, double lambda,
                      StructuralOptions options) {
  ThreadPool threads(1);
  StructuralBooster booster(pool, loss, penalty, options, Context{threads});
  return booster.solve(lambda);
}

TEST(structural, every_loss_penalty_bias_and_solver_reaches_the_independent_optimum) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  for (const auto& loss : all_losses(dense)) {
    for (const std::string& name : penalty_names()) {
      const auto penalty = penalty_from(name);
      for (const bool bias : {true, false}) {
        const double lambda = name == "none" ? 0.0 : 0.02;
        const double expected = reference(dense, *loss, *penalty, lambda, bias);
        ColumnPool pool(x);
        StructuralOptions options = precise(bias);
        const StructuralStage fast = solve(pool, *loss, *penalty, lambda, options);
        EXPECT_NEAR(fast.objective, expected, 1e-7 * expected) << loss->name() << name << bias;
        EXPECT_LE(fast.gap, 1e-7) << loss->name() << name << bias;
        if (std::isfinite(loss->curvature_bound())) {
          options.row_update = std::make_shared<GradBoostUpdate>(*loss, *penalty);
          const StructuralStage rows = solve(pool, *loss, *penalty, lambda, options);
          EXPECT_NEAR(rows.objective, expected, 1e-6 * expected)
              << "gradboost" << loss->name() << name << bias;
        }
        if (name == "l1" || name == "l1linf" || name == "none") {
          options.row_update = std::make_shared<AdaBoostUpdate>(*loss, *penalty);
          const StructuralStage rows = solve(pool, *loss, *penalty, lambda, options);
          EXPECT_NEAR(rows.objective, expected, 1e-6 * expected)
              << "adaboost" << loss->name() << name << bias;
        }
      }
    }
  }
}

/// The tolerance is loose enough that stopping too early would be visible. lambda has no effect without a
/// penalty.
TEST(structural, without_a_penalty_the_stop_is_within_the_tolerance_of_the_optimum) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const NoPenalty penalty;
  for (const auto& loss : all_losses(dense)) {
    const double expected = reference(dense, *loss, penalty, 0, true);
    StructuralOptions options = precise(true);
    options.tolerance = 1e-5;
    std::vector<std::shared_ptr<RowUpdate>> updates{nullptr,
                                                    std::make_shared<AdaBoostUpdate>(*loss, penalty)};
    if (std::isfinite(loss->curvature_bound()))
      updates.push_back(std::make_shared<GradBoostUpdate>(*loss, penalty));
    for (std::size_t which = 0; which < updates.size(); ++which) {
      options.row_update = updates[which];
      ColumnPool pool(x);
      const StructuralStage stage = solve(pool, *loss, penalty, 0.3, options);
      EXPECT_EQ(stage.stop, StructuralStop::optimal) << loss->name() << which;
      EXPECT_LE(stage.objective - expected, 1e-5 * expected) << loss->name() << which;
      EXPECT_LE(stage.objective - expected, (stage.gap + 1e-8) * expected) << loss->name() << which;
    }
  }
}

/// One row per class, separated by every column. The weights grow until the loss has hardly any curvature; a
/// step that relies on the curvature at the last point would be unbounded.
TEST(structural, classes_far_apart_are_solved_for_small_lambdas_too) {
  constexpr Index bits = 4, classes = 16;
  const BinaryCode code(bits, 2.0F * bits);
  const Matrix x(code.x);
  const MulticlassLogistic loss(code.label, classes, std::vector<double>(classes, 1.0 / classes), 0.0);
  for (const char* name : {"l1", "l1l2", "l1linf"}) {
    for (const double lambda : {1e-2, 1e-3, 1e-4}) {
      ColumnPool pool(x);
      const auto stage = solve(pool, loss, *penalty_from(name), lambda, precise(false));
      EXPECT_LE(stage.gap, 1e-5) << name << lambda;
    }
  }
}

TEST(structural, every_lambda_of_a_path_is_certified_and_the_same_for_any_number_of_threads) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  for (const char* name : {"l1", "l1l2", "l1linf"}) {
    const auto penalty = penalty_from(name);
    std::vector<StructuralResult> results;
    for (const int count : {1, 3}) {
      ThreadPool threads(count);
      const Context context{threads};
      ColumnPool pool(x);
      StructuralBooster booster(pool, *losses[0], *penalty, {}, context);
      results.push_back(structural_path(booster, lambda_grid(booster.lambda_max(), 20, 0.01), context));
    }
    for (std::size_t l = 0; l < results[0].stages.size(); ++l) {
      EXPECT_LE(results[0].stages[l].gap, 1e-4);
      EXPECT_EQ(results[0].stages[l].weights, results[1].stages[l].weights);
      EXPECT_EQ(results[0].stages[l].columns, results[1].stages[l].columns);
    }
    EXPECT_TRUE(results[0].stages.front().columns.empty());
    EXPECT_EQ(static_cast<Index>(results[0].stages.back().columns.size()), kColumns);
  }
}

TEST(structural, a_row_of_weight_three_is_three_rows) {
  const DenseMatrix dense = small_matrix();
  const auto labels = random_labels(dense, kClasses, 3);
  std::vector<double> weights(kRows, 1.0);
  std::vector<Index> repeated;
  for (Index i = 0; i < kRows; ++i) {
    if (i % 4 == 0) weights[static_cast<std::size_t>(i)] = 3;
    for (int copy = 0; copy < (i % 4 == 0 ? 3 : 1); ++copy) repeated.push_back(i);
  }
  const auto total = static_cast<double>(repeated.size());
  for (double& w : weights) w /= total;
  const Matrix x(dense), longer = x.select_rows(repeated);
  std::vector<std::int32_t> longer_labels;
  for (const Index i : repeated) longer_labels.push_back(labels[static_cast<std::size_t>(i)]);
  const MulticlassLogistic weighted(labels, kClasses, weights, 0.0);
  const MulticlassLogistic plain(longer_labels, kClasses, test::equal_weights(longer.rows()), 0.0);
  ColumnPool pool(x), longer_pool(longer);
  const L1L2 penalty;
  StructuralOptions options = precise(true);
  options.tolerance = 1e-14;
  const StructuralStage a = solve(pool, weighted, penalty, 0.01, options);
  const StructuralStage b = solve(longer_pool, plain, penalty, 0.01, options);
  EXPECT_NEAR(a.objective, b.objective, 1e-12);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t at = 0; at < a.weights.size(); ++at) EXPECT_NEAR(a.weights[at], b.weights[at], 1e-8);
}

TEST(structural, a_cost_multiplies_the_penalty_as_dividing_the_column_does) {
  DenseMatrix dense = small_matrix();
  const auto labels = random_labels(dense, kClasses, 3);
  const MulticlassLogistic loss(labels, kClasses, test::equal_weights(kRows), 0.0);
  const L1L2 penalty;
  const Matrix x(dense);
  ColumnPool pool(x);
  StructuralOptions options = precise(true);
  for (Index j = 0; j < kColumns; ++j) options.cost.push_back(j % 2 == 0 ? 1 : 2);
  const StructuralStage costly = solve(pool, loss, penalty, 0.01, options);
  for (Index j = 1; j < kColumns; j += 2) {
    for (float& v : dense.column_span(j)) v /= 2;
  }
  const Matrix scaled(dense);
  ColumnPool scaled_pool(scaled);
  EXPECT_NEAR(solve(scaled_pool, loss, penalty, 0.01, precise(true)).objective, costly.objective, 1e-10);
}

TEST(structural, sparse_columns_give_the_optimum_of_dense_ones) {
  DenseMatrix dense = small_matrix();
  SparseMatrix sparse;
  sparse.rows = kRows;
  sparse.cols = kColumns;
  sparse.start.push_back(0);
  for (Index j = 0; j < kColumns; ++j) {
    for (Index i = 0; i < kRows; ++i) {
      if ((i + j) % 3 != 0) dense(i, j) = 0;
      if (dense(i, j) == 0) continue;
      sparse.row.push_back(static_cast<std::uint32_t>(i));
      sparse.value.push_back(dense(i, j));
    }
    sparse.start.push_back(sparse.nonzeros());
  }
  const auto losses = all_losses(dense);
  const Matrix a(dense), b(sparse);
  ColumnPool dense_pool(a), sparse_pool(b);
  const L1 penalty;
  for (const auto& loss : losses) {
    EXPECT_NEAR(solve(dense_pool, *loss, penalty, 0.01, precise(true)).objective,
                solve(sparse_pool, *loss, penalty, 0.01, precise(true)).objective, 1e-9);
  }
}

/// A pool that computes its candidates must give the same result as stored columns of the same candidates.
TEST(structural, induction_over_virtual_products_reaches_the_optimum_over_all_of_them) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(2);
  ProductPool products(x, {}, threads);
  DenseMatrix all(kRows, products.candidates());
  for (Index j = 0; j < products.candidates(); ++j) products.values(j, all, j);
  const Matrix stored(all);
  ColumnPool columns(stored);
  const auto losses = all_losses(dense);
  for (const char* name : {"l1", "l1l2", "l1linf"}) {
    const auto penalty = penalty_from(name);
    const StructuralStage induced = solve(products, *losses[0], *penalty, 0.01, precise(true));
    const StructuralStage whole = solve(columns, *losses[0], *penalty, 0.01, precise(true));
    EXPECT_LE(induced.gap, 1e-7);
    EXPECT_NEAR(induced.objective, whole.objective, 1e-9);
  }
}

TEST(structural, products_of_products_are_induced_and_lower_the_objective) {
  const DenseMatrix dense = small_matrix();
  std::vector<double> target;
  for (Index i = 0; i < kRows; ++i)
    target.push_back(static_cast<double>(3 * dense(i, 0) + 5 * dense(i, 0) * dense(i, 1)));
  const SmoothInsensitive loss(target, test::equal_weights(kRows), 0.1);
  const Matrix x(dense);
  const L1 penalty;
  ColumnPool columns(x);
  InducedProductPool products(x);
  StructuralOptions options = precise(true);
  options.tolerance = 1e-6;
  options.induce = 30;
  const StructuralStage plain = solve(columns, loss, penalty, 0.01, options);
  const StructuralStage cubic = solve(products, loss, penalty, 0.01, options);
  EXPECT_EQ(cubic.stop, StructuralStop::optimal);
  EXPECT_LT(cubic.objective, 0.9 * plain.objective);
  EXPECT_GT(products.candidates(), kColumns);
}

TEST(structural, forward_greedy_adaboost_lowers_the_loss_every_round) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  const NoPenalty penalty;
  StructuralOptions options = precise(true);
  options.corrective = false;
  options.rounds = 25;
  options.row_update = std::make_shared<AdaBoostUpdate>(*losses[1], penalty);
  ThreadPool threads(1);
  ColumnPool pool(x);
  StructuralBooster booster(pool, *losses[1], penalty, options, Context{threads});
  double last = 1e300;
  Index rounds = 0;
  booster.after_round([&](Index, const ActiveSetSolver& solver, double) {
    EXPECT_LE(solver.loss_value(), last + 1e-12);
    last = solver.loss_value();
    ++rounds;
  });
  EXPECT_EQ(booster.solve(0).stop, StructuralStop::rounds);
  EXPECT_EQ(rounds, 26);
}

TEST(structural, rounds_are_counted_from_one_and_end_where_asked) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto losses = all_losses(dense);
  const auto penalty = penalty_from("l1");
  StructuralOptions options = precise(true);
  options.induce = 1;
  options.rounds = 2;
  ThreadPool threads(1);
  ColumnPool pool(x);
  StructuralBooster booster(pool, *losses[0], *penalty, options, Context{threads});
  std::vector<Index> numbers;
  booster.after_round([&](Index number, const ActiveSetSolver& solver, double) {
    numbers.push_back(number);
    EXPECT_EQ(std::ssize(booster.slots()), solver.size());
  });
  EXPECT_EQ(booster.solve(0.01 * booster.lambda_max()).stop, StructuralStop::rounds);
  EXPECT_EQ(numbers, (std::vector<Index>{1, 2}));
}

}  // namespace
}  // namespace sharelearn
