#include "sharelearn/fit/cascade.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fit/calibration.hpp"
#include "fit/cascade_common.hpp"
#include "fit/splits.hpp"
#include "learn/output_tree.hpp"
#include "pool/fourier.hpp"
#include "run/ranks.hpp"
#include "run/usage.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/phi_search.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/penalty/tree_group.hpp"
#include "sharelearn/run/checkpoint.hpp"

namespace sharelearn {
namespace {

constexpr double kTolerance = 1e-6;
constexpr int kScoreArrays = 4;           // scores, residual, and the scores of two points
constexpr double kRoughTolerance = 1e-3;  // of the models that calibrate

FieldTable row_fields(JointRows& o, const std::function<bool()>& multitask) {
  FieldTable table;
  table.section("Rows");
  table
      .add("fourier", o.fourier,
           "Learn on this many random Fourier features, which approximate a Gaussian kernel; 0: on the "
           "columns")
      .at_least(0)
      .otherwise(0);
  table.add("sigma", o.sigma, "Width of that kernel, exp(-|x - y|^2 / (2 sigma))")
      .above(0)
      .otherwise(1.0)
      .when("`fourier`", [&o] { return o.fourier.value_or(0) > 0; });
  table
      .add("negatives", o.negatives,
           "Tasks made of classes: number of rows of each other class that a task learns from; 0: all rows")
      .at_least(0)
      .otherwise(0)
      .when("a multitask `loss`", [&o, multitask] { return o.negatives.value_or(0) == 0 || multitask(); });
  return table;
}

/// Scaled and mapped rows with their labels, and the preprocessing that a model must store.
class JointProblem {
 public:
  JointProblem(std::string_view method, const CommonFit& common, const JointRows& rows, JointLoss loss,
               const Prepared& data)
      : loss_(loss), threads_(data.context.threads) {
    const Alone alone(threads_);
    const Dataset& train = *data.train;
    preprocessing_.names = train.column_names;
    preprocessing_.columns = train.columns();
    preprocessing_.scaling = Scaling::fit(train.x, scaling_from(*common.scale), threads_, train.weight);
    if (*rows.fourier > 0) {
      map_ = std::make_shared<FourierFeature>(train.columns(), *rows.fourier, *rows.sigma, data.context.seed);
    }
    train_ = training_data(train, *rows.negatives, data.context.seed);
    require_scores(method, train_.rows(), train_.score_columns(), kScoreArrays);
    train_.exclusive = !is_multiclass(loss) && has_one_class_per_row(train) && train_.outputs() > 1;
    if (data.test) {
      test_ =
          multi_output_data(designed(**data.test), is_multiclass(loss), &train_.names, train_.task_labels);
      test_->exclusive = train_.exclusive;
    }
  }
  const MultiOutputData& train() const { return train_; }
  const MultiOutputData* test() const { return test_ ? &*test_ : nullptr; }
  /// Learns and completes model and report.
  Fitted solve(const CascadeOptions& options, Context& context, FitReport&& report,
               const FitObserver& after_round) const {
    const double start = cpu_seconds();
    const Cascade cascade = fit_cascade(train_, options, context);
    report.learning_seconds = cpu_seconds() - start;
    context.keep_results();
    const auto model = cascade_model(cascade, train_, loss_, preprocessing_, map_);
    report_levels(cascade, train_, test(), *model, options.tolerance, context, report, after_round);
    return {model, std::move(report)};
  }

 private:
  /// A copy of the rows as the learner sees them.
  Dataset designed(const Dataset& rows) const {
    Dataset out = rows;
    if (map_ == nullptr) {
      preprocessing_.scaling.apply(out.x, threads_);
      return out;
    }
    DenseMatrix mapped(rows.rows(), map_->width());
    map_->evaluate(ColumnView(rows.x, preprocessing_.scaling), mapped, 0);
    out.x = std::move(mapped);
    return out;
  }
  MultiOutputData training_data(const Dataset& train, Index negatives, std::uint64_t seed) const {
    if (negatives == 0) return multi_output_data(designed(train), is_multiclass(loss_));
    if (!train.task.empty()) throw OptionError::needing("negatives", "rows with one class each, not tasks");
    return one_against_rest(designed(train), negatives, seed);
  }

