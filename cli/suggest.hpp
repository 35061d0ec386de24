// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sharelearn::cli {

/// The candidate nearest to `word` by edit distance, or "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sharelearn::cli
