// Shortcuts of a path: candidates that the strong rule screens out, and factors of penalties that set nothing
// to zero; also AdaBoost's update of all rows at once. All are checked by optimality conditions computed from
// the weights alone.
#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "solve/active_set.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr Index kClasses = 3;

/// Each column is correlated with the one before, so that rows of W leave and come back along a path.
DenseMatrix chained_columns(Index rows, Index columns) {
  Random random(4);
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) {
      const auto fresh = static_cast<float>(random.uniform(-1, 1));
      x(i, j) = j == 0 ? fresh : 0.8F * x(i, j - 1) + 0.6F * fresh;
    }
  }
  return x;
}

MulticlassLogistic loss_over(const DenseMatrix& x) {
  return {test::random_labels(x, kClasses, 3), kClasses,
          std::vector<double>(static_cast<std::size_t>(x.rows()), 1.0 / static_cast<double>(x.rows())), 0.0};
}

/// A pool of columns that counts how often all of them are scored.
class CountingPool : public ColumnPool {
 public:
  using ColumnPool::ColumnPool;
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override {
    ++scans;
    ColumnPool::correlate(residual, threads, visit);
  }
  mutable int scans = 0;
};

/// X' residual of a stage over columns, [column][class], in plain loops.
std::vector<double> gradient_of(const DenseMatrix& x, const Loss& loss, const StructuralResult& result,
                                const StructuralStage& stage) {
  Grid<double> scores(x.rows(), kClasses), residual(x.rows(), kClasses);
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < x.rows(); ++i) {
      double s = stage.bias[static_cast<std::size_t>(c)];
      for (std::size_t a = 0; a < stage.columns.size(); ++a) {
        const auto& feature = *result.features[static_cast<std::size_t>(stage.columns[a])];
        s += static_cast<double>(x(i, feature.inputs().front())) *
             stage.weights[a * kClasses + static_cast<std::size_t>(c)];
      }
      scores(i, c) = s;
    }
  }
  for (Index block = 0; block < blocks_of(x.rows()); ++block) {
    loss.block(block_range(block, x.rows()), scores, &residual);
  }
  std::vector<double> gradient;
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index c = 0; c < kClasses; ++c) {
      double sum = 0;
      for (Index i = 0; i < x.rows(); ++i) sum += static_cast<double>(x(i, j)) * residual(i, c);
      gradient.push_back(sum);
    }
  }
  return gradient;
}

TEST(structural_path, is_optimal_over_discarded_candidates_and_scans_the_pool_about_once_per_lambda) {
  const DenseMatrix x = chained_columns(400, 300);
  const MulticlassLogistic loss = loss_over(x);
  ThreadPool threads(2);
  const Context context{threads};
  for (const auto* name : {"l1", "l1l2", "l1linf"}) {
    const auto penalty = penalty_from(name);
    const Matrix matrix(x);
    CountingPool pool(matrix);
    StructuralOptions options;
    options.tolerance = 1e-7;
    StructuralBooster booster(pool, loss, *penalty, options, context);
    const auto lambdas = lambda_grid(booster.lambda_max(), 25, 0.1);
    const StructuralResult result = structural_path(booster, lambdas, context);
    EXPECT_LE(pool.scans, 2 * std::ssize(lambdas)) << name;
    for (const StructuralStage& stage : result.stages) {
      EXPECT_EQ(stage.stop, StructuralStop::optimal);
      const std::vector<double> gradient = gradient_of(x, loss, result, stage);
      for (Index j = 0; j < x.cols(); ++j) {
        const double norm = penalty->dual_norm({gradient.data() + j * kClasses, kClasses});
        EXPECT_LE(norm, stage.lambda * (1 + 1e-4)) << name << " column " << j;
      }
    }
  }
}

TEST(structural_path, squared_l2_with_more_columns_than_factors_pay_for_is_stationary) {
  const DenseMatrix x = chained_columns(60, 200);
  const MulticlassLogistic loss = loss_over(x);
  ThreadPool threads(1);
  const Context context{threads};
  const L2Squared penalty;
  const Matrix matrix(x);
  ColumnPool pool(matrix);
  StructuralOptions options;
  options.tolerance = 1e-12;
  StructuralBooster booster(pool, loss, penalty, options, context);
  const StructuralResult result = structural_path(booster, {1e-1, 1e-3}, context);
  for (const StructuralStage& stage : result.stages) {
    ASSERT_EQ(std::ssize(stage.columns), x.cols());
    const std::vector<double> gradient = gradient_of(x, loss, result, stage);
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      const Index j = result.features[static_cast<std::size_t>(stage.columns[a])]->inputs().front();
      for (std::size_t c = 0; c < kClasses; ++c) {
        EXPECT_NEAR(gradient[static_cast<std::size_t>(j * kClasses) + c],
                    -2 * stage.lambda * stage.weights[a * kClasses + c], 1e-6);
      }
    }
  }
}

TEST(adaboost, updates_of_all_rows_together_lower_the_objective_every_time_and_end_at_the_optimum) {
  const DenseMatrix x = chained_columns(120, 5);
  const MulticlassLogistic loss = loss_over(x);
  ThreadPool threads(1);
  for (const auto* name : {"l1", "l1linf"}) {
    const auto penalty = penalty_from(name);
    ActiveSetSolver solver(loss, *penalty, true, threads);
    for (Index j = 0; j < x.cols(); ++j) solver.add(x.column(j));
    solver.use_row_update(std::make_shared<AdaBoostUpdate>(loss, *penalty, AdaBoostTemplate::all));
    constexpr double kLambda = 0.01;
    double before = solver.objective(kLambda);
    for (int cycle = 0; cycle < 50; ++cycle) {
      solver.minimise(kLambda, 1e-12, 1);
      EXPECT_LE(solver.objective(kLambda), before) << name << " cycle " << cycle;
      before = solver.objective(kLambda);
    }
    const ActiveSetReport report = solver.minimise(kLambda, 1e-6, 100000);
    EXPECT_TRUE(report.converged) << name;
    for (const double norm : solver.dual_norms()) EXPECT_LE(norm, kLambda * (1 + 1e-3)) << name;
  }
}

}  // namespace
}  // namespace sharelearn