  JointLoss loss_;
  ThreadPool& threads_;
  Preprocessing preprocessing_;
  FeaturePtr map_;
  MultiOutputData train_;
  std::optional<MultiOutputData> test_;
};

/// By the folds or groups of the rows that `data` was made of, if they have any.
PhiSearch search_by_folds(const MultiOutputData& data, const Dataset& rows, const CascadeOptions& options,
                          const PhiGrid& grid, Index folds, const Context& context) {
  if (rows.group.empty() && rows.fold.empty())
    return cross_validate_phi(data, options, grid, static_cast<int>(folds), context);
  Dataset source = data.order.empty() ? rows : select_rows(rows, data.order);
  source.weight = data.error_weights();
  return cross_validate_phi(data, options, grid, folds_for(source, strata(data), folds, context.seed),
                            context);
}

/// What was tried, for the report. `name` is phi's name in it.
nlohmann::json to_json(const std::vector<PhiTrial>& trials, const std::string& name) {
  nlohmann::json json = nlohmann::json::array();
  for (const PhiTrial& trial : trials) {
    const nlohmann::json phi = name == "phi" ? nlohmann::json(trial.phi) : nlohmann::json(trial.phi[0]);
    json.push_back({{name, phi},
                    {"ridge", trial.ridge},
                    {"error", 1 - trial.accuracy},
                    {"standard_error", trial.standard_error},
                    {"folds", trial.folds},
                    {"features", trial.features}});
  }
  return json;
}

/// "phi 0.1, 0.02, ridge 0.3: cross-validated error 5.2% ± 0.4, one standard error rule (...), 31 tried"
std::string reason_of(const PhiSearch& search, const PhiGrid& grid, const std::string& name) {
  CrossValidation result;
  result.best = search.best;
  result.chosen = search.chosen;
  for (const PhiTrial& trial : search.trials) {
    result.mean.push_back(1 - trial.accuracy);
    result.standard_error.push_back(trial.standard_error);
  }
  const auto point = [&](std::size_t at) {
    const PhiTrial& trial = search.trials[at];
    return fmt::format("{} {:.3g}{}", name, fmt::join(trial.phi, ", "),
                       grid.ridges.size() > 1 ? fmt::format(", ridge {:.3g}", trial.ridge) : "");
  };
  return reason_of(result, grid.choice, true, point) + fmt::format(", {} tried", search.trials.size());
}

/// Sets the phi, and the ridge if the grid has several, that cross-validation chooses; `name` is phi's name
/// in the report.
void choose_phi(const MultiOutputData& data, const Dataset& rows, const PhiGrid& grid, Index folds,
                const std::string& name, const Context& context, CascadeOptions& options, FitReport& report) {
  check_folds(folds, data.rows());
  const PhiSearch search = search_by_folds(data, rows, options, grid, folds, context);
  report.cross_validation = to_json(search.trials, name);
  options.phi = search.choice().phi;
  options.ridge = search.choice().ridge;
  report.choices.push_back(reason_of(search, grid, name));
  const std::string warning = edge_warning(search.choice().point, grid);
  if (!warning.empty() && name == "phi") report.warnings.push_back(warning);
}

/// Learns and calibrates the probabilities; hinge scores alone say nothing about how sure they are.
Fitted solve_and_calibrate(const JointProblem& problem, const CommonFit& common, const JointRows& rows,
                           const CascadeOptions& options, Prepared& data, FitReport&& report,
                           const FitObserver& after_round) {
  Fitted fitted = problem.solve(options, data.context, std::move(report), after_round);
  CascadeOptions rough = options;  // a few numbers are fitted to its scores
  rough.tolerance = std::max(rough.tolerance, kRoughTolerance);
  calibrate(fitted, common, *data.train, data.context, [&](const Split& split) {
    return scores_of_relearned(*data.train, split, fitted.model->output_names(), data.context,
                               [&](const Dataset& kept) {
                                 Prepared part{Rows(kept), std::nullopt, {}, data.context};
                                 return JointProblem("cascade", common, rows, options.loss, part)
                                     .solve(rough, part.context, FitReport(), {})
                                     .model;
                               });
  });
  return fitted;
}

Fitted learn(CascadeFit& o, Prepared& data, const FitObserver& after_round) {
  CascadeOptions options{.loss = joint_loss_from(*o.loss),
                         .levels = levels_of(o.levels, o.phi, o.mix),
                         .mix = o.mix.value_or(std::vector<double>()),
                         .phi = o.phi.value_or(std::vector<double>()),
                         .ridge = o.ridge.value_or(0),
                         .smoothing = *o.smoothing,
                         .anneal = *o.anneal,
                         .bias = *o.common.bias,
                         .tolerance = *o.common.tolerance,
                         .max_iterations = *o.max_iterations};
  const JointProblem problem(o.name, o.common, o.rows, options.loss, data);
  FitReport report;
  if (!o.phi) {
    PhiGrid grid{.scales = *o.phi_scales, .choice = choice_from(*o.choose)};
    if (!o.ridge) grid.ridges = usual_ridges();
    std::ranges::sort(grid.scales, std::greater<>());
    choose_phi(problem.train(), *data.train, grid, *o.folds, "phi", data.context, options, report);
  }
  options = complete(std::move(options));
  o.levels = options.levels;
  o.mix = options.mix;
  o.phi = options.phi;
  o.ridge = options.ridge;
  return solve_and_calibrate(problem, o.common, o.rows, options, data, std::move(report), after_round);
}

OutputTree tree_over(const MultiOutputData& data, const std::string& tree, std::uint64_t seed) {
  if (tree == "cluster") return clustered_tree(data);
  if (tree == "random") return random_tree(data.outputs(), seed);
  return parse_output_tree(tree, data.names);
}

Fitted learn(TreeLassoFit& o, Prepared& data, const FitObserver& after_round) {
  CascadeOptions options{.loss = joint_loss_from(*o.loss),
                         .levels = 1,
                         .mix = {0},
                         .phi = {},
                         .smoothing = *o.smoothing,
                         .bias = *o.common.bias,
                         .tolerance = *o.common.tolerance};
  const JointProblem problem(o.name, o.common, o.rows, options.loss, data);
  options.penalty = std::make_shared<TreeGroup>(tree_over(problem.train(), *o.tree, data.context.seed));
  FitReport report;
  if (!o.lambda) {
    const PhiGrid grid{.choice = choice_from(*o.choose)};
    choose_phi(problem.train(), *data.train, grid, *o.folds, "lambda", data.context, options, report);
    o.lambda = options.phi[0];
  }
  options.phi = {*o.lambda};
  report.end.lambda = *o.lambda;
  return solve_and_calibrate(problem, o.common, o.rows, options, data, std::move(report), after_round);
}

template <class Options>
Fitted run(const FitData& data, const Options& options, const Context& context,
           const FitObserver& after_round) {
  Options o = options;
  const FieldTable table = fields(o);
  return run_fit(o.name, data, o.common, table, context, [&](Prepared& prepared) {
    if (!o.common.scale) o.common.scale = "minmax";
    if (!o.common.tolerance) o.common.tolerance = kTolerance;
    if (!options.loss) require_classes_by_default(*prepared.train, *o.loss);
    return learn(o, prepared, after_round);
  });
}

/// Whether a table's `loss` is a multitask loss.
bool is_multitask(const std::optional<std::string>& loss, std::string_view otherwise) {
  return std::string_view(loss ? *loss : otherwise).starts_with("multitask");
}

constexpr const char* kLossHelp =
    "The task and its loss. multiclass: one class per row; multitask: yes/no tasks, given as one task per "
    "row, "
    "as lists of positive tasks, or made of classes, each against the rest";
constexpr const char* kChooseHelp =
    "least: the lowest error over the folds; one-standard-error: the fewest features whose error is within "
    "one standard error of it";
constexpr const char* kSmoothingHelp =
    "Rounding of the hinge loss; smaller is closer to the exact hinge and slower";

}  // namespace

FieldTable fields(CascadeFit& o) {
  const auto by_folds = [&o] { return !o.phi; };
  const CommonTraits traits{.class_weight = false, .checkpoint = true, .tolerance = "1e-6"};
  FieldTable table = common_fields(o.common, traits);
  table.section("The task");
  table.add("loss", o.loss, kLossHelp).choices(joint_loss_names()).otherwise("multiclass-hinge");
  table.section("Levels, and choosing their penalties");
  table
      .add("levels", o.levels,
           "Number of levels, from features shared by all classes or tasks to features of single ones")
      .between(1, kMostLevels)
      .otherwise_text("that of `phi` or `mix`, else 5");
  table
      .add("phi", o.phi,
           "Weight of the penalty of each level, separated by commas; a single value serves all levels and "
           "leaves all but the first empty")
      .at_least(0)
      .otherwise_text("chosen by cross-validation");
  add_level_fields(table, o.ridge, o.mix);
  table.add("folds", o.folds, "Number of folds of the cross-validation that chooses phi")
      .between(2, 100)
      .otherwise(5)
      .when("no `phi`", by_folds);
  table.add("choose", o.choose, kChooseHelp)
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("no `phi`", by_folds);
  table
      .add("phi-scales", o.phi_scales,
           "Values of phi that cross-validation tries at each level, as fractions of the smallest phi that "
           "leaves the level empty")
      .between(0, 1)
      .otherwise(PhiGrid().scales)
      .when("no `phi`", by_folds);
  table.append(solver_fields(o.common, traits));
  table.section("Intercept and solver");
  table.add("smoothing", o.smoothing, kSmoothingHelp).above(0).otherwise(0.5);
  table.add("anneal", o.anneal, "Approach a small `smoothing` through larger ones, which is faster")
      .otherwise(true);
  table.add("max-iterations", o.max_iterations, "Number of iterations of the solver per level, at most")
      .above(0)
      .otherwise(5000);
  table.append(row_fields(o.rows, [&o] { return is_multitask(o.loss, "multiclass-hinge"); }));
  return table;
}

Fitted fit(const FitData& data, const CascadeFit& options, const Context& context,
           const FitObserver& after_round) {
  return run(data, options, context, after_round);
}

FieldTable fields(TreeLassoFit& o) {
  const auto by_folds = [&o] { return !o.lambda; };
  const CommonTraits traits{.class_weight = false, .tolerance = "1e-6"};
  FieldTable table = common_fields(o.common, traits);
  table.section("The task");
  table.add("loss", o.loss, kLossHelp).choices(joint_loss_names()).otherwise("multitask-hinge");
  table.section("The tree, and choosing the penalty");
  table
      .add("tree", o.tree,
           "Tree over the classes or tasks: found by clustering, random, or a file of lines 'node height "
           "child ...'")
      .choices({"cluster", "random"})
      .otherwise("cluster")
      .from_file();
  table.add("lambda", o.lambda, "Weight of the penalty")
      .at_least(0)
      .otherwise_text("chosen by cross-validation");
  table.add("folds", o.folds, "Number of folds of the cross-validation that chooses lambda")
      .between(2, 100)
      .otherwise(5)
      .when("no `lambda`", by_folds);
  table.add("choose", o.choose, kChooseHelp)
      .choices(choice_names())
      .otherwise("one-standard-error")
      .when("no `lambda`", by_folds);
  table.append(solver_fields(o.common, traits));
  table.section("Intercept and solver");
  table.add("smoothing", o.smoothing, kSmoothingHelp).above(0).otherwise(0.5);
  table.append(row_fields(o.rows, [&o] { return is_multitask(o.loss, "multitask-hinge"); }));
  return table;
}

Fitted fit(const FitData& data, const TreeLassoFit& options, const Context& context,
           const FitObserver& after_round) {
  return run(data, options, context, after_round);
}

}  // namespace sharelearn
