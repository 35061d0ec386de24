#include "fit/feature_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

Index candidate_from(const std::string& word, std::size_t group, Index candidates) {
  Index number = -1;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && stop == word.data() + word.size() && number >= 0 && number < candidates)
    return number;
  throw OptionError(
      "groups",
      fmt::format("expected the name of a column or a number from 0 to {}, found '{}'", candidates - 1, word),
      group);
}

/// The candidates of a pool by the columns that they read, which are asked for once.
class Readers {
 public:
  explicit Readers(const Pool& pool) : pool_(pool) {}
  /// Candidates that read some of the columns and no others.
  std::vector<Index> within(const std::set<Index>& columns) {
    if (inputs_.empty()) {
      for (Index c = 0; c < pool_.candidates(); ++c) inputs_.push_back(pool_.feature(c)->inputs());
    }
    std::vector<Index> found;
    for (std::size_t c = 0; c < inputs_.size(); ++c) {
      if (std::ranges::all_of(inputs_[c], [&](Index column) { return columns.contains(column); }))
        found.push_back(static_cast<Index>(c));
    }
    return found;
  }

 private:
  const Pool& pool_;
  std::vector<std::vector<Index>> inputs_;
};

}  // namespace

std::vector<std::vector<Index>> groups_from(const std::vector<std::vector<std::string>>& groups,
                                            const std::vector<std::string>& names, const Pool& pool) {
  std::unordered_map<std::string, Index> column_of;
  for (std::size_t j = 0; j < names.size(); ++j) column_of.emplace(names[j], static_cast<Index>(j));
  Readers readers(pool);
  std::vector<std::vector<Index>> result;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::set<Index> members, columns;
    for (const std::string& word : groups[group]) {
      const auto column = column_of.find(word);
      if (column != column_of.end()) {
        columns.insert(column->second);
      } else {
        members.insert(candidate_from(word, group, pool.candidates()));
      }
    }
    if (!columns.empty()) {
      const std::vector<Index> found = readers.within(columns);
      if (found.empty())
        throw OptionError("groups", "no candidate of the pool reads these columns and no others", group);
      members.insert(found.begin(), found.end());
    }
    result.emplace_back(members.begin(), members.end());
  }
  return result;
}

}  // namespace sharelearn
