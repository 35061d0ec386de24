#include "fit/shareboost_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "data/row_copies.hpp"
#include "fit/feature_groups.hpp"
#include "run/ranks.hpp"
#include "sharelearn/transform/deform.hpp"

namespace sharelearn {
namespace {

constexpr double kMargin = 1;  // eqn (3) of [ShareBoost11]

/// "3" candidates per round, or "3%" of those chosen so far, at least one.
struct PerRound {
  Index count = 1;
  double share = 0;
};

PerRound per_round_from(const std::string& text) {
  const bool is_share = text.ends_with('%');
  double value = 0;
  const char* end = text.data() + text.size() - (is_share ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits = error == std::errc() && stop == end && value > 0 &&
                    (is_share ? value <= 100 : value == static_cast<double>(static_cast<Index>(value)));
  if (!fits)
    throw OptionError("per-round",
                      fmt::format("expected a number above 0, or a percentage as in 3%, found '{}'", text));
  return is_share ? PerRound{1, value / 100} : PerRound{static_cast<Index>(value), 0};
}

ChoiceRule rule_from(std::string_view name) {
  if (name == "line") return ChoiceRule::line;
  if (name == "column") return ChoiceRule::column;
  if (name == "exact") return ChoiceRule::exact;
  return ChoiceRule::gradient;
}

/// Costs of groups, of candidates, or of the columns that candidates read.
void set_costs(const std::vector<double>& costs, const Pool& pool, Index columns,
               ShareBoostOptions& options) {
  const Index given = std::ssize(costs);
  if (!options.groups.members.empty()) {
    options.groups.cost = costs;
  } else if (given == pool.candidates()) {
    options.cost = costs;
  } else if (given == columns) {
    options.column_cost = costs;
  } else {
    throw OptionError(
        "costs", fmt::format("expected {} costs, one per column, or {}, one per candidate, found {}", columns,
                             pool.candidates(), given));
  }
}

ShareBoostOptions learner_options(const ShareBoostFit& o, const Pool& pool, const Dataset& rows) {
  ShareBoostOptions options;
  options.features = std::min(*o.features, pool.candidates());
  options.surplus = *o.surplus;
  options.exchange = *o.exchange;
  options.bias = *o.common.bias;
  options.norm = *o.rule == "gradient-l2" ? Norm::l2 : Norm::l1;
  options.rule = rule_from(*o.rule);
  options.shortlist = o.shortlist.value_or(options.shortlist);
  const PerRound per_round = per_round_from(*o.per_round);
  options.per_round = per_round.count;
  options.per_round_share = per_round.share;
  options.diverse = o.diverse.value_or(false);
  options.sample = *o.sample;
  if (o.groups) options.groups.members = groups_from(*o.groups, rows.column_names, pool);
  if (o.costs) set_costs(*o.costs, pool, rows.columns(), options);
  options.penalty = {
      .ridge = o.ridge.value_or(0), .l1 = *o.smooth_l1, .l1_linf = *o.smooth_l1linf, .beta = *o.beta};
  options.corrective.tolerance = *o.common.tolerance;
  options.last = options.corrective;
  options.corrective.relative_gradient = *o.round_tolerance;
  return options;
}

}  // namespace

std::vector<double> weights_for(const ShareBoostFit& o, const Dataset& rows, const Target& target) {
  return row_weights(rows, o.common, target.has_classes() ? &target.classes : nullptr);
}

std::unique_ptr<Loss> loss_for(const ShareBoostFit& o, const Target& target, std::vector<double> weights) {
  return make_loss(*o.loss, target, std::move(weights),
                   {.margin = kMargin, .epsilon = o.epsilon.value_or(0)});
}

Index copies_of(const Dataset& rows) {
  return RowCopies(rows.weight, rows.rows()).count();
}

ShareBoostProblem::ShareBoostProblem(const ShareBoostFit& o, Rows part, const Target& known,
                                     const Context& context)
    : rows(std::move(part)) {
  if (*o.deform > 0) {
    rows = Rows(deform(
        *rows, {.copies = *o.deform, .image_width = o.pool.image_width.value_or(0), .seed = context.seed},
        context.threads));
  }
  target = target_of(*rows, known.kind, &known);
  scaling = Scaling::fit(rows->x, scaling_from(*o.common.scale), context.threads, rows->weight);
  const Alone alone(context.threads);  // every rank has the whole pool
  pool = make_pool({{rows->x, scaling}, target.classes.of_row, target.classes.count(), rows->weight}, o.pool,
                   context.seed, context.threads);
  loss = loss_for(o, target, weights_for(o, *rows, target));
  options = learner_options(o, *pool, *rows);
}

OtherRows::OtherRows(const Dataset& data, const ShareBoostProblem& problem, ThreadPool& threads)
    : target_(target_of(data, problem.target.kind, &problem.target)),
      rows_(data, problem.scaling, problem.target.outputs(), threads) {}

Errors OtherRows::errors(const ShareBoostResult& path) {
  const ShareBoostStage& last = path.stages.back();
  return errors_of(target_, rows_.scores(path.features, last.weights, last.bias), rows_.weights());
}

double OtherRows::error_of_nothing(const ShareBoostResult& path) const {
  if (target_.kind != TargetKind::numbers) return 1;
  const Index rows = std::ssize(target_.values) / target_.outputs();
  const Grid<double> scores = constant_scores(rows, target_.outputs(), path.stages.front().bias);
  return errors_of(target_, scores, rows_.weights()).error;
}

std::shared_ptr<LinearModel> model_of(const ShareBoostResult& path, const ShareBoostProblem& problem) {
  auto model = model_over(path.features, problem.target.names, *problem.rows, problem.scaling);
  model->kind_of_output = problem.target.output_kind();
  model->task_labels = problem.target.tasks.labels;
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  if (problem.target.kind == TargetKind::classes) model->set_link(Link::margin_softmax);
  Index features = 0;
  for (const ShareBoostStage& from : path.stages) {
    features += std::ssize(from.candidates);
    Stage stage{{},
                two_classes ? doubled(from.weights) : from.weights,
                two_classes ? doubled(from.bias) : from.bias,
                features,
                static_cast<double>(features)};
    const Index columns = std::ssize(from.weights) / problem.target.outputs();
    for (Index column = 0; column < columns; ++column) stage.columns.push_back(column);
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

std::vector<ShareBoostStage> rounds_of(const Model& model, const ShareBoostFit& o,
                                       const ShareBoostProblem& problem) {
  const auto* path = dynamic_cast<const LinearModel*>(&model);
  const auto is_column = [](const FeaturePtr& feature) { return feature->pool() == "columns"; };
  if (path == nullptr || *o.pool.name != "columns" || !std::ranges::all_of(path->features, is_column))
    throw InputError("only a model with `pool` columns can be continued");
  if (*o.surplus > 0 || *o.exchange || *o.folds > 0 || *o.validation > 0)
    throw InputError("a model cannot be continued with `surplus`, `exchange`, `folds` or `validation`");
  const bool has_bias = !path->stages.empty() && !path->stages.front().bias.empty();
  if (path->names != problem.target.names || path->columns() != problem.rows->columns() ||
      has_bias != *o.common.bias)
    throw InputError("the model to continue has other columns, classes or another `bias` than this fit");
  if (std::ssize(path->features) > problem.options.features) {
    throw OptionError("features", fmt::format("expected at least the {} of the model to continue, found {}",
                                              path->features.size(), problem.options.features));
  }
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  const auto single = [&](std::vector<double> both) {
    if (!two_classes) return both;
    for (std::size_t i = 0; i < both.size() / 2; ++i) both[i] = both[2 * i + 1];
    both.resize(both.size() / 2);
    return both;
  };
  std::vector<ShareBoostStage> rounds;
  Index before = 0;
  for (const Stage& stage : path->stages) {
    ShareBoostStage& round = rounds.emplace_back();
    for (; before < stage.features; ++before)
      round.candidates.push_back(path->features[static_cast<std::size_t>(before)]->inputs().front());
    round.weights = single(stage.weights);
    round.bias = single(stage.bias);
    round.report.converged = true;
  }
  return rounds;
}

}  // namespace sharelearn
