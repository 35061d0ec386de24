#include "structural_method.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "groups.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/induced_products.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/solve/design_problem.hpp"

namespace sharelearn::cli {
namespace {

/// One lambda is solved close to the last digit; along a path 1e-4 is what a curve can show.
constexpr double kSingleTolerance = 1e-8;
constexpr double kPathTolerance = 1e-4;

std::string_view text_of(StructuralStop stop) {
  switch (stop) {
    case StructuralStop::optimal:
      return "no candidate violates optimality";
    case StructuralStop::rounds:
      return "all rounds asked for";
    case StructuralStop::stalled:
      return "no further progress in double precision";
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
std::vector<double> spread(const StructuralStage& stage, Index columns, Index outputs) {
  std::vector<double> weights(static_cast<std::size_t>(columns * outputs), 0.0);
  for (std::size_t a = 0; a < stage.columns.size(); ++a) {
    std::copy_n(stage.weights.begin() + static_cast<std::ptrdiff_t>(a) * outputs, outputs,
                weights.begin() + stage.columns[a] * outputs);
  }
  return weights;
}

/// The errors of every stage on a data set; its features are computed once.
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
    linear_scores(design, spread(stage, columns, outputs), stage.bias, scores, threads);
    errors.push_back(errors_of(labels, scores, data.weight));
  }
  return errors;
}

/// The rounds of one lambda: what has a weight after each, and how it does on the test set.
class RoundReports {
 public:
  RoundReports(const Pool& pool, const StructuralBooster& booster, const FitInput& input,
               const Scaling& scaling)
      : pool_(pool), booster_(booster), input_(input), scaling_(scaling) {}

  nlohmann::json entry(Index round, const ActiveSetSolver& solver, double score, double lambda) {
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
    return report;
  }

  Grid<double> test_scores(const ActiveSetSolver& solver) {
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

 private:
  using Clock = std::chrono::steady_clock;
  /// Slots with a weight that is not zero, and their candidates.
  std::vector<std::pair<Index, Index>> weighted(const ActiveSetSolver& solver) const {
    std::vector<std::pair<Index, Index>> result;
    for (Index slot = 0; slot < solver.size(); ++slot) {
      const auto row = solver.row(slot);
      if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) {
        result.emplace_back(slot, booster_.slots()[static_cast<std::size_t>(slot)].candidate);
      }
    }
    return result;
  }

