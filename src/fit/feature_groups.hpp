// Groups of features as a user writes them: lists of columns by name, or of candidates by number.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// The candidates of each group. `names` are those of the columns; empty where candidates are not columns.
/// Throws OptionError on `groups`.
std::vector<std::vector<Index>> groups_from(const std::vector<std::vector<std::string>>& groups,
                                            const std::vector<std::string>& names, Index candidates);

}  // namespace sharelearn
