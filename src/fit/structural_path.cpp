#include "fit/structural_path.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "fit/common.hpp"
#include "run/ranks.hpp"
#include "run/usage.hpp"
#include "solve/active_set.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn {
namespace {

/// For each output, the features with a nonzero weight for it.
std::vector<Index> features_of_outputs(const StructuralResult& result, const StructuralStage& stage) {
  if (stage.columns.empty()) return {};
  const std::size_t outputs = stage.weights.size() / stage.columns.size();
  std::vector<std::set<Index>> used(outputs);
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    for (std::size_t c = 0; c < outputs; ++c) {
      if (stage.weights[a * outputs + c] != 0)
        used[c].insert(stage.columns[a] / result.features.front()->width());
    }
  }
  std::vector<Index> counts;
  for (const std::set<Index>& of_output : used) counts.push_back(std::ssize(of_output));
  return counts;
}

std::set<Index> features_in_use(const StructuralResult& result, const StructuralStage& stage) {
  std::set<Index> used;
  for (const Index column : stage.columns) used.insert(column / result.features.front()->width());
  return used;
}

/// The different columns of the data that the features of a stage read.
Index columns_read(const StructuralResult& result, const StructuralStage& stage) {
  std::vector<FeaturePtr> used;
  for (const Index feature : features_in_use(result, stage))
    used.push_back(result.features[to_size(feature)]);
  return ColumnCounter().count(used);
}

/// A stage's weights, spread over all `columns` design columns.
std::vector<double> scatter(const StructuralStage& stage, Index columns, Index outputs) {
  std::vector<double> weights(static_cast<std::size_t>(columns * outputs), 0.0);
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    std::copy_n(stage.weights.begin() + static_cast<std::ptrdiff_t>(a) * outputs, outputs,
                weights.begin() + stage.columns[a] * outputs);
  }
  return weights;
}

}  // namespace

Index features_of(const StructuralResult& result, const StructuralStage& stage) {
  return std::ssize(features_in_use(result, stage));
}

std::string_view text_of(StructuralStop stop) {
  switch (stop) {
    case StructuralStop::optimal:
      return "no candidate violates optimality";
    case StructuralStop::rounds:
      return "all rounds asked for";
    case StructuralStop::no_violator:
      return "no candidate violates optimality, but weights chosen earlier are too large";
    case StructuralStop::stalled:
      return "no further progress in double precision";
    case StructuralStop::steps:
      return "all steps of the solver used up";
    case StructuralStop::cancelled:
      return "cancelled";
  }
  return "";
}

void for_scores_of_stages(const StructuralResult& path, const Dataset& data, const Scaling& scaling,
                          Index outputs, ThreadPool& threads,
                          const std::function<void(const Grid<double>& scores)>& visit) {
  const Alone alone(threads);
  Index columns = 0;
  for (const FeaturePtr& feature : path.features) columns += feature->width();
  Grid<float> design(data.rows(), columns);
  const ColumnView scaled(data.x, scaling);
  Index at = 0;
  for (const FeaturePtr& feature : path.features) {
    feature->evaluate(scaled, design, at);
    at += feature->width();
  }
  Grid<double> scores(data.rows(), outputs);
  for (const StructuralStage& stage : path.stages) {
    linear_scores(design, scatter(stage, columns, outputs), stage.bias, scores, threads);
    visit(scores);
  }
}

std::vector<Errors> errors_of_stages(const StructuralResult& path, const Dataset& data,
                                     const Scaling& scaling, const Target& target, ThreadPool& threads) {
  std::vector<Errors> errors;
  for_scores_of_stages(path, data, scaling, target.outputs(), threads, [&](const Grid<double>& scores) {
    errors.push_back(errors_of(target, scores, data.weight));
  });
  return errors;
}

