#include "help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace sharelearn::cli {
namespace {

constexpr std::size_t kWidth = 100;  // of a line
constexpr std::size_t kIndent = 30;  // where explanations of options begin

/// `text` in lines of at most kWidth characters, all but the first indented.
std::string wrapped(std::string_view text) {
  std::string result;
  while (text.size() > kWidth - kIndent) {
    std::size_t end = text.rfind(' ', kWidth - kIndent);
    if (end == std::string_view::npos || end == 0) end = std::min(text.find(' '), text.size());
    result += fmt::format("{}\n{:{}}", text.substr(0, end), "", kIndent);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result.append(text).append("\n");
}

std::string entry(const std::string& name, std::string_view explanation) {
  std::string line = "  " + name;
  if (line.size() + 2 > kIndent) line += fmt::format("\n{:{}}", "", kIndent);
  line.resize(std::max(line.size(), kIndent), ' ');
  return line + wrapped(explanation);
}

/// The value that an option takes as users write it: N, NUMBER, FILE, csv|idx; the parser appends its checks
/// behind a colon.
std::string value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  if (type.starts_with("TEXT:{")) {
    std::string choices = type.substr(6, type.find('}') - 6);
    std::replace(choices.begin(), choices.end(), ',', '|');
    return choices;
  }
  const std::string plain = type.substr(0, type.find(':'));
  if (plain == "INT" || plain == "UINT") return "N";
  return plain == "FLOAT" ? "NUMBER" : plain;
}

bool is_on(const CLI::Option& flag) {
  return flag.get_expected_max() == 0 && flag.get_default_str() == "on";
}

std::string name_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (is_on(option) && names.size() == 1) names.push_back("--no-" + option.get_lnames().front());
  const std::string value = value_of(option);
  return fmt::format("{}{}{}", fmt::join(names, ", "), value.empty() ? "" : " ", value);
}

std::string option_entry(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  const bool shown = !text.empty() && (option.get_expected_max() > 0 || is_on(option));
  return entry(name_of(option),
               option.get_description() + (shown ? fmt::format(" [default: {}]", text) : std::string()));
}

class PlainHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text = fmt::format("{}.\n\nUsage: {}", app->get_description(), name);
    std::string positionals;
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      text += fmt::format(" {}{}", option->get_name(true), option->get_expected_max() > 1 ? " ..." : "");
      positionals += entry(option->get_name(true), option->get_description());
    }
    const bool has_commands = !app->get_subcommands([](const CLI::App*) { return true; }).empty();
    if (has_commands) text += app->get_parent() == nullptr ? " COMMAND ..." : " METHOD TRAIN";
    text += " [options]\n";
    if (!positionals.empty()) text += "\n" + positionals;
    if (has_commands) text += "\n" + list_of_subcommands(*app);
    for (const std::string& group : groups_of(*app)) text += group_text(*app, group);
    if (has_commands) {
      text += fmt::format("\n'{} {} --help' explains {}.\n", name,
                          app->get_parent() == nullptr ? "COMMAND" : "METHOD",
                          app->get_parent() == nullptr ? "a command" : "a method and its options");
    }
    const std::string footer = app->get_footer();
    return footer.empty() ? text : text + "\n" + footer;
  }

 private:
  /// The general options come last: every command has them.
  static std::vector<std::string> groups_of(const CLI::App& app) {
    std::vector<std::string> groups = app.get_groups();
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& group) { return group != "Options"; });
    return groups;
  }
  static std::string group_text(const CLI::App& app, const std::string& group) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() == group && option->nonpositional()) text += option_entry(*option);
    }
    if (group.empty() || text.empty()) return "";
    const bool alone = app.get_groups().size() == 1;
    return fmt::format("\n{}:\n{}", group != "Options" ? group : alone ? "Options" : "General", text);
  }
};

void set_formatter(CLI::App& app, const std::shared_ptr<PlainHelp>& formatter) {
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "Print this help and exit");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    set_formatter(*command, formatter);
}

}  // namespace

void use_plain_help(CLI::App& app) {
  set_formatter(app, std::make_shared<PlainHelp>());
}

std::string list_of_subcommands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    text += fmt::format("  {:<12}{}\n", command->get_name(), command->get_description());
  return text;
}

}  // namespace sharelearn::cli
