#include "fit/feature_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// A column by its name, or a candidate by its number.
Index candidate_from(const std::string& word, std::size_t group, const std::vector<std::string>& names,
                     Index candidates) {
  const auto name = std::find(names.begin(), names.end(), word);
  if (name != names.end()) return name - names.begin();
  Index number = -1;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || stop != word.data() + word.size() || number < 0 || number >= candidates) {
    throw OptionError("groups",
                      fmt::format("expected the name of a column or a number from 0 to {}, found '{}'",
                                  candidates - 1, word),
                      group);
  }
  return number;
}

}  // namespace

std::vector<std::vector<Index>> groups_from(const std::vector<std::vector<std::string>>& groups,
                                            const std::vector<std::string>& names, Index candidates) {
  std::vector<std::vector<Index>> result;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    auto& members = result.emplace_back();
    for (const std::string& word : groups[group]) {
      members.push_back(candidate_from(word, group, names, candidates));
    }
  }
  return result;
}

}  // namespace sharelearn