Round StageRounds::next(const StructuralResult& so_far, const Errors& on_train) {
  const StructuralStage& stage = so_far.stages.back();
  Round round;
  round.round = std::ssize(so_far.stages);
  round.lambda = stage.lambda;
  round.objective = stage.objective;
  round.loss = stage.loss;
  round.penalty = stage.penalty;
  round.gap = stage.gap;
  round.score = stage.score;
  round.nonzero_rows = std::ssize(stage.columns);
  round.nonzero_weights =
      std::count_if(stage.weights.begin(), stage.weights.end(), [](double w) { return w != 0; });
  round.features_used = features_of(so_far, stage);
  round.columns_read = columns_read(so_far, stage);
  round.induction_rounds = stage.rounds;
  round.steps = stage.steps;
  round.stop = text_of(stage.stop);
  round.train_error = on_train.error;
  round.output_errors = on_train.of_output;
  round.output_features = features_of_outputs(so_far, stage);
  round.seconds = stage.seconds;
  round.peak_bytes = peak_bytes();
  round.features = described(so_far.features, described_, names_);
  described_ = so_far.features.size();
  return round;
}

void warn_of_gaps(const StructuralResult& path, double tolerance, FitReport& report) {
  const StructuralStage* worst = nullptr;
  Index missed = 0;
  for (const StructuralStage& stage : path.stages) {
    if (stage.stop != StructuralStop::stalled && stage.stop != StructuralStop::steps) continue;
    if (stage.gap <= tolerance) continue;
    ++missed;
    if (worst == nullptr || stage.gap > worst->gap) worst = &stage;
  }
  if (missed == 0) return;
  report.warnings.push_back(
      fmt::format("{} of {} solutions did not reach the tolerance {:g}; the worst has a gap of {:.1e}, at "
                  "lambda {:.6g}: {}",
                  missed, path.stages.size(), tolerance, worst->gap, worst->lambda, text_of(worst->stop)));
}

Round BoostingRounds::next(Index number, const ActiveSetSolver& solver, double score, double lambda) {
  Round round;
  round.round = number;
  round.features = nlohmann::json::array();
  round.score = score;
  round.objective = solver.objective(lambda);
  round.loss = solver.loss_value();
  std::set<Index> used;
  for (const auto& [slot, candidate] : weighted(solver)) {
    used.insert(candidate);
    if (!named_.insert(candidate).second) continue;
    round.features->push_back(pool_.feature(candidate)->describe(data_.train->column_names));
  }
  round.features_used = std::ssize(used);
  round.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  round.train_error = errors_of(target_, solver.scores(), data_.train->weight, data_.context.threads).error;
  if (data_.test) {
    round.test_error = errors_of(*test_target_, test_scores(solver), (*data_.test)->weight).error;
  }
  return round;
}

Grid<double> BoostingRounds::test_scores(const ActiveSetSolver& solver) {
  const Dataset& test = **data_.test;
  Grid<double> scores(test.rows(), solver.outputs());
  const std::vector<double> bias = solver.bias();
  for (Index c = 0; c < scores.cols() && !bias.empty(); ++c) {
    std::fill_n(scores.column(c), scores.rows(), bias[static_cast<std::size_t>(c)]);
  }
  for (const auto& [slot, candidate] : weighted(solver)) {
    auto [columns, fresh] = test_columns_.try_emplace(candidate, test.rows(), pool_.width());
    if (fresh) pool_.feature(candidate)->evaluate(ColumnView(test.x, scaling_), columns->second, 0);
    const float* x = columns->second.column(booster_.slots()[static_cast<std::size_t>(slot)].column);
    for (Index c = 0; c < scores.cols(); ++c) {
      const double weight = solver.row(slot)[static_cast<std::size_t>(c)];
      for (Index i = 0; i < scores.rows(); ++i) scores(i, c) += weight * static_cast<double>(x[i]);
    }
  }
  return scores;
}

std::vector<std::pair<Index, Index>> BoostingRounds::weighted(const ActiveSetSolver& solver) const {
  std::vector<std::pair<Index, Index>> result;
  for (Index slot = 0; slot < solver.size(); ++slot) {
    const auto row = solver.row(slot);
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) {
      result.emplace_back(slot, booster_.slots()[static_cast<std::size_t>(slot)].candidate);
    }
  }
  return result;
}

}  // namespace sharelearn
