// Reports and tables that all methods share.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fit_files.hpp"
#include "ranks.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn::cli {
namespace {

/// A column of the table of rounds.
struct Column {
  const char *key, *headline, *format;
  int width;
};

std::string text_of(const nlohmann::json& round, const Column& column) {
  if (!round.contains(column.key) || !round[column.key].is_number()) return "";
  return fmt::format(fmt::runtime(column.format), round[column.key].get<double>());
}

/// `score` is a norm of the gradient, or what a rule beyond the gradient compares: the decrease of the loss.
std::vector<Column> columns_of(const nlohmann::json& report) {
  const nlohmann::json& options = report["options"];
  const auto option = [&](const char* name) {
    return options.contains(name) && options[name].is_string() ? options[name].get<std::string>() : "";
  };
  const bool numbers = option("loss") == "regression";
  const std::string rule = option("rule");
  const bool decrease =
      report["method"] == "jointboost" || rule == "line" || rule == "column" || rule == "exact";
  return {{"round", "round", "{:.0f}", 6},
          {"lambda", "lambda", "{:.4g}", 11},
          {"features_used", "features", "{:.0f}", 10},
          {"columns_read", "columns", "{:.0f}", 9},
          {"objective", "objective", "{:.6g}", 13},
          {"score", decrease ? "decrease" : "gradient", "{:.4g}", 13},
          {"train_error", numbers ? "train RMSE" : "train err", "{:.4f}", 11},
          {"test_error", numbers ? "test RMSE" : "test err", "{:.4f}", 11}};
}

/// Every round up to 10, then every so many, for a table of about 30 lines; always the last.
bool is_shown(std::size_t round, std::size_t count) {
  if (round < 10 || round + 1 == count) return true;
  const std::size_t step = std::max<std::size_t>(5, (count / 20 + 4) / 5 * 5);
  return (round + 1) % step == 0;
}

}  // namespace

void write_report(const std::string& path, const nlohmann::json& report) {
  if (!is_first_rank()) return;
  if (!path.empty()) write_file(path, json_text(report, 1) + "\n");
}

void print_rounds(const nlohmann::json& report) {
  const nlohmann::json& rounds = report["rounds"];
  std::vector<Column> columns = columns_of(report);
  std::erase_if(columns, [&](const Column& column) {
    return std::ranges::none_of(rounds, [&](const auto& round) { return !text_of(round, column).empty(); });
  });
  // Columns are shown where a feature reads several, or several read one.
  if (std::ranges::all_of(rounds, [](const auto& round) {
        return !round.contains("columns_read") || round["columns_read"] == round["features_used"];
      })) {
    std::erase_if(columns, [](const Column& c) { return c.key == std::string_view("columns_read"); });
  }
  for (const Column& column : columns) fmt::print("{:>{}}", column.headline, column.width);
  fmt::print("\n");
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (!is_shown(r, rounds.size())) continue;
    for (const Column& column : columns) fmt::print("{:>{}}", text_of(rounds[r], column), column.width);
    fmt::print("\n");
  }
}

void print_choices(const nlohmann::json& report) {
  if (!report.contains("choices")) return;
  for (const auto& choice : report["choices"]) fmt::print("chosen: {}\n", choice.get<std::string>());
}

void print_unknown_tasks(const nlohmann::json& report) {
  if (!report.contains("unknown_tasks")) return;
  fmt::print("tasks of the test data that were not learned, left out of the figures:");
  for (const auto& name : report["unknown_tasks"]) print_text(stdout, " " + name.get<std::string>());
  fmt::print("\n");
}

void print_online(const nlohmann::json& report) {
  fmt::print("{} examples, {} mistakes ({:.2f}% of {} predictions), {:.0f} examples per second\n",
             report["examples"].get<Index>(), report["mistakes"].get<Index>(),
             100 * report["mistakes"].get<double>() / std::max(report["predictions"].get<double>(), 1.0),
             report["predictions"].get<Index>(), report["examples_per_second"].get<double>());
  if (report.contains("test_error")) fmt::print("test error {:.4f}\n", report["test_error"].get<double>());
  print_unknown_tasks(report);
  if (!report.contains("regret")) return;
  fmt::print(
      "{:>8}  regret per example, level by level: against the batch cascade | against the best fixed weights "
      "of the level\n",
      "steps");
  for (const auto& point : report["regret"]) {
    fmt::print("{:>8}", point["steps"].get<Index>());
    for (const auto& value : point["per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("  |");
    for (const auto& value : point["own_per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("\n");
  }
}

}  // namespace sharelearn::cli
