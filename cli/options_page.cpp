// sharelearn options: every option of every method as a page of Markdown (docs/options.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.hpp"
#include "option_fields.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/fit/sharing.hpp"

namespace sharelearn::cli {
namespace {

/// A table cell: bars would end it.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

void print_method(std::string_view name, std::string_view summary, const FieldTable& table) {
  fmt::print("\n## {}\n\n{}.\n", name, with_flags(summary));
  std::vector<std::string> sections;
  for (const Field& field : table.fields()) {
    if (std::find(sections.begin(), sections.end(), field.section) == sections.end())
      sections.push_back(field.section);
  }
  for (const std::string& section : sections) {
    fmt::print("\n**{}**\n\n| option | value | default | meaning |\n|---|---|---|---|\n",
               with_flags(section));
    for (const Field& field : table.fields()) {
      if (field.section != section) continue;
      fmt::print("| `--{}` | {} | {} | {} |\n", field.name,
                 cell(field.is_file || field.is_path ? "a file" : field.expected()),
                 cell(with_flags(field.fallback_text)), cell(help_text(field)));
    }
  }
}

class OptionsCommand : public Command {
 public:
  std::string_view name() const override { return "options"; }
  std::string_view summary() const override {
    return "Print every option of every method as a page of Markdown";
  }
  void declare(CLI::App&) override {}
  int run() override {
    fmt::print(
        "# Options of the methods\n\nMade by `sharelearn options` from the tables that the command line, the "
        "checks and the "
        "reports read.\nIn C++ an option is a member of the method's struct (`per-round` is `per_round`). "
        "How data is read is "
        "explained in [data.md](data.md).\n");
    for (const auto& method : batch_methods())
      print_method(method->name(), method->summary(), method->fields());
    SharingFit sharing;
    print_method(SharingFit::name, SharingFit::summary, fields(sharing));
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> options_command() {
  return std::make_unique<OptionsCommand>();
}

}  // namespace sharelearn::cli
