#include "options.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

namespace sharelearn::cli {
namespace {

/// The entries of every `a,b,..`. The parser's own way of lists passes over empty ones.
std::vector<std::string> entries_of(const std::string& flag, const std::vector<std::string>& lists) {
  std::vector<std::string> entries;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      if (comma == begin) throw CLI::ValidationError(flag, fmt::format("'{}' has an empty entry", list));
      entries.push_back(list.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  return entries;
}

}  // namespace

CLI::Option* OptionSet::add_numbers(const std::string& flag, std::vector<double>& values,
                                    const CLI::Validator& check, const std::string& help) {
  record(flag, [&values] { return nlohmann::json(values); });
  const auto take = [&values, flag, check](const std::vector<std::string>& lists) {
    values.clear();
    for (std::string& entry : entries_of(flag, lists)) {
      const std::string problem = check(entry);
      if (!problem.empty()) throw CLI::ValidationError(flag, problem);
      values.push_back(0);
      CLI::detail::lexical_cast(entry, values.back());
    }
  };
  return app_.add_option_function<std::vector<std::string>>(flag, take, help)
      ->allow_extra_args(false)
      ->type_name("FLOAT")
      ->default_str(fmt::format("{}", fmt::join(values, ",")));
}

CLI::Option* OptionSet::add_words(const std::string& flag, std::vector<std::string>& values,
                                  const std::string& help) {
  record(flag, [&values] { return nlohmann::json(values); });
  const auto take = [&values, flag](const std::vector<std::string>& lists) {
    values = entries_of(flag, lists);
  };
  return app_.add_option_function<std::vector<std::string>>(flag, take, help)
      ->allow_extra_args(false)
      ->type_name("TEXT");
}

void OptionSet::record(const std::string& flag, std::function<nlohmann::json()> get) {
  std::string name = flag.substr(0, flag.find(','));
  name.erase(0, name.find_first_not_of('-'));
  getters_.emplace_back(name, std::move(get));
}

nlohmann::json OptionSet::values() const {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [name, get] : getters_) result[name] = get();
  return result;
}

}  // namespace sharelearn::cli
