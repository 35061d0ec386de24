// Small random problems for the tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::test {

/// Normal entries, column j multiplied by (1 + j % 5).
inline DenseMatrix random_dense(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix x(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i)
      x(i, j) = static_cast<float>(random.normal() * static_cast<double>(1 + j % 5));
  }
  return x;
}

/// Labels that depend on a few columns, with noise: there is something to learn, but the classes are not
/// separable.
inline std::vector<std::int32_t> random_labels(const DenseMatrix& x, Index classes, std::uint64_t seed) {
  Random random(seed, 1);
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < x.rows(); ++i) {
    double best = -1e300;
    std::int32_t label = 0;
    for (Index c = 0; c < classes; ++c) {
      double score = 2 * random.normal();
      for (Index j = c; j < x.cols(); j += classes) score += x(i, j) / static_cast<double>(1 + j);
      if (score > best) best = score, label = static_cast<std::int32_t>(c);
    }
    labels.push_back(label);
  }
  return labels;
}

inline std::vector<double> equal_weights(Index rows) {
  return std::vector<double>(static_cast<std::size_t>(rows), 1.0 / static_cast<double>(rows));
}

inline Grid<double> random_scores(Index rows, Index outputs, std::uint64_t seed, double size = 2) {
  Random random(seed, 2);
  Grid<double> s(rows, outputs);
  for (Index c = 0; c < outputs; ++c) {
    for (Index i = 0; i < rows; ++i) s(i, c) = size * random.normal();
  }
  return s;
}

/// The first example of [ShareBoost11], section 6, one row per class: [bits of the class as -1 and 1, unit *
/// e_class].
struct BinaryCode {
  BinaryCode(Index bits, float unit) : x(Index{1} << bits, bits + (Index{1} << bits)) {
    for (Index y = 0; y < x.rows(); ++y) {
      label.push_back(static_cast<std::int32_t>(y));
      for (Index b = 0; b < bits; ++b) x(y, b) = ((y >> b) & 1) != 0 ? 1.0F : -1.0F;
      x(y, bits + y) = unit;
    }
  }
  DenseMatrix x;
  std::vector<std::int32_t> label;
};

}  // namespace sharelearn::test
