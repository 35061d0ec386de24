// Groups of candidates, from words.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

/// Members of each group. A number is a candidate of the pool, from 0. Names of columns stand for the
/// candidates that read these columns and no others: columns alone, all stumps of them, their products.
std::vector<std::vector<Index>> groups_from(const std::vector<std::vector<std::string>>& groups,
                                            const std::vector<std::string>& names, const Pool& pool);

}  // namespace sharelearn
