// What methods share in their reports and tables.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fit_files.hpp"
#include "sharelearn/report/json_text.hpp"
#include "sharelearn/run/atomic_file.hpp"

namespace sharelearn::cli {
namespace {

std::string number(const nlohmann::json& round, const char* key, const char* format) {
  if (!round.contains(key) || !round[key].is_number()) return "";
  return fmt::format(fmt::runtime(format), round[key].get<double>());
}

/// Every round up to 10, then steps that keep a table of about 30 lines; the last always.
bool is_shown(std::size_t round, std::size_t count) {
  if (round < 10 || round + 1 == count) return true;
  const std::size_t step = std::max<std::size_t>(5, (count / 20 + 4) / 5 * 5);
  return (round + 1) % step == 0;
}

}  // namespace

void write_report(const std::string& path, const nlohmann::json& report) {
  if (!path.empty()) write_file(path, json_text(report, 1) + "\n");
}

void print_rounds(const nlohmann::json& rounds) {
  fmt::print("{:>6} {:>9} {:>12} {:>12} {:>10} {:>10}\n", "round", "features", "objective", "score",
             "train err", "test err");
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (!is_shown(r, rounds.size())) continue;
    const auto& round = rounds[r];
    fmt::print("{:>6} {:>9} {:>12} {:>12} {:>10} {:>10}\n", round["round"].get<std::int64_t>(),
               number(round, "features_used", "{:.0f}"), number(round, "objective", "{:.6g}"),
               number(round, "score", "{:.4g}"), number(round, "train_error", "{:.4f}"),
               number(round, "test_error", "{:.4f}"));
  }
}

void print_unknown_tasks(const nlohmann::json& report) {
  if (!report.contains("unknown_tasks")) return;
  fmt::print("test tasks that were not learned, left out of the figures:");
  for (const auto& name : report["unknown_tasks"]) fmt::print(" {}", name.get<std::string>());
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
  fmt::print("{:>8}  regret per step, level by level: eq. (6) | on the losses the level met\n", "steps");
  for (const auto& point : report["regret"]) {
    fmt::print("{:>8}", point["steps"].get<Index>());
    for (const auto& value : point["per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("  |");
    for (const auto& value : point["own_per_step"]) fmt::print(" {:>10.5f}", value.get<double>());
    fmt::print("\n");
  }
}

}  // namespace sharelearn::cli
