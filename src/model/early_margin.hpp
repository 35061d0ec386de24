// The margin of an answer: by how much a score would have to change to change it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sharelearn/model/model.hpp"

namespace sharelearn {

inline double margin_of(const Grid<double>& scores, Index row, OutputKind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == OutputKind::tasks) {
    double smallest = kInfinity;
    for (Index c = 0; c < scores.cols(); ++c) smallest = std::min(smallest, std::abs(scores(row, c)));
    return smallest;
  }
  double first = -kInfinity, second = -kInfinity;
  for (Index c = 0; c < scores.cols(); ++c) {
    const double score = scores(row, c);
    second = std::max(second, std::min(first, score));
    first = std::max(first, score);
  }
  return first - second;
}

}  // namespace sharelearn
