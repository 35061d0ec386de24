// Deterministic stratified splits. Parts are measured by the weight of their rows (none: 1 each). A row of
// weight 3 is three copies that stay together, or a part would be judged by rows it has learned from. With
// hashes of the rows (row_hashes) other equal rows of a class stay together, too, and the split depends
// neither on the order of the rows nor on whether they are repeated or weighted; unless most rows have many
// copies. Without hashes, rows that only happen to be equal are split like any others.
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

/// Puts `fraction` of the weight of each class, rounded to whole rows chosen by seed, into `test`.
Split stratified_holdout(std::span<const std::int32_t> class_of_row, double fraction, std::uint64_t seed,
                         std::span<const double> weights = {}, std::span<const std::uint64_t> hashes = {});

/// Split for tasks with per-task rows: `fraction` of the rows, spread over the labels of each task, but never
/// all rows of a task. A negative id (a row without task or label) counts as one more task or label.
Split task_holdout(std::span<const std::int32_t> task_of_row, std::span<const std::int32_t> label_of_row,
                   double fraction, std::uint64_t seed, std::span<const double> weights = {});

/// `folds` splits whose test parts partition the rows, each class spread evenly.
std::vector<Split> stratified_folds(std::span<const std::int32_t> class_of_row, int folds, std::uint64_t seed,
                                    std::span<const double> weights = {},
                                    std::span<const std::uint64_t> hashes = {});

/// A split and folds that keep groups whole; `group_of_row` and `class_of_row` count from 0. Groups are dealt
/// from the heaviest to the lightest, equally heavy ones in an order drawn by the seed, each to the part that
/// is furthest behind in the group's classes. At least one group goes to `test`, if there are two. Fewer
/// groups than folds leave folds empty.
Split group_holdout(std::span<const std::int32_t> group_of_row, std::span<const std::int32_t> class_of_row,
                    double fraction, std::uint64_t seed, std::span<const double> weights = {});
std::vector<Split> group_folds(std::span<const std::int32_t> group_of_row,
                               std::span<const std::int32_t> class_of_row, int folds, std::uint64_t seed,
                               std::span<const double> weights = {});
/// The splits whose test parts are the rows of each fold, numbered from 0.
std::vector<Split> splits_by_fold(std::span<const std::int32_t> fold_of_row, int folds);

/// One hash per row, of its values and the seed; the same for dense and sparse rows.
std::vector<std::uint64_t> row_hashes(const Matrix& x, std::uint64_t seed);

/// Puts about `fraction` of the rows into `test`, each by a hash of its values and the seed: equal rows are
/// in the same part, wherever they stand and whatever their labels and weights are.
Split hashed_holdout(const Matrix& x, double fraction, std::uint64_t seed);
/// `folds` splits by the same hash, whose test parts partition the rows. The first is that of
/// hashed_holdout() with a fraction of 1 / folds, but for rounding.
std::vector<Split> hashed_folds(const Matrix& x, int folds, std::uint64_t seed);

}  // namespace sharelearn