  const Pool& pool_;
  const StructuralBooster& booster_;
  const FitInput& input_;
  const Scaling& scaling_;
  Clock::time_point start_ = Clock::now();
  std::set<Index> named_;
  std::map<Index, Grid<float>> test_columns_;
};

/// Two classes with one output become a model of two outputs, the first of which is zero.
std::vector<double> doubled(const std::vector<double>& single) {
  std::vector<double> both;
  for (const double w : single) both.insert(both.end(), {0.0, w});
  return both;
}

std::shared_ptr<LinearModel> model_of(const StructuralResult& result, const StructuralLabels& labels,
                                      const Dataset& train, const Scaling& scaling) {
  auto model = std::make_shared<LinearModel>();
  model->features = result.features;
  model->scaling = scaling;
  model->names = labels.names;
  model->inputs = train.column_names;
  model->input_columns = train.columns();
  model->kind_of_output = labels.kind;
  std::vector<Index> feature_of;
  for (std::size_t f = 0; f < result.features.size(); ++f) {
    feature_of.insert(feature_of.end(), static_cast<std::size_t>(result.features[f]->width()),
                      static_cast<Index>(f));
  }
  for (const StructuralStage& from : result.stages) {
    Stage stage{from.columns, labels.binary ? doubled(from.weights) : from.weights,
                labels.binary ? doubled(from.bias) : from.bias, 0, from.lambda};
    Index last = -1;
    for (const Index column : from.columns) {
      const Index feature = feature_of[static_cast<std::size_t>(column)];
      stage.features += feature != last ? 1 : 0;
      last = feature;
    }
    model->stages.push_back(std::move(stage));
  }
  model->stage = static_cast<Index>(model->stages.size()) - 1;
  return model;
}

}  // namespace

void StructuralMethod::declare(OptionSet& options) {
  options.add_choice("--loss", loss_, structural_losses(), "What is learned");
  options.add_choice("--penalty", penalty_, penalties(), "On the weights of a feature");
  auto* lambda = options.add("--lambda", lambda_, "Weight of the penalty: one solution instead of a path")
                     ->check(non_negative())
                     ->default_str("none: a path");
  options.add("--path", path_, "Solutions from lambda_max down")->check(positive())->excludes(lambda);
  options.add("--path-min", path_min_, "The last lambda as a fraction of lambda_max")
      ->check(above(0.0, 1.0))
      ->excludes(lambda);
  declare_pool(options, pool_);
  options.add("--degree", degree_, "products: 2, or 0 for products of products, induced as it goes")
      ->check(CLI::IsMember({0, 2}));
  options.add("--induce", induce_, "Candidates taken in a round; 0: a quarter of those there")
      ->check(non_negative());
  options.add("--rounds", rounds_, "Rounds for each lambda; 0: until no candidate violates optimality")
      ->check(non_negative());
  options.add_flag("--sequential", sequential_,
                   "Forward greedy: a round updates the best candidate's weights only (needs --rounds)");
  options.add("--epsilon", epsilon_, "regression: half the width of the insensitive zone")
      ->check(non_negative());
  options.add_choice("--solver", solver_, {"fast", "paper"},
                     "paper: one row at a time by the paper's update");
  options.add("--cost", cost_file_, "File of numbers > 0, one for each candidate, that multiply its penalty");
  options.add("--folds", folds_, "Choose lambda by cross-validation over this many folds")
      ->check(between(0, 100));
  options.add_choice("--select", select_, {"error", "coverage"}, "What cross-validation looks at");
  options.add_flag("--one-standard-error,!--least-error", one_standard_error_,
                   "The largest lambda within one standard error of the best, or the best itself");
}

std::unique_ptr<Pool> StructuralMethod::build_pool(const Matrix& x, const StructuralLabels& labels,
                                                   const FitInput& input) const {
  if (pool_.name == "products" && degree_ == 0) return std::make_unique<InducedProductPool>(x);
  return make_pool({x, labels.classes.of_row, labels.classes.count()}, pool_, input.context.seed,
                   input.context.threads);
}

StructuralOptions StructuralMethod::learner_options(const FitInput& input, const Loss& loss,
                                                    const Penalty& penalty) const {
  if (sequential_ && rounds_ == 0)
    throw InputError("--sequential needs --rounds: forward-greedy boosting stops nowhere");
  StructuralOptions options;
  options.bias = input.common.bias;
  const double otherwise = lambda_ >= 0 ? kSingleTolerance : kPathTolerance;
  options.tolerance = input.common.tolerance > 0 ? input.common.tolerance : otherwise;
  options.induce = induce_;
  options.rounds = rounds_;
  options.corrective = !sequential_;
  if (!cost_file_.empty()) options.cost = read_costs(cost_file_);
  if (solver_ == "paper" || sequential_) {
    options.rows = row_update(loss, penalty);
    options.max_steps = 1000000;
  }
  return options;
}

std::vector<double> StructuralMethod::lambdas(double lambda_max) const {
  if (lambda_ >= 0) return {lambda_};
  if (penalty_ == "none") return {0.0};
  // A penalty that is no norm has no lambda_max; 1 is the scale of the losses.
  return lambda_grid(lambda_max > 0 ? lambda_max : 1.0, path_, path_min_);
}

nlohmann::json StructuralMethod::stage_report(const StructuralResult& result) const {
  const StructuralStage& stage = result.stages.back();
  const auto nonzero =
      std::count_if(stage.weights.begin(), stage.weights.end(), [](double w) { return w != 0; });
  return {{"round", result.stages.size()},
          {"lambda", stage.lambda},
          {"objective", stage.objective},
          {"loss", stage.loss},
          {"penalty", stage.penalty},
          {"gap", stage.gap},
          {"score", stage.score},
          {"nonzero_rows", stage.columns.size()},
          {"nonzero_weights", nonzero},
          {"features_used", features_of(result, stage)},
          {"induction_rounds", stage.rounds},
          {"steps", stage.steps},
          {"stop", text_of(stage.stop)},
          {"seconds", stage.seconds}};
}

/// The place on the grid: the least mean error, or the largest lambda within one standard error of it; none
/// if it was cancelled.
std::optional<Index> StructuralMethod::choose_by_folds(const FitInput& input, const StructuralLabels& labels,
                                                       const std::vector<double>& grid,
                                                       nlohmann::json& report) const {
  std::vector<std::int32_t> strata = labels.classes.of_row;
  if (strata.empty()) strata.assign(static_cast<std::size_t>(input.train.rows()), 0);
  std::vector<std::vector<double>> errors(grid.size());
  const auto penalty = penalty_from(penalty_);
  for (const Split& split : stratified_folds(strata, folds_, input.context.seed)) {
    Dataset train = select_rows(input.train, split.train);
    const Dataset test = select_rows(input.train, split.test);
    const Scaling scaling =
        Scaling::fit(train.x, input.common.scaling(default_scaling()), input.context.threads);
    scaling.apply(train.x, input.context.threads);
    const StructuralLabels known = labels_for(loss_, train, &labels.names);
    const auto loss = make_loss(loss_, known, normalised_weights(train), epsilon_);
    const auto pool = build_pool(train.x, known, input);
    StructuralBooster booster(*pool, *loss, *penalty, learner_options(input, *loss, *penalty), input.context);
    const StructuralResult path = structural_path(booster, grid, input.context);
    if (path.stages.size() < grid.size()) return std::nullopt;
    const auto of_stages = errors_of_stages(path, test, scaling, labels_for(loss_, test, &labels.names),
                                            loss->outputs(), input.context.threads);
    for (std::size_t l = 0; l < of_stages.size(); ++l) {
      errors[l].push_back(of_stages[l].value(select_, of_stages[l]["error"].get<double>()));
    }
  }
  std::vector<double> mean, deviation;
  for (const auto& of_folds : errors) {
    const double count = static_cast<double>(of_folds.size());
    const double average = std::accumulate(of_folds.begin(), of_folds.end(), 0.0) / count;
    double squares = 0;
    for (const double e : of_folds) squares += (e - average) * (e - average);
    mean.push_back(average);
    deviation.push_back(std::sqrt(squares / (count * std::max(count - 1, 1.0))));
  }
  const auto best = std::min_element(mean.begin(), mean.end()) - mean.begin();
  const double bar = mean[static_cast<std::size_t>(best)] +
                     (one_standard_error_ ? deviation[static_cast<std::size_t>(best)] : 0.0);
  const auto chosen =
      std::find_if(mean.begin(), mean.end(), [&](double e) { return e <= bar; }) - mean.begin();
  report["cross_validation"] = {{"lambda", grid},
                                {"mean", mean},
                                {"standard_error", deviation},
                                {"best", grid[static_cast<std::size_t>(best)]},
                                {"chosen", grid[static_cast<std::size_t>(chosen)]}};
  return static_cast<Index>(chosen);
}

FitResult StructuralMethod::fit(FitInput& input) {
  ThreadPool& threads = input.context.threads;
  const StructuralLabels labels = labels_for(loss_, input.train);
  const auto penalty = penalty_from(penalty_);
  Dataset raw;
  if (folds_ > 1) raw = input.train;
  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  const auto loss = make_loss(
      loss_, labels, input.weights(labels.classes.names.empty() ? nullptr : &labels.classes), epsilon_);
  const auto pool = build_pool(input.train.x, labels, input);
  StructuralBooster booster(*pool, *loss, *penalty, learner_options(input, *loss, *penalty), input.context);

  nlohmann::json report;
  report["rounds"] = nlohmann::json::array();
  const std::vector<double> grid = lambdas(booster.lambda_max());
  std::optional<StructuralLabels> test_labels;
  if (input.test) test_labels = labels_for(loss_, *input.test, &labels.names);
  std::optional<RoundReports> rounds;
  if (lambda_ >= 0) {
    rounds.emplace(*pool, booster, input, scaling);
    booster.after_round([&](Index round, const ActiveSetSolver& solver, double score) {
      if (round == 0) return;  // nothing was chosen yet
      nlohmann::json entry = rounds->entry(round, solver, score, lambda_);
      entry["train_error"] = errors_of(labels, solver.scores(), input.train.weight)["error"];
      if (input.test) {
        entry["test_error"] =
            errors_of(*test_labels, rounds->test_scores(solver), input.test->weight)["error"];
      }
      report["rounds"].push_back(std::move(entry));
    });
  }
  std::vector<nlohmann::json> train_errors;
  std::size_t described = 0;  // features that a round before has named
  const StructuralResult result = structural_path(
      booster, grid, input.context, [&](const StructuralResult& so_far, const Grid<double>& scores) {
        train_errors.push_back(errors_of(labels, scores, input.train.weight));
        nlohmann::json round = stage_report(so_far);
        round["features"] = nlohmann::json::array();
        for (; described < so_far.features.size(); ++described) {
          round["features"].push_back(so_far.features[described]->describe(input.train.column_names));
        }
        round["train_error"] = train_errors.back()["error"];
        input.context.monitor.progress("lambdas", static_cast<Index>(so_far.stages.size()),
                                       static_cast<Index>(grid.size()),
                                       fmt::format("{} rows, gap {:.1e}", so_far.stages.back().columns.size(),
                                                   so_far.stages.back().gap));
        if (lambda_ < 0) report["rounds"].push_back(std::move(round));
      });
  std::vector<nlohmann::json> test_errors;
  if (input.test) {
    test_errors = errors_of_stages(result, *input.test, scaling, *test_labels, loss->outputs(), threads);
    for (std::size_t l = 0; lambda_ < 0 && l < test_errors.size(); ++l) {
      report["rounds"][l]["test_error"] = test_errors[l]["error"];
      if (test_errors[l].contains("coverage")) report["rounds"][l]["coverage"] = test_errors[l]["coverage"];
    }
  }
  auto model = model_of(result, labels, input.train, scaling);
  if (folds_ > 1) {
    FitInput again{std::move(raw), std::nullopt, input.common, input.context};
    model->stage = choose_by_folds(again, labels, grid, report).value_or(model->stage);
  }

  const auto at = static_cast<std::size_t>(model->stage);
  const StructuralStage& stage = result.stages[at];
  report["lambda"] = stage.lambda;
  report["lambda_max"] = result.lambda_max;
  report["objective"] = stage.objective;
  report["loss"] = stage.loss;
  report["penalty"] = stage.penalty;
  report["gap"] = stage.gap;
  report["stop"] = text_of(stage.stop);
  report["train_error"] = train_errors[at]["error"];
  const nlohmann::json& shown = input.test ? test_errors[at] : train_errors[at];
  if (input.test) report["test_error"] = test_errors[at]["error"];
  for (const char* key : {"coverage", "mean_absolute"}) {
    if (shown.contains(key)) report[key] = shown[key];
  }
  report["features"] = nlohmann::json::array();
  for (const FeaturePtr& feature : result.features)
    report["features"].push_back(feature->describe(input.train.column_names));
  add_sparsity(*model, report);
  if (!input.common.quiet) print_rounds(report["rounds"]);
  return {model, report};
}

}  // namespace sharelearn::cli
