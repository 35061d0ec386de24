#include "fit/class_weights.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "data/labels.hpp"
#include "data/name_list.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::vector<double> class_weights_from(const std::string& text, const std::vector<std::string>& names) {
  std::vector<double> weights(names.size(), 1.0);
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    line = trimmed(line);
    if (line.empty()) continue;
    const std::size_t last = line.find_last_of(" \t,");
    const auto weight = as_number(last == std::string::npos ? "" : line.substr(last + 1));
    if (!weight || !(*weight > 0)) {
      throw OptionError("class-weight",
                        fmt::format("expected the name of a class and a weight above 0, found '{}'", line),
                        number);
    }
    const std::string name =
        canonical_label(trimmed(line.substr(0, line.find_last_not_of(" \t,", last) + 1)));
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw OptionError("class-weight",
                        fmt::format("there is no class '{}'; expected one of {}", name, quoted_list(names)),
                        number);
    }
    weights[static_cast<std::size_t>(found - names.begin())] = *weight;
  }
  return weights;
}

}  // namespace sharelearn
