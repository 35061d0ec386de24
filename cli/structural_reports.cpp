#include "structural_reports.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sharelearn/solve/design_problem.hpp"

namespace sharelearn::cli {
namespace {

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

/// Features with a weight; those of one pool have the same number of columns.
Index features_of(const StructuralResult& result, const StructuralStage& stage) {
  std::set<Index> used;
  for (const Index column : stage.columns) used.insert(column / result.features.front()->width());
  return std::ssize(used);
}

/// A stage's weights with a place for every design column of `columns`.
std::vector<double> scatter(const StructuralStage& stage, Index columns, Index outputs) {
  std::vector<double> weights(static_cast<std::size_t>(columns * outputs), 0.0);
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    std::copy_n(stage.weights.begin() + static_cast<std::ptrdiff_t>(a) * outputs, outputs,
                weights.begin() + stage.columns[a] * outputs);
  }
  return weights;
}

}  // namespace

std::vector<nlohmann::json> errors_of_stages(const StructuralResult& result, const Dataset& data,
                                             const Scaling& scaling, const StructuralLabels& labels,
                                             Index outputs, ThreadPool& threads) {
  Index columns = 0;
  for (const FeaturePtr& feature : result.features) columns += feature->width();
  Grid<float> design(data.rows(), columns);
  const ScaledColumns scaled(data.x, scaling);
  Index at = 0;
  for (const FeaturePtr& feature : result.features) {
    feature->evaluate(scaled, design, at);
    at += feature->width();
  }
  std::vector<nlohmann::json> errors;
  Grid<double> scores(data.rows(), outputs);
  for (const StructuralStage& stage : result.stages) {
    linear_scores(design, scatter(stage, columns, outputs), stage.bias, scores, threads);
    errors.push_back(errors_of(labels, scores, data.weight));
  }
  return errors;
}

nlohmann::json StageReports::entry(const StructuralResult& so_far, const nlohmann::json& train_errors) {
  const StructuralStage& stage = so_far.stages.back();
  const auto nonzero =
      std::count_if(stage.weights.begin(), stage.weights.end(), [](double w) { return w != 0; });
  nlohmann::json report{{"round", so_far.stages.size()},
                        {"features", nlohmann::json::array()},
                        {"lambda", stage.lambda},
                        {"objective", stage.objective},
                        {"loss", stage.loss},
                        {"penalty", stage.penalty},
                        {"gap", stage.gap},
                        {"score", stage.score},
                        {"nonzero_rows", stage.columns.size()},
                        {"nonzero_weights", nonzero},
                        {"features_used", features_of(so_far, stage)},
                        {"induction_rounds", stage.rounds},
                        {"steps", stage.steps},
                        {"stop", text_of(stage.stop)},
                        {"train_error", train_errors["error"]},
                        {"seconds", stage.seconds}};
  for (; described_ < so_far.features.size(); ++described_) {
    report["features"].push_back(so_far.features[described_]->describe(names_));
  }
  return report;
}

void report_stage(const StructuralResult& result, const StructuralStage& stage, nlohmann::json& report) {
  report["lambda"] = stage.lambda;
  report["lambda_max"] = result.lambda_max;
  report["objective"] = stage.objective;
  report["loss"] = stage.loss;
  report["penalty"] = stage.penalty;
  report["gap"] = stage.gap;
  report["stop"] = text_of(stage.stop);
}

void warn_of_gaps(const StructuralResult& result, double tolerance) {
  const StructuralStage* worst = nullptr;
  Index missed = 0;
  for (const StructuralStage& stage : result.stages) {
    if (stage.stop != StructuralStop::stalled && stage.stop != StructuralStop::steps) continue;
    ++missed;
    if (worst == nullptr || stage.gap > worst->gap) worst = &stage;
  }
  if (missed == 0) return;
  fmt::print(
      stderr,
      "sharelearn: {} of {} solutions did not reach the tolerance {:g}; the worst has a gap of {:.1e}, "
      "at lambda {:.6g}: {}\n",
      missed, result.stages.size(), tolerance, worst->gap, worst->lambda, text_of(worst->stop));
}

nlohmann::json RoundReports::entry(Index round, const ActiveSetSolver& solver, double score, double lambda) {
  nlohmann::json report{{"round", round},
                        {"features", nlohmann::json::array()},
                        {"score", score},
                        {"objective", solver.objective(lambda)},
                        {"loss", solver.loss_value()}};
  std::set<Index> used;
  for (const auto& [slot, candidate] : weighted(solver)) {
    used.insert(candidate);
    if (!named_.insert(candidate).second) continue;
    report["features"].push_back(pool_.feature(candidate)->describe(input_.train.column_names));
  }
  report["features_used"] = used.size();
  report["seconds"] = std::chrono::duration<double>(Clock::now() - start_).count();
  report["train_error"] = errors_of(labels_, solver.scores(), input_.train.weight)["error"];
  if (input_.test) {
    report["test_error"] = errors_of(*test_labels_, test_scores(solver), input_.test->weight)["error"];
  }
  return report;
}

Grid<double> RoundReports::test_scores(const ActiveSetSolver& solver) {
  const Dataset& test = *input_.test;
  Grid<double> scores(test.rows(), solver.outputs());
  const std::vector<double> bias = solver.bias();
  for (Index c = 0; c < scores.cols() && !bias.empty(); ++c) {
    std::fill_n(scores.column(c), scores.rows(), bias[static_cast<std::size_t>(c)]);
  }
  for (const auto& [slot, candidate] : weighted(solver)) {
    auto [columns, fresh] = test_columns_.try_emplace(candidate, test.rows(), pool_.width());
    if (fresh) pool_.feature(candidate)->evaluate(ScaledColumns(test.x, scaling_), columns->second, 0);
    const float* x = columns->second.column(booster_.slots()[static_cast<std::size_t>(slot)].column);
    for (Index c = 0; c < scores.cols(); ++c) {
      const double weight = solver.row(slot)[static_cast<std::size_t>(c)];
      for (Index i = 0; i < scores.rows(); ++i) scores(i, c) += weight * static_cast<double>(x[i]);
    }
  }
  return scores;
}

std::vector<std::pair<Index, Index>> RoundReports::weighted(const ActiveSetSolver& solver) const {
  std::vector<std::pair<Index, Index>> result;
  for (Index slot = 0; slot < solver.size(); ++slot) {
    const auto row = solver.row(slot);
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) {
      result.emplace_back(slot, booster_.slots()[static_cast<std::size_t>(slot)].candidate);
    }
  }
  return result;
}

}  // namespace sharelearn::cli
