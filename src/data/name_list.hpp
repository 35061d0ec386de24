// Lists of column names for messages.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace sharelearn {

/// 'a', 'b', and so on; only the first of many.
inline std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    list += (i > 0 ? ", '" : "'") + names[i] + "'";
  }
  return list + (names.size() > most ? ", ..." : "");
}

/// Says which columns of a model the data lacks.
[[noreturn]] void throw_missing_columns(const std::string& source, const std::vector<std::string>& missing,
                                        const std::string& whose);

}  // namespace sharelearn
