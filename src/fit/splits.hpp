// Splits of the training rows, for every choice that is made on rows left out of the training. Rows stay
// together that belong together: those of a group, if the data has groups; else those of a fold, if it has
// folds; else equal rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/run/fields.hpp"

namespace sharelearn {

/// Folds of cross-validation: those of the data, if it has any, else `folds` in which the strata are spread
/// evenly. Throws OptionError if there are more folds than groups.
std::vector<Split> folds_for(const Dataset& rows, std::span<const std::int32_t> strata, Index folds,
                             std::uint64_t seed);

/// `fraction` of the rows of each stratum; whole groups, if the data has groups or folds.
Split holdout_for(const Dataset& rows, std::span<const std::int32_t> strata, double fraction,
                  std::uint64_t seed, bool equal_together);

/// About `fraction` of the rows, and folds, for choices that are made beside the learning: by groups, or by a
/// hash of the rows. There are no folds, or fewer than asked for, where there are fewer groups.
Split side_holdout(const Dataset& rows, double fraction, std::uint64_t seed);
std::vector<Split> side_folds(const Dataset& rows, int folds, std::uint64_t seed);

/// Sets `folds` of the table to the number of folds in the data. Throws if the method has none, they do not
/// apply or the user wants another number, and if a group is in two folds.
void take_folds(const Dataset& train, const FieldTable& table);

}  // namespace sharelearn
