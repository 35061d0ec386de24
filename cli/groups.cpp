#include "groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

constexpr Index kMostBytes = Index{1} << 30;

struct Word {
  std::string_view text;
  Index line;
};

/// Words between blanks and commas, comments left out. `text` must outlive them.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  Index line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view rest = text.substr(at, end - at);
    rest = rest.substr(0, rest.find('#'));
    while (!rest.empty()) {
      const std::size_t stop = std::min(rest.find_first_of(" \t\r,"), rest.size());
      if (stop > 0) words.push_back({rest.substr(0, stop), line});
      rest.remove_prefix(std::min(stop + 1, rest.size()));
    }
    at = end + 1;
    ++line;
  }
  return words;
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<std::vector<Index>> read_groups(const std::string& path, const std::vector<std::string>& names,
                                            Index candidates) {
  const std::vector<char> bytes = read_bytes(path, kMostBytes);
  std::vector<std::vector<Index>> groups;
  Index line = 0;
  for (const Word& word : words_of({bytes.data(), bytes.size()})) {
    if (word.line != line) groups.emplace_back();
    line = word.line;
    Index candidate = 0;
    const auto name = std::find(names.begin(), names.end(), word.text);
    if (name != names.end()) {
      candidate = name - names.begin();
    } else if (!parse(word.text, candidate) || candidate < 0 || candidate >= candidates) {
      throw InputError(
          fmt::format("{}, line {}: expected the name of a column or a number from 0 to {}, got '{}'", path,
                      word.line, candidates - 1, word.text));
    }
    groups.back().push_back(candidate);
  }
  if (groups.empty())
    throw InputError(fmt::format("{}: expected a group of features a line, found none", path));
  return groups;
}

std::vector<double> read_costs(const std::string& path) {
  const std::vector<char> bytes = read_bytes(path, kMostBytes);
  std::vector<double> costs;
  for (const Word& word : words_of({bytes.data(), bytes.size()})) {
    double cost = 0;
    if (!parse(word.text, cost) || !(cost > 0) || !std::isfinite(cost)) {
      throw InputError(
          fmt::format("{}, line {}: expected a positive cost, got '{}'", path, word.line, word.text));
    }
    costs.push_back(cost);
  }
  if (costs.empty()) throw InputError(fmt::format("{}: holds no costs", path));
  return costs;
}

}  // namespace sharelearn::cli
