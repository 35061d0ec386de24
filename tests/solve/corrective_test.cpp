#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "solve/corrective_solver.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

struct Problem {
  DenseMatrix x;
  MulticlassLogistic loss;
  explicit Problem(Index rows = 300, Index columns = 6, Index classes = 4, std::uint64_t seed = 1)
      : x(test::random_dense(rows, columns, seed)),
        loss(test::random_labels(x, classes, seed), classes, test::equal_weights(rows), 1) {}
};

/// Norm of the objective's gradient by central differences, independent of all gradient code.
double gradient_by_differences(const DesignProblem& problem, const std::vector<double>& w) {
  Grid<double> scores(problem.rows(), problem.outputs());
  const auto value = [&](const std::vector<double>& at) {
    problem.scores(at, scores);
    return evaluate(problem.loss(), scores, nullptr, problem.threads()) + problem.add_penalty(at, {});
  };
  double square = 0;
  for (std::size_t v = 0; v < w.size(); ++v) {
    std::vector<double> up(w), down(w);
    up[v] += 1e-5;
    down[v] -= 1e-5;
    const double slope = (value(up) - value(down)) / 2e-5;
    square += slope * slope;
  }
  return std::sqrt(square);
}

TEST(Corrective, every_method_reaches_a_point_with_no_gradient_for_every_penalty) {
  ThreadPool threads(2);
  Problem p;
  for (const SmoothPenalty& penalty :
       {SmoothPenalty{}, SmoothPenalty{.ridge = 0.01}, SmoothPenalty{.l1 = 0.01, .beta = 5},
        SmoothPenalty{.l1_linf = 0.02, .beta = 5}}) {
    for (const bool bias : {false, true}) {
      const DesignProblem problem(p.x, 6, p.loss, bias, penalty, threads);
      std::vector<double> objective;
      for (const auto method :
           {CorrectiveMethod::newton, CorrectiveMethod::lbfgs, CorrectiveMethod::nesterov}) {
        CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
        CorrectiveOptions options{.method = method, .tolerance = 1e-12, .max_iterations = 20000};
        const CorrectiveReport report = minimise(problem, options, state);
        EXPECT_TRUE(report.converged);
        EXPECT_LT(gradient_by_differences(problem, state.w), 1e-5);
        EXPECT_NEAR(report.objective, report.loss + report.penalty, 1e-12);
        objective.push_back(report.objective);
      }
      EXPECT_NEAR(objective[0], objective[1], 1e-9);
      EXPECT_NEAR(objective[0], objective[2], 1e-9);
    }
  }
}

/// The definitions written out: scores, the loss of eqn (3) and its gradient, row by row with std::exp.
TEST(Corrective, a_step_gives_the_scores_loss_and_gradient_of_the_definition) {
  ThreadPool threads(2);
  const Index rows = 1301, columns = 5,
              k = 4;  // multiples neither of the vector length nor of the block size
  Problem p(rows, columns, k, 7);
  const std::vector<std::int32_t> label = test::random_labels(p.x, k, 7);
  const SmoothPenalty none;
  const DesignProblem problem(p.x, columns, p.loss, true, none, threads);
  Grid<double> from(rows, k), to(rows, k), residual(rows, k);
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < rows; ++i) from(i, c) = 40 * std::sin(static_cast<double>(i * k + c));
  }
  std::vector<double> move(problem.variables()), gradient(problem.variables());
  for (std::size_t v = 0; v < move.size(); ++v) move[v] = std::cos(static_cast<double>(v));
  const double loss = problem.advance(from, move, to, residual, gradient);

  double expected_loss = 0;
  std::vector<double> expected(move.size(), 0.0);
  for (Index i = 0; i < rows; ++i) {
    const auto y = static_cast<Index>(label[static_cast<std::size_t>(i)]);
    std::vector<double> score, term;
    for (Index c = 0; c < k; ++c) {
      score.push_back(from(i, c) + move[static_cast<std::size_t>(columns * k + c)]);
      for (Index a = 0; a < columns; ++a) {
        score.back() += static_cast<double>(p.x(i, a)) * move[static_cast<std::size_t>(a * k + c)];
      }
      EXPECT_NEAR(to(i, c), score.back(), 1e-12 * (1 + std::abs(score.back())));
    }
    double sum = 0;
    for (Index c = 0; c < k; ++c) {
      const auto at = static_cast<std::size_t>(c);
      term.push_back(std::exp((c == y ? 0.0 : 1.0) + score[at] - score[static_cast<std::size_t>(y)]));
      sum += term.back();
    }
    expected_loss += std::log(sum) / static_cast<double>(rows);
    for (Index c = 0; c < k; ++c) {
      const double slope = (term[static_cast<std::size_t>(c)] / sum - (c == y ? 1 : 0)) / rows;
      for (Index a = 0; a <= columns; ++a) {
        const double x = a < columns ? static_cast<double>(p.x(i, a)) : 1.0;
        expected[static_cast<std::size_t>(a * k + c)] += x * slope;
      }
    }
  }
  EXPECT_NEAR(loss, expected_loss, 1e-12 * expected_loss);
  for (std::size_t v = 0; v < gradient.size(); ++v) EXPECT_NEAR(gradient[v], expected[v], 1e-13);
}

