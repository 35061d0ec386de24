// Certificates over the whole pool, for every pool, loss and penalty: the optimum must not depend on how many
// candidates enter per round, and a slow routine that computes every column of every candidate must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/factory.hpp"
#include "structural_problem.hpp"

namespace sharelearn {
namespace {

using namespace test;

std::vector<PoolOptions> all_pools() {
  return {{.name = "columns"},
          {.name = "stumps", .bins = 8},
          {.name = "products"},
          {.name = "kernel", .support = 12, .support_by = "sample"},
          {.name = "pieces", .centres = 4, .radii = 3},
          {.name = "patches", .templates = "3:3", .mask_sigma = 2, .deskew = false}};
}

/// Images of 6 x 6 pixels, for patches.
DenseMatrix small_images() {
  Random random(4);
  DenseMatrix images(kRows, 36);
  for (Index j = 0; j < 36; ++j) {
    for (float& v : images.column_span(j)) v = static_cast<float>(random.below(256));
  }
  return images;
}

/// Norms dual to the penalties, written out.
double dual_norm(const std::string& penalty, const std::vector<double>& g) {
  double largest = 0, squares = 0, sum = 0;
  for (const double v : g) {
    largest = std::max(largest, std::abs(v));
    squares += v * v;
    sum += std::abs(v);
  }
  return penalty == "l1" ? largest : penalty == "l1l2" ? std::sqrt(squares) : sum;
}

double norm(const std::string& penalty, const double* w, Index k) {
  double largest = 0, squares = 0, sum = 0;
  for (Index c = 0; c < k; ++c) {
    largest = std::max(largest, std::abs(w[c]));
    squares += w[c] * w[c];
    sum += std::abs(w[c]);
  }
  return penalty == "l1"       ? sum
         : penalty == "l1l2"   ? std::sqrt(squares)
         : penalty == "l1linf" ? largest
                               : squares;
}

/// Objective and duality gap of a stage, from the values of all columns of all candidates in double
/// precision. Uses the features and weights that a model would store, the loss, and nothing of the booster.
struct Slow {
  double objective = 0, gap = 0;
  Slow(const Pool& pool, const Matrix& x, const Loss& loss, const std::string& penalty,
       const StructuralResult& result, ThreadPool& threads) {
    const StructuralStage& stage = result.stages.back();
    const Index m = loss.rows(), k = loss.outputs(), width = pool.width();
    Grid<double> scores(m, k), residual(m, k);
    for (Index c = 0; c < k; ++c) {
      std::fill_n(scores.column(c), m, stage.bias.empty() ? 0.0 : stage.bias[static_cast<std::size_t>(c)]);
    }
    Grid<float> values(m, width);
    const Scaling none;
    double of_penalty = 0;
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      const Index column = stage.columns[a];
      result.features[static_cast<std::size_t>(column / width)]->evaluate(ColumnView(x, none), values, 0);
      for (Index c = 0; c < k; ++c) {
        for (Index i = 0; i < m; ++i) {
          scores(i, c) += stage.weights[a * static_cast<std::size_t>(k) + static_cast<std::size_t>(c)] *
                          static_cast<double>(values(i, column % width));
        }
      }
      of_penalty += norm(penalty, stage.weights.data() + a * static_cast<std::size_t>(k), k);
    }
    objective = evaluate(loss, scores, &residual, threads) + stage.lambda * of_penalty;
    double largest = 0, conjugates = 0;
    for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
      pool.values(candidate, values, 0);
      for (Index w = 0; w < width; ++w) {
        const bool is_constant =
            std::all_of(values.column(w), values.column(w) + m, [&](float v) { return v == values(0, w); });
        if (is_constant && width == 1) continue;  // never a candidate
        std::vector<double> g(static_cast<std::size_t>(k), 0.0);
        for (Index c = 0; c < k; ++c) {
          for (Index i = 0; i < m; ++i) {
            g[static_cast<std::size_t>(c)] += static_cast<double>(values(i, w)) * residual(i, c);
          }
        }
        if (penalty == "l2sq") {
          for (const double v : g) conjugates += v * v / (4 * stage.lambda);
        } else {
          largest = std::max(largest, dual_norm(penalty, g));
        }
      }
    }
    const double scale = largest > stage.lambda ? stage.lambda / largest : 1.0;
    double charge = 0;  // of a bias whose residuals do not sum to zero
    for (Index c = 0; c < k && !stage.bias.empty(); ++c) {
      double sum = 0;
      for (Index i = 0; i < m; ++i) sum += scale * residual(i, c);
      charge += std::abs(sum) * (1 + std::abs(stage.bias[static_cast<std::size_t>(c)]));
    }
    gap = (objective + evaluate_conjugate(loss, residual, scale, threads) + conjugates + charge) / objective;
  }
};

TEST(structural_certificate, holds_for_every_pool_loss_and_penalty_however_many_candidates_enter) {
  const DenseMatrix dense = small_matrix(17);
  const Matrix columns(dense), images(small_images());
  const auto labels = random_labels(dense, kClasses, 3);
  auto losses = all_losses(dense);
  losses.push_back(squared_loss(dense));
  ThreadPool threads(2);
  int cases = 0;
  for (const PoolOptions& options : all_pools()) {
    const Matrix& x = *options.name == "patches" ? images : columns;
    for (const auto& loss : losses) {
      for (const std::string penalty_name : {"l1", "l1l2", "l1linf", "l2sq"}) {
        const auto penalty = penalty_from(penalty_name);
        double first = 0;
        for (const Index induce : {Index{0}, Index{1}, Index{1000000}}) {
          const auto pool = make_pool({x, labels, kClasses}, options, 1, threads);
          const StructuralOptions how{.tolerance = 1e-6, .induce = induce};
          StructuralBooster booster(*pool, *loss, *penalty, how, Context{threads});
          const double start = penalty->is_norm() ? booster.lambda_max() : 1.0;
          booster.solve(0.3 * start);
          const StructuralStage& stage = booster.solve(0.1 * start);
          const std::string name = *options.name + " " + std::string(loss->name()) + " " + penalty_name +
                                   " " + std::to_string(induce);
          EXPECT_EQ(stage.stop, StructuralStop::optimal) << name;
          const Slow slow(*pool, x, *loss, penalty_name, booster.result(), threads);
          EXPECT_NEAR(slow.objective, stage.objective, 1e-9 * stage.objective) << name;
          EXPECT_LE(slow.gap, 1.01 * how.tolerance) << name;
          EXPECT_NEAR(slow.gap, stage.gap, 1e-8) << name;
          if (induce == 0) first = stage.objective;
          EXPECT_NEAR(stage.objective, first, 2 * how.tolerance * first) << name;
          ++cases;
        }
      }
    }
  }
  RecordProperty("cases", cases);
  EXPECT_EQ(cases, 6 * 6 * 4 * 3);
}

}  // namespace
}  // namespace sharelearn
