// A small problem for the tests of ShareBoost's variants. Its columns differ in scale and informativeness.
// Its loss and gradients are computed independently of the library.
#pragma once

#include <cmath>
#include <vector>

#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::test {

constexpr Index kRows = 80, kColumns = 7, kClasses = 3;

struct ShareBoostProblem {
  explicit ShareBoostProblem(std::uint64_t seed) : x(DenseMatrix(kRows, kColumns)) {
    Random random(seed);
    for (Index i = 0; i < kRows; ++i) {
      const auto y = static_cast<std::int32_t>(random.below(kClasses));
      label.push_back(y);
      for (Index j = 0; j < kColumns; ++j) {
        // Columns differ in scale and in what they tell, so that the rules disagree.
        const double scale = 0.3 + 0.4 * static_cast<double>(j);
        const double told = j % 3 == y ? 1.0 : 0.0;
        x.owned_dense()(i, j) =
            static_cast<float>(scale * (random.normal() + (1.2 - 0.15 * static_cast<double>(j)) * told));
      }
    }
    weights.assign(kRows, 1.0 / kRows);
  }
  MulticlassLogistic loss() const { return MulticlassLogistic(label, kClasses, weights, 1.0); }

  /// The loss written out again.
  double value(const Grid<double>& scores) const {
    double sum = 0;
    for (Index i = 0; i < kRows; ++i) {
      const Index y = label[static_cast<std::size_t>(i)];
      double terms = 0;
      for (Index c = 0; c < kClasses; ++c)
        terms += std::exp((c != y ? 1.0 : 0.0) - scores(i, y) + scores(i, c));
      sum += std::log(terms) / kRows;
    }
    return sum;
  }
  /// The probability of class c in row i (eqn 3's margin included).
  double rho(const Grid<double>& scores, Index i, Index c) const {
    const Index y = label[static_cast<std::size_t>(i)];
    double terms = 0;
    for (Index d = 0; d < kClasses; ++d) terms += std::exp((d != y ? 1.0 : 0.0) + scores(i, d));
    return std::exp((c != y ? 1.0 : 0.0) + scores(i, c)) / terms;
  }
  /// Of the loss by the weights of a column with these values.
  std::vector<double> gradient(const Grid<double>& scores, const std::vector<double>& values) const {
    std::vector<double> g(kClasses, 0.0);
    for (Index i = 0; i < kRows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (Index c = 0; c < kClasses; ++c) {
        g[static_cast<std::size_t>(c)] +=
            values[row] * (rho(scores, i, c) - (c == label[row] ? 1.0 : 0.0)) / kRows;
      }
    }
    return g;
  }
  std::vector<double> gradient(const Grid<double>& scores, Index column) const {
    return gradient(scores, values(column));
  }
  std::vector<double> values(Index column) const {
    const auto span = x.dense().column_span(column);
    return {span.begin(), span.end()};
  }
  Grid<double> with_column(const Grid<double>& scores, Index column, const std::vector<double>& w) const {
    Grid<double> out(scores);
    for (Index c = 0; c < kClasses; ++c) {
      for (Index i = 0; i < kRows; ++i) out(i, c) += x.dense()(i, column) * w[static_cast<std::size_t>(c)];
    }
    return out;
  }

  Matrix x;
  std::vector<std::int32_t> label;
  std::vector<double> weights;
};

inline ShareBoostResult run(const ShareBoostProblem& problem, ShareBoostOptions options,
                            Grid<double>* scores = nullptr) {
  ColumnPool pool(problem.x);
  const MulticlassLogistic loss = problem.loss();
  ThreadPool threads(2);
  options.corrective.tolerance = 1e-12;
  return shareboost(pool, loss, options, {threads}, [&](const ShareBoostResult&, const Grid<double>& now) {
    if (scores != nullptr) *scores = now;
    return true;
  });
}

}  // namespace sharelearn::test
