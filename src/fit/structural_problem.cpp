#include "fit/structural_problem.hpp"

#include <fmt/core.h>

#include <set>

#include "fit/feature_groups.hpp"
#include "fit/path_end.hpp"
#include "run/ranks.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/penalty/sparse_group.hpp"

namespace sharelearn {
namespace {

bool has_groups(const StructuralFit& o) {
  return o.groups.has_value() || o.whole_pieces.value_or(false);
}

/// One cost per candidate: as given, or the sum over the columns that it reads.
std::vector<double> candidate_costs(const std::vector<double>& costs, const Pool& pool, Index columns) {
  if (std::ssize(costs) == pool.candidates()) return costs;
  if (std::ssize(costs) != columns) {
    throw OptionError(
        "cost", fmt::format("expected a cost for each of the {} candidates of the pool, or each of the {} "
                            "columns, found {}",
                            pool.candidates(), columns, costs.size()));
  }
  std::vector<double> result;
  for (Index c = 0; c < pool.candidates(); ++c) {
    const std::vector<Index> inputs = pool.feature(c)->inputs();
    double sum = 0;
    for (const Index column : std::set<Index>(inputs.begin(), inputs.end())) {
      sum += costs[static_cast<std::size_t>(column)];
    }
    result.push_back(sum);
  }
  return result;
}

GroupOptions group_options(const StructuralFit& o, const Dataset& rows, const Pool& pool) {
  GroupOptions options;
  if (o.groups) options.members = groups_from(*o.groups, rows.column_names, pool);
  if (o.cost) options.cost = *o.cost;
  if (options.cost.size() != (o.cost ? options.members.size() : 0)) {
    throw OptionError("cost", fmt::format("expected a cost for each of the {} groups, found {}",
                                          options.members.size(), options.cost.size()));
  }
  options.bias = *o.common.bias;
  options.tolerance = *o.common.tolerance;
  options.induce = *o.induce;
  return options;
}

StructuralOptions learner_options(const StructuralFit& o, Index columns, const StructuralProblem& problem,
                                  const MakeRowUpdate& row_update) {
  StructuralOptions options;
  options.bias = *o.common.bias;
  options.tolerance = *o.common.tolerance;
  options.induce = *o.induce;
  options.rounds = *o.rounds;
  options.corrective = !*o.sequential;
  if (o.cost) {
    options.cost = candidate_costs(*o.cost, *problem.pool, columns);
  }
  if (*o.solver == "paper" || *o.sequential) {
    options.row_update = row_update(*problem.loss, *problem.penalty);
    options.max_steps = 1000000;
  }
  return options;
}

/// The target, if there is memory for its scores.
Target affordable(Target target, Index rows) {
  constexpr int kScoreArrays = 5;  // of the active set: scores, residual, both of a trial point, a direction
  require_scores("a penalised fit", rows, target.outputs(), kScoreArrays);
  return target;
}

}  // namespace

bool is_single(const StructuralFit& o) {
  return o.lambda || o.penalty.value_or("") == "none";
}

std::vector<double> weights_for(const StructuralFit& o, const Dataset& rows, const Target& target) {
  return row_weights(rows, o.common, target.has_classes() ? &target.classes : nullptr);
}

StructuralProblem::StructuralProblem(const StructuralFit& o, const Dataset& rows, const Target* known,
                                     const MakeRowUpdate& row_update, const Context& context)
    : target(affordable(target_of(rows, target_kind_of(*o.loss), known), rows.rows())),
      scaling(Scaling::fit(rows.x, scaling_from(*o.common.scale), context.threads, rows.weight)),
      penalty(*o.penalty == "sparse-group" ? std::make_unique<SparseGroup>(*o.mix)
                                           : penalty_from(*o.penalty)),
      loss(make_loss(*o.loss, target, weights_for(o, rows, target), {.epsilon = o.epsilon.value_or(0)})) {
  if (*o.pool.name == "products" && *o.degree != 2) {
    auto products =
        std::make_unique<InducedProductPool>(ColumnView(rows.x, scaling), *o.degree, *o.pool.squares);
    induced = products.get();
    pool = std::move(products);
  } else {
    const Alone alone(context.threads);  // every rank has the whole pool
    pool = make_pool({{rows.x, scaling}, target.classes.of_row, target.classes.count(), rows.weight}, o.pool,
                     context.seed, context.threads);
  }
  if (has_groups(o)) {
    booster = std::make_unique<GroupBooster>(*pool, *loss, *penalty, group_options(o, rows, *pool), context);
    return;
  }
  auto single = std::make_unique<StructuralBooster>(
      *pool, *loss, *penalty, learner_options(o, rows.columns(), *this, row_update), context);
  rounds = single.get();
  booster = std::move(single);
}

std::vector<double> lambdas(const StructuralFit& o, PathBooster& booster) {
  if (is_single(o)) return {o.lambda.value_or(0)};
  // Where the bias alone explains the data, there is no lambda to begin with; 1 is the scale of the losses.
  const double first = booster.first_lambda();
  return lambda_grid(first > 0 ? first : 1.0, *o.path, *o.path_min);
}

StructuralResult solutions(const StructuralFit& o, const StructuralProblem& problem, const Dataset& rows,
                           const std::vector<double>& grid, const Context& context,
                           const StructuralStageObserver& after_stage, const ObserverState& state) {
  const bool limited = o.max_features.value_or(0) > 0;
  StructuralResult path = limited ? path_up_to(*o.max_features, *problem.booster, grid, context, after_stage)
                                  : structural_path(*problem.booster, grid, context, after_stage, state);
  if (o.refit) {
    refit_stages(path, rows, problem.scaling, *problem.loss,
                 {.ridge = *o.refit, .bias = *o.common.bias, .tolerance = kSingleTolerance}, context);
  }
  return path;
}

std::shared_ptr<LinearModel> model_of(const StructuralResult& path, const StructuralProblem& problem,
                                      const Dataset& train) {
  const Target& target = problem.target;
  auto model = model_over(path.features, target.names, train, problem.scaling);
  model->kind_of_output = target.output_kind();
  model->task_labels = target.tasks.labels;
  if (problem.loss->name().ends_with("-exp")) model->set_link(exponential_link(target.output_kind()));
  std::vector<Index> feature_of;
  for (std::size_t f = 0; f < path.features.size(); ++f) {
    feature_of.insert(feature_of.end(), static_cast<std::size_t>(path.features[f]->width()),
                      static_cast<Index>(f));
  }
  const bool two_classes = target.kind == TargetKind::two_classes;
  for (const StructuralStage& from : path.stages) {
    Stage stage{from.columns, two_classes ? doubled(from.weights) : from.weights,
                two_classes ? doubled(from.bias) : from.bias, 0, from.lambda};
    Index last = -1;
    for (const Index column : from.columns) {
      const Index feature = feature_of[static_cast<std::size_t>(column)];
      stage.features += feature != last ? 1 : 0;
      last = feature;
    }
    model->stages.push_back(std::move(stage));
  }
  model->stage = std::ssize(model->stages) - 1;
  return model;
}

}  // namespace sharelearn
