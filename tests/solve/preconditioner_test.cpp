// Removing columns from a quadratic model, compared with minimising over the remaining columns from scratch.
#include "solve/preconditioner.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

/// Parameters: number of columns and of outputs.
class Reductions : public ::testing::TestWithParam<std::pair<Index, Index>> {
 protected:
  Reductions()
      : columns(GetParam().first),
        outputs(GetParam().second),
        x(test::random_dense(60, columns, 3)),
        loss(test::random_labels(x, outputs, 3), outputs, test::equal_weights(60), 1),
        problem(x, columns, loss, true, penalty, threads),
        scores(60, outputs),
        scratch(60, outputs),
        preconditioner(problem, scores, scratch) {}

  /// H, from the results of apply() on the unit vectors.
  Eigen::MatrixXd hessian() const {
    const auto size = static_cast<Index>(problem.variables());
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
    for (Index v = 0; v < size; ++v) {
      preconditioner.apply({inverse.col(v).data(), static_cast<std::size_t>(size)});
    }
    return inverse.inverse();
  }

  /// The minimum of 1/2 (v - w)' H (v - w) over all v that are zero in the columns `gone`, and the minimiser.
  std::pair<double, Eigen::VectorXd> least_without(const Eigen::MatrixXd& h, const Eigen::VectorXd& w,
                                                   const std::vector<Index>& gone) const {
    std::vector<Index> free;
    for (Index v = 0; v < w.size(); ++v) {
      if (std::ranges::find(gone, v / outputs) == gone.end()) free.push_back(v);
    }
    const Eigen::VectorXd target = h * w;
    Eigen::VectorXd v = Eigen::VectorXd::Zero(w.size());
    const Eigen::VectorXd solved = Eigen::MatrixXd(h(free, free)).llt().solve(Eigen::VectorXd(target(free)));
    v(free) = solved;
    return {0.5 * (v - w).dot(h * (v - w)), v};
  }

  Index columns, outputs;
  ThreadPool threads{2};
  SmoothPenalty penalty{.ridge = 0.01};
  DenseMatrix x;
  MulticlassLogistic loss;
  DesignProblem problem;
  Grid<double> scores, scratch;
  Preconditioner preconditioner;
};

TEST_P(Reductions, remove_the_column_whose_removal_raises_the_quadratic_least) {
  const Eigen::MatrixXd h = hessian();
  const Eigen::VectorXd w = Eigen::VectorXd::Random(h.rows());
  const Reduction reduction = preconditioner.reduce({w.data(), problem.variables()}, 1, {}, 3);
  ASSERT_EQ(reduction.leaving.size(), 3u);
  std::vector<Index> gone;
  double before = 0;
  for (const Reduction::Part& part : reduction.leaving) {
    const auto least_also_without = [&](Index column) {
      std::vector<Index> with = gone;
      with.push_back(column);
      return least_without(h, w, with).first;
    };
    const double least = least_also_without(part.group);
    EXPECT_NEAR(part.rise, least - before, 1e-7 * least);
    for (Index j = 0; j < columns; j += std::max<Index>(columns / 4, 1)) {  // a few of many columns
      if (std::ranges::find(gone, j) == gone.end()) {
        EXPECT_GE(least_also_without(j), least * (1 - 1e-9));
      }
    }
    before = least;
    gone.push_back(part.group);
  }
  const Eigen::VectorXd expected = least_without(h, w, gone).second;
  for (Index v = 0; v < w.size(); ++v) {
    EXPECT_NEAR(reduction.w[static_cast<std::size_t>(v)], expected(v), 1e-8);
  }
}

TEST_P(Reductions, restricted_to_some_columns_it_equals_one_built_from_them) {
  std::vector<Index> kept;
  for (Index j = columns - 1; j >= 0; --j) {
    if (j != 1) kept.push_back(j);
  }
  const auto restricted = preconditioner.restricted(kept);
  ASSERT_NE(restricted, nullptr);
  DenseMatrix fewer(60, columns - 1);
  for (std::size_t j = 0; j < kept.size(); ++j) {
    std::ranges::copy(x.column_span(kept[j]), fewer.column(static_cast<Index>(j)));
  }
  const DesignProblem smaller(fewer, columns - 1, loss, true, penalty, threads);
  const Preconditioner anew(smaller, scores, scratch);
  Eigen::VectorXd a = Eigen::VectorXd::Ones(static_cast<Index>(smaller.variables())), b = a;
  restricted->apply({a.data(), smaller.variables()});
  anew.apply({b.data(), smaller.variables()});
  EXPECT_LT((a - b).norm(), 1e-3 * b.norm());
}

TEST(Reduction, divides_the_rise_by_the_price) {
  ThreadPool threads(1);
  DenseMatrix x(40, 2);
  for (Index i = 0; i < 40; ++i) x(i, i % 2) = i % 4 < 2 ? 1.0f : -1.0f;
  const SmoothPenalty penalty{.ridge = 0.1};
  const MulticlassLogistic loss(test::random_labels(x, 2, 1), 2, test::equal_weights(40), 1);
  const DesignProblem problem(x, 2, loss, false, penalty, threads);
  Grid<double> scratch(40, 2);
  const Preconditioner preconditioner(problem, Grid<double>(40, 2), scratch);
  const std::vector<double> w{1.0, -1.0, 0.9, -0.9}, price{10.0, 1.0};
  EXPECT_EQ(preconditioner.reduce(w, 1, {}, 1).leaving.front().group, 1);
  EXPECT_EQ(preconditioner.reduce(w, 1, price, 1).leaving.front().group, 0);
}

// Up to 400 columns each output has its own factor; beyond that all outputs share one.
INSTANTIATE_TEST_SUITE_P(own_and_shared, Reductions,
                         ::testing::Values(std::pair<Index, Index>{6, 3}, std::pair<Index, Index>{405, 2}));

}  // namespace
}  // namespace sharelearn
