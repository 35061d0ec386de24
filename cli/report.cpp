// What methods share in their reports and tables.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "method.hpp"
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

std::shared_ptr<LinearModel> model_over(std::vector<FeaturePtr> features, std::vector<std::string> names,
                                        const Dataset& train, const Scaling& scaling) {
  auto model = std::make_shared<LinearModel>();
  model->features = std::move(features);
  model->preprocessing.scaling = scaling;
  model->names = std::move(names);
  model->preprocessing.names = train.column_names;
  model->preprocessing.columns = train.columns();
  return model;
}

void add_sparsity(const LinearModel& model, nlohmann::json& report) {
  const std::vector<double> all = model.weights();
  const auto outputs = std::ssize(model.names);
  Index rows = 0, weights = 0;
  for (auto column = all.begin(); column != all.end(); column += outputs) {
    const auto nonzero = std::count_if(column, column + outputs, [](double w) { return w != 0; });
    rows += nonzero > 0 ? 1 : 0;
    weights += nonzero;
  }
  report["features_used"] = model.features_used();
  report["nonzero_rows"] = rows;
  report["nonzero_weights"] = weights;
}

}  // namespace sharelearn::cli