TEST(Corrective, newton_needs_few_passes_where_scales_differ) {
  ThreadPool threads(1);
  Problem p(1000, 20, 5, 3);
  for (Index i = 0; i < 1000; ++i) p.x(i, 0) *= 1000, p.x(i, 1) *= 0.001F;
  const SmoothPenalty none;
  const DesignProblem problem(p.x, 20, p.loss, true, none, threads);
  CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
  const CorrectiveReport report =
      minimise(problem, {.method = CorrectiveMethod::newton, .tolerance = 1e-9}, state);
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.iterations, 12);
  EXPECT_LE(report.passes, 120);
}

TEST(Corrective, columns_that_repeat_each_other_do_no_harm) {
  ThreadPool threads(1);
  Problem p(400, 5, 3, 4);
  std::copy_n(p.x.column(0), 400, p.x.column(4));
  const SmoothPenalty none;
  CorrectiveState with{std::vector<double>(5 * 3, 0.0), {}, {}},
      without{std::vector<double>(4 * 3, 0.0), {}, {}};
  const auto a = minimise(DesignProblem(p.x, 5, p.loss, false, none, threads), {.tolerance = 1e-11}, with);
  const auto b = minimise(DesignProblem(p.x, 4, p.loss, false, none, threads), {.tolerance = 1e-11}, without);
  EXPECT_NEAR(a.objective, b.objective, 1e-9);
}

TEST(Corrective, separable_data_stops_with_finite_weights) {
  ThreadPool threads(1);
  DenseMatrix x(40, 1);
  std::vector<std::int32_t> y;
  for (Index i = 0; i < 40; ++i) x(i, 0) = i < 20 ? -1.0F : 1.0F, y.push_back(i < 20 ? 0 : 1);
  const MulticlassLogistic loss(y, 2, test::equal_weights(40), 1);
  const SmoothPenalty none;
  const DesignProblem problem(x, 1, loss, false, none, threads);
  CorrectiveState state{{0, 0}, {}, {}};
  const CorrectiveReport report = minimise(problem, {.tolerance = 1e-10}, state);
  EXPECT_TRUE(report.converged);
  EXPECT_LT(report.loss, 1e-5);
  for (const double w : state.w) EXPECT_LT(std::abs(w), 100);
}

/// Classes around separate centres, most of them separable.
struct Blobs {
  std::vector<std::int32_t> label;
  DenseMatrix x;
  MulticlassLogistic loss;
  Blobs(Index rows, Index columns, Index classes, std::uint64_t seed)
      : label(static_cast<std::size_t>(rows)),
        x(test::random_dense(rows, columns, seed)),
        loss(labels(classes), classes, test::equal_weights(rows), 1) {
    const DenseMatrix centre = test::random_dense(classes, columns, seed + 1000);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) x(i, j) += 4 * centre(label[static_cast<std::size_t>(i)], j);
    }
  }
  std::vector<std::int32_t> labels(Index classes) {
    for (std::size_t i = 0; i < label.size(); ++i) {
      label[i] = static_cast<std::int32_t>(static_cast<Index>(i) % classes);
    }
    return label;
  }
};

/// As in ShareBoost: one more column in each step, starting from the previous weights. Once the curvature has
/// vanished, a full Newton step can lead anywhere.
TEST(Corrective, on_classes_that_can_be_separated_the_objective_falls_all_the_way) {
  ThreadPool threads(1);
  const SmoothPenalty none;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Index classes = 3 + static_cast<Index>(seed % 4);
    const Blobs p(seed % 2 == 0 ? 12 : 60, 6, classes, seed);
    for (const auto method : {CorrectiveMethod::lbfgs, CorrectiveMethod::newton}) {
      CorrectiveState state{std::vector<double>(static_cast<std::size_t>(classes), 0.0), {}, {}};
      double before = 1e300;
      for (Index columns = 0; columns <= 6; ++columns) {
        const DesignProblem problem(p.x, columns, p.loss, true, none, threads);
        const CorrectiveReport report = minimise(problem, {.method = method}, state);
        EXPECT_LE(report.objective, before + 1e-12) << "seed " << seed << ", " << columns << " columns";
        before = report.objective;
        state.w.insert(state.w.end() - classes, static_cast<std::size_t>(classes), 0.0);
      }
      EXPECT_LT(before, 1e-6) << seed;
    }
  }
}

