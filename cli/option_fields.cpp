#include "option_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "sharelearn/data/read.hpp"

namespace sharelearn::cli {
namespace {

constexpr Index kMostBytes = Index{1} << 30;

std::string type_name(const Field& field) {
  if (!field.allowed.empty())
    return fmt::format("{}{}", fmt::join(field.allowed, "|"), field.is_file ? "|FILE" : "");
  if (field.is_file || field.is_path) return "FILE";
  switch (field.type) {
    case FieldType::whole:
      return "N";
    case FieldType::number:
      return "NUMBER";
    case FieldType::numbers:
      return "NUMBER,..";
    case FieldType::texts:
      return "TEXT,..";
    default:
      return "TEXT";
  }
}

/// --name and --no-name; the help shows both where the flag is on by default.
void declare_flag(CLI::App& app, const Field& field) {
  app.add_flag_callback(
         "--" + field.name, [&field] { field.set(true); }, help_text(field))
      ->default_str(field.fallback_text)
      ->group(with_flags(field.section));
  app.add_flag_callback("--no-" + field.name, [&field] { field.set(false); })->group("");
}

/// Lines of words between blanks and commas, comments left out.
void read_words(const std::string& path, std::vector<std::vector<std::string>>& words,
                std::vector<Index>& lines) {
  const std::vector<char> bytes = read_bytes(path, kMostBytes);
  std::string_view text(bytes.data(), bytes.size());
  for (Index line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    rest = rest.substr(0, rest.find('#'));
    std::vector<std::string> of_line;
    while (!rest.empty()) {
      const std::size_t stop = std::min(rest.find_first_of(" \t\r,"), rest.size());
      if (stop > 0) of_line.emplace_back(rest.substr(0, stop));
      rest.remove_prefix(std::min(stop + 1, rest.size()));
    }
    if (!of_line.empty()) {
      words.push_back(std::move(of_line));
      lines.push_back(line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The whole of a file; entries of errors are its lines.
void read_text(const Field& field, OptionFiles::File& file) {
  const std::vector<char> bytes = read_bytes(file.path, kMostBytes);
  field.set(std::string(bytes.begin(), bytes.end()));
  const auto lines = std::count(bytes.begin(), bytes.end(), '\n') + 1;
  for (Index line = 1; line <= lines; ++line) file.lines.push_back(line);
}

/// One number per word.
nlohmann::json numbers_in(const Field& field, const std::string& path,
                          const std::vector<std::vector<std::string>>& words, std::vector<Index>& lines) {
  nlohmann::json all = nlohmann::json::array();
  std::vector<Index> line_of_number;
  for (std::size_t l = 0; l < words.size(); ++l) {
    for (const std::string& word : words[l]) {
      try {
        field.set_text(word);
      } catch (const OptionError&) {
        throw InputError(
            fmt::format("{}, line {}: expected {}, found '{}'", path, lines[l], field.expected(), word));
      }
      all.push_back(field.get().front());
      line_of_number.push_back(lines[l]);
    }
  }
  lines = std::move(line_of_number);
  return all;
}

}  // namespace

std::vector<NamedPath> OptionFiles::inputs() const {
  std::vector<NamedPath> paths;
  for (const auto& [option, file] : by_option) paths.push_back({option, file.path});
  return paths;
}

void OptionFiles::rethrow(const OptionError& error) const {
  const auto found = by_option.find("--" + error.option());
  const bool of_value = std::string_view(error.what()).starts_with(fmt::format("`{}`: ", error.option()));
  if (found == by_option.end() || !of_value) throw InputError(with_flags(error.what()));
  const File& file = found->second;
  const bool known = error.entry() && *error.entry() < file.lines.size();
  throw InputError(with_flags(fmt::format("{}{}: {}", file.path,
                                          known ? fmt::format(", line {}", file.lines[*error.entry()]) : "",
                                          error.problem())));
}

void declare_fields(CLI::App& app, const FieldTable& table, OptionFiles& files) {
  for (const Field& field : table.fields()) {
    const std::string flag = "--" + field.name;
    if (field.type == FieldType::flag) {
      declare_flag(app, field);
      continue;
    }
    const auto take = [&field, &files, flag](const std::string& text) {
      const bool chosen = std::find(field.allowed.begin(), field.allowed.end(), text) != field.allowed.end();
      if (!field.is_file || chosen) return field.set_text(text);
      if (text.empty()) throw OptionError(field.name, "expected a value, found an empty one");
      files.by_option[flag].path = text;
    };
    app.add_option_function<std::string>(flag, take, help_text(field))
        ->type_name(type_name(field))
        ->default_str(with_flags(field.fallback_text))
        ->group(with_flags(field.section));
  }
}

void read_files(const FieldTable& table, OptionFiles& files) {
  for (auto& [option, file] : files.by_option) {
    const Field& field = *table.find(option.substr(2));
    if (field.type == FieldType::text) {
      read_text(field, file);
      continue;
    }
    std::vector<std::vector<std::string>> words;
    read_words(file.path, words, file.lines);
    if (words.empty()) throw InputError(fmt::format("{}: contains no {}", file.path, field.name));
    field.set(field.type == FieldType::numbers ? numbers_in(field, file.path, words, file.lines)
                                               : nlohmann::json(words));
  }
}

std::string read_text(const std::string& path) {
  const std::vector<char> bytes = read_bytes(path, kMostBytes);
  return {bytes.data(), bytes.size()};
}

std::string help_text(const Field& field) {
  const bool said = field.needs.empty() || field.section.find(field.needs) != std::string::npos;
  return with_flags(said ? field.help : fmt::format("{} ({})", field.help, field.requirement()));
}

std::string with_flags(std::string_view message) {
  return render_options(message, [](std::string_view name) { return fmt::format("--{}", name); });
}

}  // namespace sharelearn::cli
