// Deterministic stratified splits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

struct Split {
  std::vector<Index> train;  ///< ascending
  std::vector<Index> test;   ///< ascending
};

/// Puts round(fraction * rows of the class) rows of each class, chosen by seed, into `test`.
Split stratified_holdout(std::span<const std::int32_t> class_of_row, double fraction, std::uint64_t seed);

/// Of tasks with rows of their own: `fraction` of the rows, spread over the labels of each task, but never
/// all rows of a task. Ids below 0 (a row without one) are a task or a label like any other.
Split task_holdout(std::span<const std::int32_t> task_of_row, std::span<const std::int32_t> label_of_row,
                   double fraction, std::uint64_t seed);

/// `folds` splits whose test parts partition the rows, each class spread evenly.
std::vector<Split> stratified_folds(std::span<const std::int32_t> class_of_row, int folds,
                                    std::uint64_t seed);

}  // namespace sharelearn
