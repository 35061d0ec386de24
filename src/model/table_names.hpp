// Names as heads of narrow columns. A long name is not cut, which could make two names alike: its column
// shows its number, and a legend gives the name; so do names that look like such a number.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sharelearn {

struct TableNames {
  std::vector<std::string> shown;
  std::string legend;     ///< one line per name that is not shown in full
  std::size_t width = 0;  ///< of the longest one shown

  explicit TableNames(const std::vector<std::string>& names, std::size_t longest = 12) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool fits = names[c].size() <= longest && !names[c].starts_with('#');
      shown.push_back(fits ? names[c] : fmt::format("#{}", c + 1));
      if (!fits) legend += fmt::format("#{}: {}\n", c + 1, names[c]);
      width = std::max(width, shown.back().size());
    }
  }
};

}  // namespace sharelearn
