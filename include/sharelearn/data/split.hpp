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

/// `folds` splits whose test parts partition the rows, each class spread evenly.
std::vector<Split> stratified_folds(std::span<const std::int32_t> class_of_row, int folds,
                                    std::uint64_t seed);

}  // namespace sharelearn
