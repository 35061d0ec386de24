#include "structural_method.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "groups.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/induced_products.hpp"
#include "sharelearn/run/error.hpp"
#include "structural_reports.hpp"

namespace sharelearn::cli {
namespace {

/// One lambda is solved close to the last digit; along a path 1e-4 is what a curve can show.
constexpr double kSingleTolerance = 1e-8;
constexpr double kPathTolerance = 1e-4;
/// All solutions of a path stay in the model.
constexpr double kLongestPath = 100000;

/// Two classes with one output become a model of two outputs, the first of which is zero.
std::vector<double> doubled(const std::vector<double>& single) {
  std::vector<double> both;
  for (const double w : single) both.insert(both.end(), {0.0, w});
  return both;
}

std::shared_ptr<LinearModel> model_of(const StructuralResult& result, const StructuralLabels& labels,
                                      const Dataset& train, const Scaling& scaling) {
  auto model = model_over(result.features, labels.names, train, scaling);
  model->kind_of_output = labels.kind;
  model->task_labels = labels.tasks.labels;
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
  options.add("--path", path_, "Solutions from lambda_max down")
      ->check(between(1, kLongestPath))
      ->excludes(lambda);
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
  if (pool_.name == "products" && degree_ == 0)
    return std::make_unique<InducedProductPool>(x, InducedProductPool::kUsualFactors, pool_.squares);
  return make_pool({x, labels.classes.of_row, labels.classes.count()}, pool_, input.context.seed,
                   input.context.threads);
}

void StructuralMethod::check(const FitInput& input) const {
  if (sequential_ && rounds_ == 0)
    throw InputError("--sequential needs --rounds: forward-greedy boosting stops nowhere");
  if (degree_ == 0 && pool_.name != "products") {
    throw InputError(fmt::format("--degree 0 is of products: the pool '{}' has none", pool_.name));
  }
  const bool has_classes = loss_ == "multiclass" || loss_ == "binary" || loss_ == "binary-exp";
  if (!has_classes && input.common.class_weight != "none") {
    throw InputError(fmt::format("--class-weight needs classes: --loss {} has none", loss_));
  }
  if (!has_classes && select_ == "coverage") {
    throw InputError(fmt::format("--select coverage needs classes: --loss {} has none", loss_));
  }
  check_folds(folds_, input.train.rows());
  if (folds_ > 1 && !cost_file_.empty() && pool_.name != "columns" && pool_.name != "products") {
    throw InputError(fmt::format(
        "--cost and --folds exclude each other with --pool {}: every fold has candidates of its own",
        pool_.name));
  }
}

double StructuralMethod::tolerance(const FitInput& input) const {
  const double otherwise = is_single() ? kSingleTolerance : kPathTolerance;
  return input.common.tolerance > 0 ? input.common.tolerance : otherwise;
}

StructuralOptions StructuralMethod::learner_options(const FitInput& input, const Loss& loss,
                                                    const Penalty& penalty, const Pool& pool) const {
  StructuralOptions options;
  options.bias = input.common.bias;
  options.tolerance = tolerance(input);
  options.induce = induce_;
  options.rounds = rounds_;
  options.corrective = !sequential_;
  if (!cost_file_.empty()) options.cost = read_costs(cost_file_);
  if (!cost_file_.empty() && std::ssize(options.cost) != pool.candidates()) {
    throw InputError(fmt::format("{}: expected a cost for each of the {} candidates of the pool, found {}",
                                 cost_file_, pool.candidates(), options.cost.size()));
  }
  if (solver_ == "paper" || sequential_) {
    options.row_update = row_update(loss, penalty);
    options.max_steps = 1000000;
  }
  return options;
}

std::vector<double> StructuralMethod::lambdas(double lambda_max) const {
  if (is_single()) return {lambda_.value_or(0)};
  // A penalty that is no norm has no lambda_max; 1 is the scale of the losses.
  return lambda_grid(lambda_max > 0 ? lambda_max : 1.0, path_, path_min_);
}

/// The place on the grid: the least mean error, or the largest lambda within one standard error of it.
Index StructuralMethod::choose_by_folds(const FitInput& input, const StructuralLabels& labels,
                                        const std::vector<double>& grid, nlohmann::json& report) const {
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
    const StructuralLabels known = labels_for(loss_, train, &labels);
    const auto loss = make_loss(loss_, known, input.weights_of(train, &known.classes), epsilon_);
    const auto pool = build_pool(train.x, known, input);
    StructuralBooster booster(*pool, *loss, *penalty, learner_options(input, *loss, *penalty, *pool),
                              input.context);
    const StructuralResult path = structural_path(booster, grid, input.context);
    require_finished(input.context, "cross-validation");
    const auto of_stages = errors_of_stages(path, test, scaling, labels_for(loss_, test, &labels),
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

/// Every lambda solved; the report gets its `rounds`: those of the path, or of the one lambda.
StructuralMethod::Solved StructuralMethod::solve(const FitInput& input, const StructuralLabels& labels,
                                                 const Scaling& scaling, nlohmann::json& report) const {
  const auto penalty = penalty_from(penalty_);
  const auto loss = make_loss(loss_, labels, input.weights(&labels.classes), epsilon_);
  const auto pool = build_pool(input.train.x, labels, input);
  StructuralBooster booster(*pool, *loss, *penalty, learner_options(input, *loss, *penalty, *pool),
                            input.context);
  Solved solved;
  solved.grid = lambdas(booster.lambda_max());
  std::optional<StructuralLabels> test_labels;
  if (input.test) test_labels = labels_for(loss_, *input.test, &labels);
  if (test_labels && !test_labels->tasks.unknown.empty())
    report["unknown_tasks"] = test_labels->tasks.unknown;
  RoundReports rounds(*pool, booster, input, scaling, labels, test_labels);
  if (is_single()) {
    booster.after_round([&](Index round, const ActiveSetSolver& solver, double score) {
      if (round > 0) report["rounds"].push_back(rounds.entry(round, solver, score, solved.grid.front()));
    });
  }
  StageReports stages(input.train.column_names);
  solved.result = structural_path(
      booster, solved.grid, input.context, [&](const StructuralResult& so_far, const Grid<double>& scores) {
        solved.train_errors.push_back(errors_of(labels, scores, input.train.weight));
        if (!is_single()) report["rounds"].push_back(stages.entry(so_far, solved.train_errors.back()));
        input.context.monitor.progress("lambdas", std::ssize(so_far.stages), std::ssize(solved.grid),
                                       fmt::format("{} rows, gap {:.1e}", so_far.stages.back().columns.size(),
                                                   so_far.stages.back().gap));
      });
  if (!input.test) return solved;
  solved.test_errors = errors_of_stages(solved.result, *input.test, scaling, *test_labels, loss->outputs(),
                                        input.context.threads);
  for (std::size_t l = 0; !is_single() && l < solved.test_errors.size(); ++l) {
    const nlohmann::json& errors = solved.test_errors[l];
    report["rounds"][l]["test_error"] = errors["error"];
    if (errors.contains("coverage")) report["rounds"][l]["coverage"] = errors["coverage"];
  }
  return solved;
}

FitResult StructuralMethod::fit(FitInput& input) {
  check(input);
  ThreadPool& threads = input.context.threads;
  const StructuralLabels labels = labels_for(loss_, input.train);
  Dataset raw;
  if (folds_ > 1) raw = input.train;
  const Scaling scaling = Scaling::fit(input.train.x, input.common.scaling(default_scaling()), threads);
  scaling.apply(input.train.x, threads);
  nlohmann::json report{{"rounds", nlohmann::json::array()}};
  const Solved solved = solve(input, labels, scaling, report);
  warn_of_gaps(solved.result, tolerance(input));

  auto model = model_of(solved.result, labels, input.train, scaling);
  if (folds_ > 1) {
    FitInput again{std::move(raw), std::nullopt, input.common, input.context};
    model->stage = choose_by_folds(again, labels, solved.grid, report);
  }
  const auto at = static_cast<std::size_t>(model->stage);
  report_stage(solved.result, solved.result.stages[at], report);
  report["gap_is"] = penalty_ == "none" || solved.result.stages[at].lambda == 0 ? "estimate" : "bound";
  report["train_error"] = solved.train_errors[at]["error"];
  const nlohmann::json& shown = input.test ? solved.test_errors[at] : solved.train_errors[at];
  if (input.test) report["test_error"] = shown["error"];
  for (const char* key : {"coverage", "mean_absolute"}) {
    if (shown.contains(key)) report[key] = shown[key];
  }
  report["features"] = nlohmann::json::array();
  for (const FeaturePtr& feature : solved.result.features)
    report["features"].push_back(feature->describe(input.train.column_names));
  add_sparsity(*model, report);
  if (input.common.shows_tables()) print_rounds(report["rounds"]);
  return {model, report, {{"tolerance", tolerance(input)}}};
}

}  // namespace sharelearn::cli
