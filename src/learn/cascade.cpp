#include "sharelearn/learn/cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "data/complete.hpp"
#include "data/to_size.hpp"
#include "learn/learner_bytes.hpp"
#include "learn/multi_output_problem.hpp"
#include "run/usage.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/penalty/with_ridge.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/newton_start.hpp"

namespace sharelearn {

namespace {

constexpr const char* kLevelsEntry = "levels";  // of a checkpoint

bool is_hinge(JointLoss loss) {
  return loss == JointLoss::multiclass_hinge || loss == JointLoss::multitask_hinge;
}

/// Smoothings on the way to the requested one: each a quarter of the previous one, from at most 1 down.
std::vector<double> smoothing_steps(const CascadeOptions& options) {
  std::vector<double> steps{options.smoothing};
  while (is_hinge(options.loss) && options.anneal && steps.back() * 4 <= 1) steps.push_back(steps.back() * 4);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::shared_ptr<const Penalty> norm_of(const CascadeOptions& options, double mix) {
  if (options.penalty != nullptr) return options.penalty;
  return std::make_shared<SparseGroup>(mix);
}

/// A level's penalty is strength * penalty.
struct LevelPenalty {
  std::shared_ptr<const Penalty> penalty;
  double strength;
};

LevelPenalty penalty_of(const CascadeOptions& options, const CascadeLevel& level) {
  const auto norm = norm_of(options, level.mix);
  if (level.ridge == 0) return {norm, level.phi};
  return {std::make_shared<WithRidge>(norm, level.phi, level.ridge), 1};
}

CascadeLevel unsolved_level(const CascadeOptions& options, Index l) {
  return {.mix = options.mix[to_size(l)],
          .phi = options.phi[to_size(l)],
          .ridge = options.ridge,
          .increment = {},
          .report = {}};
}

std::string step_name(std::size_t step) {
  return fmt::format("step {}", step + 1);
}

/// The smoothing at which the context's checkpoint has this level, if it has it.
std::optional<std::size_t> stored_step(const Context& context, std::size_t steps) {
  for (std::size_t s = steps; context.checkpoint != nullptr && s-- > 0;) {
    if (context.checkpoint->find(fmt::format("{}/{}", step_name(s), kFistaEntry))) return s;
  }
  return std::nullopt;
}

/// Weighted mean of each task's numbers.
std::vector<double> task_means(const MultiOutputData& data) {
  std::vector<double> means(to_size(data.outputs()), 0.0);
  for (Index t = 0; t < data.outputs(); ++t) {
    const RowRange rows = data.rows_of(t);
    double sum = 0, weight = 0;
    for (Index i = rows.begin; i < rows.end; ++i) {
      sum += data.weights[to_size(i)] * data.value_of(i, t);
      weight += data.weights[to_size(i)];
    }
    if (weight > 0) means[to_size(t)] = sum / weight;
  }
  return means;
}

/// Of a model that knows nothing: zero scores, or with a bias the mean of each task's numbers.
double loss_of_empty(const MultiOutputData& data, const Loss& loss, const CascadeOptions& options,
                     Context& context) {
  Grid<double> scores(data.rows(), data.score_columns());
  if (data.has_numbers() && options.bias) {
    const std::vector<double> means = task_means(data);
    for (Index t = 0; t < data.outputs(); ++t) {
      double* of_task = scores.column(data.own_rows() ? 0 : t);
      std::fill(of_task + data.rows_of(t).begin, of_task + data.rows_of(t).end, means[to_size(t)]);
    }
  }
  return evaluate(loss, scores, nullptr, context.threads);
}

/// Where the first level starts: at zero, with numbers at their means.
CompositePoint start_of(const MultiOutputData& data, const Design& design) {
  CompositePoint point = zero_point(design);
  if (data.has_numbers() && design.has_bias()) point.bias = task_means(data);
  return point;
}

/// argmin of eq. (4), by annealed smoothing; all steps but the last are solved loosely. From `near`, the
/// increment of a similar problem, the last step is enough. Without it the level starts at its own
/// increment, or at zero if it has none.
FistaReport solve_level(const MultiOutputData& data, const Design& design, const CascadeOptions& options,
                        const Grid<double>& offset, const CompositePoint* near, CascadeLevel& level,
                        Context& context) {
  const LevelPenalty penalty = penalty_of(options, level);
  if (near != nullptr) level.increment = *near;
  if (level.increment.weights.empty()) level.increment = zero_point(design);
  FistaReport report;
  const auto steps = smoothing_steps(options);
  const std::optional<std::size_t> stored = stored_step(context, steps.size());
  for (std::size_t s = stored.value_or(near != nullptr ? steps.size() - 1 : 0); s < steps.size(); ++s) {
    const CheckpointStep step(context.checkpoint, step_name(s));
    const auto loss = make_loss(data, options.loss, steps[s], options.epsilon);
    const bool last = s + 1 == steps.size();
    const FistaOptions solver{
        .tolerance = last ? options.tolerance : 1e-2,
        .max_iterations = last ? options.max_iterations : 200,
        .least_objective = options.tolerance_from * loss_of_empty(data, *loss, options, context)};
    const CompositeProblem problem{design, *loss, *penalty.penalty, penalty.strength, &offset};
    Index before = report.iterations;
    if (!stored && near == nullptr && !is_hinge(options.loss) && options.penalty == nullptr &&
        models_pay(problem)) {
      before += approach_by_models(problem, level.increment, solver.tolerance, context);
    }
    report = minimise_fista(problem, level.increment, solver, context);
    report.iterations += before;
  }
  return report;
}

void add_scores(const Design& design, const CompositePoint& point, Grid<double>& scores,
                ThreadPool& threads) {
  std::vector<Index> used;
  std::vector<double> weights;
  const Index outputs = design.outputs();
  for (Index j = 0; j < design.columns(); ++j) {
    const auto row = point.weights.begin() + j * outputs;
    if (std::all_of(row, row + outputs, [](double w) { return w == 0; })) continue;
    used.push_back(j);
    weights.insert(weights.end(), row, row + outputs);
  }
  const auto bias = design.centred_bias(point.bias, point.weights);
  ActiveColumns(design, std::move(used)).scores(weights, bias, &scores, scores, threads);
}

void keep_levels(const Cascade& cascade, Checkpoint& checkpoint) {
  ByteWriter out;
  out.u64(cascade.levels.size());
  for (const CascadeLevel& level : cascade.levels) write_level(out, level);
  checkpoint.put(kLevelsEntry, out);
  checkpoint.put(fmt::format("level {}", cascade.levels.size()), {});  // its steps are not needed any more
}

/// The levels of a checkpoint, if it has any; it belongs to a run with the same ridge.
Cascade levels_of(const Checkpoint* checkpoint, const Design& design, double ridge) {
  Cascade stored;
  const std::string* found = checkpoint != nullptr ? checkpoint->find(kLevelsEntry) : nullptr;
  if (found == nullptr) return stored;
  ByteReader in = checkpoint->reader(*found);
  const CompositePoint like = zero_point(design);
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    stored.levels.push_back(read_level(in, like));
    stored.levels.back().ridge = ridge;
  }
  in.expect_end();
  return stored;
}

Index equal_levels(const Cascade& known, const CascadeOptions& options) {
  Index kept = 0;
  while (kept < options.levels && kept < static_cast<Index>(known.levels.size()) &&
         known.levels[to_size(kept)].mix == options.mix[to_size(kept)] &&
         known.levels[to_size(kept)].phi == options.phi[to_size(kept)] &&
         known.levels[to_size(kept)].ridge == options.ridge) {
    ++kept;
  }
  return kept;
}

/// The increment of the first level of this mix, from which another solve may start.
const CompositePoint* increment_of_mix(const Cascade& known, double mix) {
  const auto found = std::ranges::find(known.levels, mix, &CascadeLevel::mix);
  return found != known.levels.end() ? &found->increment : nullptr;
}

void check_numbers(const std::vector<double>& values, Index levels, const char* what) {
  if (static_cast<Index>(values.size()) != levels) {
    throw InputError(
        fmt::format("{} needs one value for each of the {} levels, {} given", what, levels, values.size()));
  }
}

}  // namespace

CascadeOptions complete(CascadeOptions options) {
  if (options.levels < 1) throw InputError("a cascade needs at least 1 level");
  if (is_hinge(options.loss) && !(options.smoothing > 0)) {
    throw InputError("the batch cascade needs a smoothing above 0 for hinge losses");
  }
  if (options.mix.empty()) {
    for (Index l = 0; l < options.levels; ++l) {
      options.mix.push_back(l == 0 ? 0.0 : static_cast<double>(l) / static_cast<double>(options.levels - 1));
    }
  }
  if (options.phi.size() == 1) options.phi.assign(to_size(options.levels), options.phi.front());
  check_numbers(options.mix, options.levels, "mix");
  check_numbers(options.phi, options.levels, "phi");
  for (const double mix : options.mix) {
    if (!(mix >= 0 && mix <= 1)) throw InputError(fmt::format("mix must be in [0, 1], {} given", mix));
  }
  for (const double phi : options.phi) {
    if (!(phi >= 0 && std::isfinite(phi)))
      throw InputError(fmt::format("phi must be 0 or more, {} given", phi));
  }
  if (!(options.ridge >= 0 && std::isfinite(options.ridge)))
    throw InputError(fmt::format("ridge must be 0 or more, {} given", options.ridge));
  return options;
}

Cascade fit_cascade(const MultiOutputData& data, const CascadeOptions& given, Context& context,
                    const Cascade* known) {
  const auto start = std::chrono::steady_clock::now();
  const CascadeOptions options = complete(given);
  const Design design = make_design(data, options.bias, context.threads);
  const Cascade stored = levels_of(context.checkpoint, design, options.ridge);
  if (known == nullptr) known = &stored;
  Cascade cascade;
  cascade.scores = Grid<double>(data.rows(), data.score_columns());
  const Index kept = equal_levels(*known, options);
  for (Index l = 0; l < options.levels && !context.cancelled(); ++l) {
    CascadeLevel level = unsolved_level(options, l);
    try {
      if (l < kept) {
        level = known->levels[to_size(l)];
      } else {
        const CheckpointStep step(context.checkpoint, fmt::format("level {}", l + 1));
        if (l == 0) level.increment = start_of(data, design);
        const CompositePoint* near = known == &stored ? nullptr : increment_of_mix(*known, level.mix);
        level.report = solve_level(data, design, options, cascade.scores, near, level, context);
      }
      add_scores(design, level.increment, cascade.scores, context.threads);
    } catch (const Cancelled&) {
      break;
    }
    level.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    level.peak_bytes = peak_bytes();
    context.monitor.progress("level", l + 1, options.levels,
                             fmt::format("objective {:.6g}", level.report.objective));
    cascade.levels.push_back(std::move(level));
    if (context.checkpoint != nullptr && !context.cancelled()) keep_levels(cascade, *context.checkpoint);
  }
  return cascade;
}

CascadeLevel fit_level(const MultiOutputData& data, const CascadeOptions& given, Index l,
                       Grid<double>& scores, Context& context) {
  const CascadeOptions options = complete(given);
  const Design design = make_design(data, options.bias, context.threads);
  CascadeLevel level = unsolved_level(options, l);
  level.report = solve_level(data, design, options, scores, nullptr, level, context);
  add_scores(design, level.increment, scores, context.threads);
  return level;
}

Grid<double> cascade_scores(const Cascade& cascade, const MultiOutputData& data, Index levels,
                            ThreadPool& threads) {
  const bool bias = !cascade.levels.empty() && !cascade.levels.front().increment.bias.empty();
  const Design design = make_design(data, bias, threads);
  Grid<double> scores(data.rows(), data.score_columns());
  for (Index l = 0; l < std::min(levels, static_cast<Index>(cascade.levels.size())); ++l) {
    add_scores(design, cascade.levels[to_size(l)].increment, scores, threads);
  }
  complete(scores, threads);
  return scores;
}

namespace {

EmptyPoint empty_point_of(const MultiOutputData& data, const CascadeOptions& options, double mix,
                          Context& context) {
  const Design design = make_design(data, options.bias, context.threads);
  const auto loss = make_loss(data, options.loss, options.smoothing, options.epsilon);
  return empty_point({design, *loss, *norm_of(options, mix), 1.0, nullptr}, context);
}

}  // namespace

double largest_phi(const MultiOutputData& data, const CascadeOptions& options, double mix, Context& context) {
  return empty_point_of(data, options, mix, context).strength;
}

double strong_ridge(const MultiOutputData& data, const CascadeOptions& options, Context& context) {
  return empty_point_of(data, options, 0, context).ridge;
}

}  // namespace sharelearn
