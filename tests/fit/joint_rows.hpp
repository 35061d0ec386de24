// Small data sets of classes and of tasks with per-task rows.
#pragma once

#include <string>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::testing {

inline DenseMatrix normal_columns(Index rows, Index columns, Random& random) {
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i)
      x(i, j) = static_cast<float>((1.0 + static_cast<double>(j)) * random.normal());
  return x;
}

/// Three classes, given by the sum of the first two columns with noise.
inline Dataset class_rows(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  DenseMatrix x = normal_columns(rows, columns, random);
  data.label.names = {"a", "b", "c"};
  for (Index i = 0; i < rows; ++i) {
    const double sum = x(i, 0) + x(i, 1) / 2 + 0.3 * random.normal();
    data.label.id.push_back(sum < -0.7 ? 0 : sum < 0.7 ? 1 : 2);
  }
  data.x = std::move(x);
  data.source = "rows";
  return data;
}

/// Tasks a and b with per-task rows, alternating. Column 0 determines the label of a, column 1 that of b.
inline Dataset task_rows(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  DenseMatrix x = normal_columns(rows, columns, random);
  data.label.names = {"1", "-1"};
  data.task.names = {"a", "b"};
  for (Index i = 0; i < rows; ++i) {
    data.task.id.push_back(static_cast<std::int32_t>(i % 2));
    data.label.id.push_back(x(i, i % 2) + 0.3 * random.normal() > 0 ? 0 : 1);
  }
  data.x = std::move(x);
  data.source = "rows";
  return data;
}

}  // namespace sharelearn::testing
