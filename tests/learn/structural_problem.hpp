// A small problem for every loss, for the tests of structural boosting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/squared.hpp"
#include "sharelearn/loss/task_losses.hpp"
#include "support.hpp"

namespace sharelearn::test {

constexpr Index kRows = 150, kColumns = 9, kClasses = 3;

/// Small entries, so that simple methods converge in reasonable time.
inline DenseMatrix small_matrix(std::uint64_t seed = 11) {
  Random random(seed);
  DenseMatrix x(kRows, kColumns);
  for (Index j = 0; j < kColumns; ++j) {
    for (float& v : x.column_span(j)) v = static_cast<float>(random.uniform(-1, 1));
  }
  return x;
}

inline std::vector<double> uneven_weights() {
  Random random(5);
  std::vector<double> weights(kRows);
  double sum = 0;
  for (double& w : weights) sum += (w = random.uniform(0.5, 1.5));
  for (double& w : weights) w /= sum;
  return weights;
}

inline Tasks tasks_from(const std::vector<std::int32_t>& labels, bool partial) {
  Tasks tasks;
  for (Index c = 0; c < kClasses; ++c) tasks.names.push_back(std::to_string(c));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (Index c = 0; c < kClasses; ++c) {
      const bool silent = partial && static_cast<Index>(i) % kClasses != c;
      tasks.sign.push_back(silent ? 0 : labels[(i * 7) % labels.size()] == c || labels[i] == c ? 1 : -1);
    }
  }
  return tasks;
}

inline std::vector<std::unique_ptr<Loss>> all_losses(const DenseMatrix& x) {
  const auto labels = random_labels(x, kClasses, 3);
  std::vector<std::unique_ptr<Loss>> all;
  all.push_back(std::make_unique<MulticlassLogistic>(labels, kClasses, uneven_weights(), 0.0));
  all.push_back(std::make_unique<MultitaskLogistic>(tasks_from(labels, false), uneven_weights()));
  all.push_back(std::make_unique<MultitaskLogistic>(tasks_from(labels, true), uneven_weights()));
  all.push_back(std::make_unique<MultitaskExponential>(tasks_from(labels, false), uneven_weights()));
  std::vector<double> target;
  for (Index i = 0; i < kRows; ++i)
    target.push_back(2 * static_cast<double>(x(i, 0)) - labels[static_cast<std::size_t>(i)]);
  all.push_back(std::make_unique<SmoothInsensitive>(target, uneven_weights(), 0.2));
  return all;
}

/// Several targets that differ, for the squared loss.
inline std::unique_ptr<Loss> squared_loss(const DenseMatrix& x) {
  const auto labels = random_labels(x, kClasses, 3);
  Grid<double> several(kRows, kClasses);
  for (Index c = 0; c < kClasses; ++c) {
    for (Index i = 0; i < kRows; ++i)
      several(i, c) =
          static_cast<double>(c * labels[static_cast<std::size_t>(i)]) + 2 * static_cast<double>(x(i, c));
  }
  return std::make_unique<Squared>(std::move(several), uneven_weights());
}

inline StructuralOptions precise(bool bias) {
  StructuralOptions options;
  options.bias = bias;
  options.tolerance = 1e-9;
  options.max_steps = 100000;
  return options;
}

}  // namespace sharelearn::test
