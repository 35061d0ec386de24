// lambda_max of every loss and penalty, in closed form or with a bias found by bisection.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"
#include "structural_problem.hpp"

namespace sharelearn {
namespace {

using namespace test;

TEST(structural, lambda_max_is_where_the_first_row_enters) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  for (const auto& loss : all_losses(dense)) {
    for (const char* name : {"l1", "l1l2", "l1linf"}) {
      const auto penalty = penalty_from(name);
      ColumnPool pool(x);
      StructuralBooster booster(pool, *loss, *penalty, precise(true), Context{threads});
      const double top = booster.lambda_max();
      EXPECT_TRUE(booster.solve(top * (1 + 1e-7)).columns.empty()) << loss->name() << name;
      EXPECT_FALSE(booster.solve(top * (1 - 1e-2)).columns.empty()) << loss->name() << name;
    }
  }
}

/// Without features the multiclass bias reproduces the class frequencies, so lambda_max has a closed form.
TEST(structural, lambda_max_of_the_multiclass_loss_is_exact) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  const auto labels = random_labels(dense, kClasses, 3);
  const auto weights = uneven_weights();
  double share[kClasses] = {};
  for (std::size_t i = 0; i < labels.size(); ++i) share[labels[i]] += weights[i];
  double expected = 0;
  for (Index j = 0; j < kColumns; ++j) {
    double square = 0;
    for (Index c = 0; c < kClasses; ++c) {
      double g = 0;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        g += static_cast<double>(dense(static_cast<Index>(i), j)) * weights[i] *
             (share[c] - (labels[i] == c ? 1.0 : 0.0));
      }
      square += g * g;
    }
    expected = std::max(expected, std::sqrt(square));
  }
  ThreadPool threads(1);
  ColumnPool pool(x);
  const MulticlassLogistic loss(labels, kClasses, weights, 0.0);
  const L1L2 penalty;
  StructuralBooster booster(pool, loss, penalty, {}, Context{threads});
  EXPECT_NEAR(booster.lambda_max(), expected, 1e-8 * expected);
}

/// The bias for which the residuals of every output sum to zero, by bisection on one output after another.
std::vector<double> bisected_bias(const Loss& loss) {
  const Index k = loss.outputs();
  std::vector<double> bias(static_cast<std::size_t>(k), 0.0);
  Grid<double> scores(kRows, k), residual(kRows, k);
  for (int cycle = 0; cycle < 80; ++cycle) {
    for (Index c = 0; c < k; ++c) {
      double low = -20, high = 20;
      for (int halving = 0; halving < 60; ++halving) {
        bias[static_cast<std::size_t>(c)] = (low + high) / 2;
        for (Index d = 0; d < k; ++d) {
          std::fill_n(scores.column(d), kRows, bias[static_cast<std::size_t>(d)]);
        }
        loss.block({0, kRows}, scores, &residual);
        const auto column = residual.column_span(c);
        (std::accumulate(column.begin(), column.end(), 0.0) > 0 ? high : low) =
            bias[static_cast<std::size_t>(c)];
      }
    }
  }
  return bias;
}

double norm_of_gradient(std::string_view penalty, const std::vector<double>& gradient) {
  double sum = 0, square = 0, most = 0;
  for (const double g : gradient) {
    sum += std::abs(g);
    square += g * g;
    most = std::max(most, std::abs(g));
  }
  return penalty == "l1" ? most : penalty == "l1l2" ? std::sqrt(square) : sum;
}

TEST(structural, lambda_max_is_exact_for_every_loss_and_penalty) {
  const DenseMatrix dense = small_matrix();
  const Matrix x(dense);
  ThreadPool threads(1);
  for (const auto& loss : all_losses(dense)) {
    for (const bool bias : {true, false}) {
      const auto k = static_cast<std::size_t>(loss->outputs());
      const std::vector<double> fitted = bias ? bisected_bias(*loss) : std::vector<double>(k, 0.0);
      Grid<double> scores(kRows, loss->outputs()), residual(kRows, loss->outputs());
      for (std::size_t c = 0; c < k; ++c) {
        std::fill_n(scores.column(static_cast<Index>(c)), kRows, fitted[c]);
      }
      loss->block({0, kRows}, scores, &residual);
      for (const char* name : {"l1", "l1l2", "l1linf"}) {
        double expected = 0;
        for (Index j = 0; j < kColumns; ++j) {
          std::vector<double> gradient(k, 0.0);
          for (std::size_t c = 0; c < k; ++c) {
            for (Index i = 0; i < kRows; ++i) {
              gradient[c] += static_cast<double>(dense(i, j)) * residual(i, static_cast<Index>(c));
            }
          }
          expected = std::max(expected, norm_of_gradient(name, gradient));
        }
        const auto penalty = penalty_from(name);
        ColumnPool pool(x);
        StructuralBooster booster(pool, *loss, *penalty, precise(bias), Context{threads});
        EXPECT_NEAR(booster.lambda_max(), expected, 1e-8 * expected) << loss->name() << name << bias;
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
