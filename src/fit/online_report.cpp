#include "fit/online_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "learn/multi_output_problem.hpp"
#include "learn/online_run.hpp"
#include "sharelearn/pool/columns.hpp"

namespace sharelearn {
namespace {

/// Weights of a level, columns x outputs.
std::vector<double> weights_of_level(const OnlineCascade& cascade, Index level) {
  std::vector<double> all;
  all.reserve(to_size(cascade.columns() * cascade.outputs()));
  for (Index j = 0; j < cascade.columns(); ++j) {
    const auto row = cascade.weights(level, j);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void add_to(std::vector<double>& total, const std::vector<double>& more) {
  for (std::size_t i = 0; i < more.size(); ++i) total[i] += more[i];
}

/// Features whose first weight is on this level.
nlohmann::json new_features(const std::vector<double>& level, std::size_t outputs, std::vector<char>& seen,
                            const std::vector<std::string>& names) {
  nlohmann::json features = nlohmann::json::array();
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (level[i] == 0 || seen[i / outputs] != 0) continue;
    seen[i / outputs] = 1;
    features.push_back(ColumnFeature(static_cast<Index>(i / outputs)).describe(names));
  }
  return features;
}

}  // namespace

FitReport online_report(const OnlineCascadeModel& model, double seconds, Index examples) {
  const OnlineCascade& cascade = model.cascade;
  FitReport report;
  report.learning_seconds = seconds;
  report.rows = examples;
  report.columns = cascade.columns();
  report.outputs = cascade.outputs();
  report.extra = {{"examples", cascade.examples()},
                  {"steps", cascade.steps()},
                  {"mistakes", cascade.mistakes()},
                  {"predictions", cascade.predictions()},
                  {"first_occurrences", cascade.outputs()},
                  {"matrix_bytes", cascade.bytes()},
                  {"examples_per_second", static_cast<double>(examples) / std::max(seconds, 1e-9)}};
  const auto outputs = to_size(cascade.outputs());
  std::vector<double> total(to_size(cascade.columns()) * outputs, 0.0);
  std::vector<char> seen(to_size(cascade.columns()), 0);
  for (Index l = 0; l < cascade.levels(); ++l) {
    const std::vector<double> level = weights_of_level(cascade, l);
    add_to(total, level);
    const Nonzeros own = nonzeros(level, cascade.outputs()), so_far = nonzeros(total, cascade.outputs());
    Round round;
    round.round = l + 1;
    round.mix = cascade.options().mix[to_size(l)];
    round.phi = cascade.options().phi[to_size(l)];
    round.features = new_features(level, outputs, seen, model.column_names());
    round.penalty = cascade.penalty(l);
    round.features_used = so_far.rows;
    round.nonzero_rows = own.rows;
    round.nonzero_weights = own.weights;
    round.seconds = seconds;  // all levels learn at once
    report.rounds.push_back(std::move(round));
    report.end.features_used = report.end.nonzero_rows = so_far.rows;
    report.end.nonzero_weights = so_far.weights;
  }
  lift(report.rounds.back(), report.end);
  return report;
}

void add_online_errors(FitReport& report, const OnlineCascadeModel& model, const MultiOutputData& train,
                       const MultiOutputData* test, ThreadPool& threads) {
  const OnlineCascade& cascade = model.cascade;
  const auto exact = make_loss(train, cascade.options().loss, 0);
  // A step's loss is the sum over its examples, with the penalty on that scale; the batch loss is their mean.
  const double rows_per_step = static_cast<double>(train.rows()) / static_cast<double>(steps_of(train));
  const auto outputs = to_size(cascade.outputs());
  Cascade so_far;  // the levels up to now, summed to one
  so_far.levels.resize(1);
  CompositePoint& sum = so_far.levels.front().increment;
  sum.weights.assign(to_size(cascade.columns()) * outputs, 0.0);
  sum.bias.assign(outputs, 0.0);
  for (Index l = 0; l < cascade.levels(); ++l) {
    add_to(sum.weights, weights_of_level(cascade, l));
    add_to(sum.bias, cascade.bias(l));
    Round& round = report.rounds[to_size(l)];
    const Grid<double> scores = cascade_scores(so_far, train, 1, threads);
    round.loss = rows_per_step * evaluate(*exact, scores, nullptr, threads);
    round.objective = *round.loss + *round.penalty;
    add_train_errors(train, scores, round);
    if (test != nullptr) add_test_errors(*test, cascade_scores(so_far, *test, 1, threads), round);
  }
  lift(report.rounds.back(), report.end);
}

void refuse_row_weights(const Dataset& data) {
  if (data.weight.empty()) return;
  throw InputError(
      fmt::format("{}: has row weights, which the online cascade does not take; leave them out, or learn "
                  "with the batch cascade",
                  data.source));
}

void require_steps(const OnlineCascadeModel& model) {
  if (model.cascade.steps() == 0)
    throw Failure("cancelled before the first example was learned: there is no model");
}

}  // namespace sharelearn
