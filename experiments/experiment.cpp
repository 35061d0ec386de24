#include "experiment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::reproduce {
namespace {

const std::string& cell(const std::vector<std::string>& row, std::size_t column) {
  static const std::string empty;
  return column < row.size() ? row[column] : empty;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& row) {
  std::string line;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (c > 0) line += ',';
    line += csv_field(row[c]);
  }
  return line + '\n';
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, letters(text)), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, letters(text)), ' ') + text;
}

void create_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure(fmt::format("cannot create the folder '{}': {}", folder, error.message()));
}

}  // namespace

/// A Markdown table with aligned columns: it reads well in a terminal and can be pasted into the docs.
std::string Table::text() const {
  std::vector<std::size_t> width(header_.size());
  for (std::size_t c = 0; c < header_.size(); ++c) {
    width[c] = std::max<std::size_t>(3, letters(header_[c]));
    for (const auto& row : rows_) width[c] = std::max(width[c], letters(cell(row, c)));
  }
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text = "|";
    for (std::size_t c = 0; c < header_.size(); ++c) {
      text += ' ' + (c == 0 ? left(cell(row, c), width[c]) : right(cell(row, c), width[c])) + " |";
    }
    return text + '\n';
  };
  std::string text = line(header_) + "|";
  for (std::size_t c = 0; c < header_.size(); ++c) {
    text += std::string(width[c] + 1, '-') + (c == 0 ? "-|" : ":|");
  }
  text += '\n';
  for (const auto& row : rows_) text += line(row);
  return text;
}

std::string Table::csv() const {
  std::string text = csv_line(header_);
  for (const auto& row : rows_) text += csv_line(row);
  return text;
}

Run::Run(std::string_view name, const Settings& settings, Context context)
    : name_(name), settings_(settings), context_(context) {
  create_folder(settings_.out);
  load_memory();
}

Dataset Run::read(const std::string& file, const DataChoice& choice) {
  const std::filesystem::path folder = settings_.data;
  const auto below = [&](const std::string& name) {
    const auto path = folder / name;
    if (!std::filesystem::exists(path)) {
      throw InputError(
          fmt::format("experiment '{}' needs the file '{}' below the data folder '{}'; give the "
                      "folder that holds it with --data",
                      name_, name, settings_.data));
    }
    return path.string();
  };
  ReadOptions options;
  options.label_column = choice.label_column;
  options.task_column = choice.task_column;
  if (!choice.labels_file.empty()) options.labels_file = below(choice.labels_file);
  return read_dataset(below(file), options, context_.threads);
}

void Run::say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Run::show(const Table& table, const std::string& file) {
  say(fmt::format("\n{}", table.text()));
  if (!file.empty()) write_file(path_of(file + ".csv"), table.csv());
}

void Run::show(const Plot& plot, const std::string& file) {
  const std::string path = path_of(file + ".svg");
  write_file(path, to_svg(plot));
  say(fmt::format("plot: {}", path));
}

std::string Run::path_of(const std::string& file) const {
  return (std::filesystem::path(settings_.out) / file).string();
}

std::string Run::memory_file() const {
  return path_of(name_ + ".partial.jsonl");
}

/// One entry per line: ["key", "1.5", "nan", ...]. A line truncated by an interruption is skipped.
void Run::load_memory() {
  std::ifstream file(memory_file());
  std::string line;
  while (std::getline(file, line)) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_array() || entry.empty() || !entry[0].is_string()) continue;
    std::vector<double> numbers(entry.size() - 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string text = entry[i + 1].is_string() ? entry[i + 1].get<std::string>() : "nan";
      std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    }
    memory_[entry[0].get<std::string>()] = std::move(numbers);
  }
}

std::vector<double> Run::remember(const std::string& key,
                                  const std::function<std::vector<double>()>& compute) {
  const auto known = memory_.find(key);
  if (known != memory_.end()) return known->second;
  const std::vector<double> numbers = compute();
  memory_[key] = numbers;
  nlohmann::json entry = {key};
  for (const double number : numbers) entry.push_back(fmt::format("{}", number));
  std::ofstream file(memory_file(), std::ios::app);
  // The entry begins with a line end, so that an earlier truncated line does not swallow it.
  file << '\n' << entry.dump() << std::endl;
  if (!file) throw Failure(fmt::format("cannot write '{}'", memory_file()));
  return numbers;
}

void Run::forget() {
  memory_.clear();
  std::error_code ignored;
  std::filesystem::remove(memory_file(), ignored);
}

void weigh_words(Matrix& x) {
  SparseMatrix& words = x.owned_sparse();
  std::vector<double> square(static_cast<std::size_t>(words.rows), 0.0);
  for (std::size_t e = 0; e < words.value.size(); ++e) {
    words.value[e] = std::log1p(words.value[e]);
    square[words.row[e]] += static_cast<double>(words.value[e]) * static_cast<double>(words.value[e]);
  }
  for (std::size_t e = 0; e < words.value.size(); ++e) {
    words.value[e] =
        static_cast<float>(static_cast<double>(words.value[e]) / std::sqrt(square[words.row[e]]));
  }
}

}  // namespace sharelearn::reproduce