/// The optimum does not depend on the units of a column.
TEST(Corrective, columns_of_very_different_scales_have_the_optimum_of_equal_ones) {
  ThreadPool threads(1);
  const SmoothPenalty none;
  Problem p(200, 4, 3, 3);
  std::vector<double> objective;
  for (const bool scaled : {false, true}) {
    for (Index j = 0; scaled && j < 4; ++j) {
      for (Index i = 0; i < 200; ++i) p.x(i, j) *= j % 2 == 0 ? 1e6F : 1e-4F;
    }
    const DesignProblem problem(p.x, 4, p.loss, true, none, threads);
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    objective.push_back(minimise(problem, {}, state).objective);
  }
  EXPECT_NEAR(objective[1], objective[0], 1e-6);
}

/// Adding the same number to the weights of all classes changes no prediction, so only the solver can prevent
/// drift.
TEST(Corrective, weights_do_not_drift_where_the_loss_is_flat) {
  ThreadPool threads(1);
  const SmoothPenalty none, ridge{.ridge = 1e-3};
  Problem p;
  for (const auto method : {CorrectiveMethod::newton, CorrectiveMethod::lbfgs}) {
    for (const SmoothPenalty& penalty : {none, ridge}) {
      const DesignProblem problem(p.x, 6, p.loss, true, penalty, threads);
      CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
      minimise(problem, {.method = method, .tolerance = 1e-12}, state);
      for (std::size_t a = 0; a < state.w.size(); a += 4) {
        EXPECT_NEAR(state.w[a] + state.w[a + 1] + state.w[a + 2] + state.w[a + 3], 0, 1e-6);
      }
    }
  }
}

TEST(Corrective, any_number_of_threads_gives_the_same_bits) {
  Problem p(3000, 12, 5, 5);
  const SmoothPenalty ridge{.ridge = 1e-4};
  std::vector<std::vector<double>> weights;
  for (const int count : {1, 2, 7}) {
    ThreadPool threads(count);
    const DesignProblem problem(p.x, 12, p.loss, true, ridge, threads);
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    minimise(problem, {}, state);
    weights.push_back(state.w);
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[2]);
}

/// The columns a and a + 1e-4 b span the same space as a and b, so the optimum is the same; only the first
/// basis is nearly collinear. The problem is above the size up to which Newton's method confirms every
/// optimum.
TEST(Corrective, nearly_collinear_columns_reach_the_optimum_of_their_span_or_say_that_they_do_not) {
  ThreadPool threads(2);
  const Index rows = 24000, half = 8, k = 3;
  const DenseMatrix plain = test::random_dense(rows, 2 * half, 3);
  DenseMatrix close(rows, 2 * half), span(rows, 2 * half);
  for (Index j = 0; j < half; ++j) {
    for (Index i = 0; i < rows; ++i) {
      close(i, j) = span(i, j) = plain(i, j);
      close(i, j + half) = plain(i, j) + 1e-4F * plain(i, j + half);
      span(i, j + half) = 1e4F * (close(i, j + half) - close(i, j));
    }
  }
  const MulticlassLogistic loss(test::random_labels(plain, k, 4), k, test::equal_weights(rows), 1);
  double objective[2] = {};
  for (const bool collinear : {false, true}) {
    const SmoothPenalty none;
    const DesignProblem problem(collinear ? close : span, 2 * half, loss, true, none, threads);
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    const CorrectiveReport report = minimise(problem, {}, state);
    EXPECT_TRUE(report.converged) << collinear;
    EXPECT_LE(report.expected_decrease, 1e-8) << collinear;
    objective[collinear ? 1 : 0] = report.objective;
  }
  EXPECT_NEAR(objective[1], objective[0], 1e-6);
}

TEST(Corrective, a_correction_cut_short_is_not_called_converged) {
  ThreadPool threads(1);
  Problem p;
  const SmoothPenalty none;
  const DesignProblem problem(p.x, 6, p.loss, true, none, threads);
  for (const auto method : {CorrectiveMethod::newton, CorrectiveMethod::lbfgs}) {
    CorrectiveState state{std::vector<double>(problem.variables(), 0.0), {}, {}};
    const CorrectiveReport report = minimise(problem, {.method = method, .max_iterations = 1}, state);
    EXPECT_FALSE(report.converged);
    EXPECT_LE(report.expected_decrease, report.objective);
  }
}

}  // namespace
}  // namespace sharelearn
