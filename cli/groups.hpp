// Groups of features and costs from files.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::cli {

/// A line a group: candidates by number from 0, or columns by name, separated by blanks or commas; # begins a
/// comment. Throws InputError with file and line.
std::vector<std::vector<Index>> read_groups(const std::string& path, const std::vector<std::string>& names,
                                            Index candidates);

/// Positive numbers separated by blanks, commas or line ends.
std::vector<double> read_costs(const std::string& path);

}  // namespace sharelearn::cli
