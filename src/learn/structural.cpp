// Induction, back-pruning and paths; see the header for the objective and the table of symbols.
#include "sharelearn/learn/structural.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "learn/structural_engine.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// The restricted problem is solved to this fraction of the whole problem's tolerance.
constexpr double kInnerShare = 0.5;
constexpr double kTightening = 0.3;
/// Scoring candidates one by one pays if they are at most this fraction of the pool.
constexpr double kMostScreened = 0.25;
/// A lambda below this fraction of the last one is approached through intermediate lambdas, solved to
/// kRoughTolerance: with few columns and hardly any penalty, the restricted problems of a cold start are
/// harder than the whole one.
constexpr double kFarthestStep = 0.3;
constexpr double kRoughTolerance = 0.1;
/// If the fitted bias leaves residuals below this fraction of the initial ones, nothing is left for features.
constexpr double kNothing = 1e-14;
/// Tolerance of the bias, from which polish_bias() takes over.
constexpr double kBiasTolerance = 1e-12;

bool is_zero(std::span<const double> row) {
  return std::all_of(row.begin(), row.end(), [](double w) { return w == 0; });
}

/// Sum of magnitudes.
double size_of(const Grid<double>& residual, ThreadPool& threads) {
  return sum_over_rows(residual.rows(), threads, [&](RowRange block, int) {
    double sum = 0;
    for (Index c = 0; c < residual.cols(); ++c) {
      for (Index i = block.begin; i < block.end; ++i) sum += std::abs(residual(i, c));
    }
    return sum;
  });
}

}  // namespace

StructuralBooster::Engine::Engine(Pool& pool, const Loss& loss, const Penalty& penalty,
                                  const StructuralOptions& options, const Context& context)
    : pool_(pool),
      penalty_(penalty),
      options_(options),
      context_(context),
      solver_(loss, penalty, options.bias, context.threads),
      scan_(pool, penalty, context.threads),
      active_(static_cast<std::size_t>(pool.candidates()), 0) {
  if (!options_.cost.empty() && static_cast<Index>(options_.cost.size()) != pool.candidates()) {
    throw InputError("there must be one cost for each candidate");
  }
  const double without_bias = size_of(solver_.residual(), context.threads);
  // Fits the bias alone, as far as double precision allows: lambda_max is computed from its residual.
  solver_.minimise(std::numeric_limits<double>::max(), kBiasTolerance, 300);
  solver_.polish_bias();
  if (options_.row_update) solver_.use_row_update(options_.row_update);
  if (penalty.is_norm()) result.lambda_max = scan_.largest(solver_.residual(), options_.cost);
  if (size_of(solver_.residual(), context.threads) < kNothing * without_bias) result.lambda_max = 0;
  scanned_lambda_ = result.lambda_max;
}

double StructuralBooster::Engine::first_lambda() {
  if (penalty_.is_norm()) return result.lambda_max;
  include_all();
  return solver_.largest_trace() / 2;
}

void StructuralBooster::Engine::include(Index candidate) {
  add_columns(candidate);
  included_.push_back(candidate);
  pool_.chosen(candidate);
  active_.resize(static_cast<std::size_t>(pool_.candidates()), 0);
}

void StructuralBooster::Engine::add_columns(Index candidate) {
  const StoredColumn stored = pool_.stored(candidate);
  if (stored.sparse) {
    solver_.add(stored.rows, stored.values, cost(candidate));
  } else if (stored.dense != nullptr) {
    solver_.add(stored.dense, cost(candidate));
  } else {
    auto [entry, fresh] = owned_.try_emplace(candidate, pool_.rows(), pool_.width());
    if (fresh) pool_.values(candidate, entry->second, 0);
    for (Index w = 0; w < pool_.width(); ++w) solver_.add(entry->second.column(w), cost(candidate));
  }
  for (Index w = 0; w < pool_.width(); ++w) slots_.push_back({candidate, w});
  active_[static_cast<std::size_t>(candidate)] = 1;
}

/// Takes in as many candidates as the user asks for, otherwise a quarter of those in use, which keeps the
/// number of rounds logarithmic. Returns the number of columns added.
Index StructuralBooster::Engine::induce(const std::vector<Ranked>& violators) {
  const Index before = solver_.size();
  const Index most = options_.induce > 0 ? options_.induce : std::max<Index>(5, solver_.size() / 4);
  for (Index v = 0; v < std::min<Index>(most, static_cast<Index>(violators.size())); ++v) {
    include(violators[static_cast<std::size_t>(v)].candidate);
  }
  return solver_.size() - before;
}

/// Back-pruning: candidates whose rows all returned to zero leave the solver once they outnumber a third of
/// the others. A candidate leaves with all its columns: those of a candidate in use are not scored again.
void StructuralBooster::Engine::back_prune() {
  const Index width = pool_.width(), in_use = solver_.size() / width;
  Index zero = 0;
  for (Index group = 0; group < in_use; ++group) {
    bool all = true;
    for (Index w = 0; w < width && all; ++w) all = is_zero(solver_.row(group * width + w));
    zero += all ? 1 : 0;
  }
  if (zero <= (in_use - zero) / 3 + 10) return;
  std::vector<StructuralSlot> kept;
  for (const Index slot : solver_.drop_zero_groups(width))
    kept.push_back(slots_[static_cast<std::size_t>(slot)]);
  slots_ = std::move(kept);
  std::fill(active_.begin(), active_.end(), 0);
  for (const StructuralSlot& chosen : slots_) active_[static_cast<std::size_t>(chosen.candidate)] = 1;
  std::erase_if(owned_,
                [&](const auto& entry) { return active_[static_cast<std::size_t>(entry.first)] == 0; });
}

/// The sequential strong rule: scores usually change by no more than lambda does. Empty if lambda fell too
/// far for the rule, or if it keeps so many candidates that scoring the whole pool is as cheap.
std::vector<Index> StructuralBooster::Engine::screen(double lambda) const {
  const double bar = 2 * lambda - scanned_lambda_;
  if (bar <= 0 || lambda > scanned_lambda_) return {};
  std::vector<Index> left = scan_.at_least(bar, active_);
  if (static_cast<double>(left.size()) > kMostScreened * static_cast<double>(pool_.candidates())) return {};
  return left;
}

/// The screened candidates that are not in use and violate optimality by more than a gap within the tolerance
/// allows, and the largest score. The scores of all other candidates are those of the last solution, below
/// lambda.
std::vector<Ranked> StructuralBooster::Engine::violators_among_screened(double lambda, double tolerance,
                                                                        double& score) {
  std::erase_if(screened_, [&](Index j) { return active_[static_cast<std::size_t>(j)] != 0; });
  scan_.score_some(screened_, solver_.residual(), options_.cost);
  score = scan_.largest_inactive(active_);
  return scan_.violators((1 + tolerance) * lambda, active_);
}

/// Scores every candidate and computes the gap over the whole pool.
void StructuralBooster::Engine::certify(double lambda, StructuralStage& stage) {
  if (penalty_.is_norm()) {
    scan_.score(solver_.residual(), options_.cost, active_, lambda);
    stage.score = scan_.largest_inactive(active_);
    for (const double norm : solver_.dual_norms()) stage.score = std::max(stage.score, norm);
  }
  stage.gap = solver_.relative_gap(lambda, stage.score);
}

/// Takes in every candidate that is not constant. The sums of a constant candidate are zero for any residual.
/// The pool may grow meanwhile.
void StructuralBooster::Engine::include_all() {
  Grid<double> probe(pool_.rows(), 1);
  Random random(1);
  for (double& r : probe.column_span(0)) r = random.uniform(0.5, 1.5);
  for (Index known = -1; known != pool_.candidates();) {
    known = pool_.candidates();
    scan_.score(probe, {}, active_, 0);
    for (const Index candidate : scan_.at_least(std::numeric_limits<double>::min(), active_)) {
      include(candidate);
    }
  }
}

/// Begins a lambda. Without selection every candidate comes into use. Otherwise zero rows are pruned, and the
/// violators known from the last solution are returned for induction.
std::vector<Ranked> StructuralBooster::Engine::begin(double lambda) {
  screened_.clear();
  if (!selects(lambda)) {
    include_all();
    return {};
  }
  back_prune();
  screened_ = screen(lambda);
  return scan_.violators(lambda, active_);
}

/// Optimises the weights of all features in use, then finds the candidates that violate optimality. While
/// there are none, the restricted problem is solved further, until the gap over the whole pool is small.
StructuralBooster::Engine::Optimum StructuralBooster::Engine::optimise(double lambda, double tolerance,
                                                                       Inner& inner, StructuralStage& stage) {
  const bool screens = !screened_.empty() && !is_last_round(stage);
  for (;; inner.tolerance *= kTightening) {
    if (context_.cancelled()) throw Cancelled();
    const ActiveSetReport report = solver_.minimise(lambda, inner.tolerance, options_.max_steps);
    Optimum found{.used_up = !report.converged && report.steps >= options_.max_steps};
    stage.steps += report.steps;
    solver_.refresh_scores();
    if (screens) found.violators = violators_among_screened(lambda, tolerance, stage.score);
    if (!found.violators.empty()) return found;
    certify(lambda, stage);
    if (stage.gap <= tolerance) return found;
    if (selects(lambda)) found.violators = scan_.violators(lambda, active_);
    if (!found.violators.empty() || !report.converged || ++inner.tightenings > kMostTightenings) return found;
  }
}

/// Rounds of induction and optimisation until no candidate violates optimality ([DuchiSinger09], section 4).
StructuralStop StructuralBooster::Engine::boost(double lambda, double tolerance, StructuralStage& stage) {
  Inner inner{(selects(lambda) ? kInnerShare : 1.0) * tolerance};
  if (resumed_) {
    inner = resumed_->inner;
    resumed_.reset();
  } else {
    induce(begin(lambda));
    stage.rounds = 1;
  }
  for (;; ++stage.rounds) {
    offer(inner, stage);
    const Optimum found = optimise(lambda, tolerance, inner, stage);
    if (observer) observer(stage.rounds, solver_, stage.score);
    if (found.violators.empty()) {
      if (stage.gap <= tolerance) return StructuralStop::optimal;
      return found.used_up ? StructuralStop::steps : StructuralStop::stalled;
    }
    if (is_last_round(stage)) return StructuralStop::rounds;
    stage.induced += induce(found.violators);
  }
}

/// All candidates that forward-greedy boosting may update, the best first. A penalty that holds nothing at
/// zero has no threshold: the gradient of the whole objective decides. If lambda is 0 or there is no penalty,
/// it is that of the loss; then all scores stay those of one pass, so that copies of a column stay equal.
std::vector<Ranked> StructuralBooster::Engine::rank_all(double lambda) {
  scan_.score(solver_.residual(), options_.cost, {}, 0);
  if (penalty_.is_norm()) return scan_.violators(lambda, {});
  if (lambda == 0 || penalty_.row_norm() == RowNorm::zero) return scan_.violators(0, {});
  const std::vector<double> slopes = solver_.slopes(lambda);
  const auto size = static_cast<std::size_t>(pool_.width() * solver_.outputs());
  for (std::size_t slot = 0; slot < slots_.size(); slot += static_cast<std::size_t>(pool_.width())) {
    const std::span<const double> sums(slopes.data() + slot * static_cast<std::size_t>(solver_.outputs()),
                                       size);
    scan_.replace(slots_[slot].candidate, sums, cost(slots_[slot].candidate));
  }
  return scan_.violators(0, {});
}

/// Classical boosting: updates the best candidate's row and leaves all others as they are. So a weight may
/// stay larger than optimal, and the absence of violators does not imply optimality.
StructuralStop StructuralBooster::Engine::boost_greedily(double lambda, StructuralStage& stage) {
  std::unordered_map<Index, Index> first_slot;
  for (Index slot = 0; slot < static_cast<Index>(slots_.size()); ++slot) {
    first_slot.try_emplace(slots_[static_cast<std::size_t>(slot)].candidate, slot);
  }
  resumed_.reset();
  for (;; ++stage.rounds) {
    if (context_.cancelled()) throw Cancelled();
    offer({}, stage);
    const std::vector<Ranked> best = rank_all(lambda);
    stage.score = best.empty() ? 0 : best.front().score;
    if (observer) observer(stage.rounds, solver_, stage.score);
    if (best.empty() || stage.rounds >= options_.rounds) {
      // The gap covers the whole pool only if the penalty is a norm, otherwise the candidates in use alone.
      const bool has_gap = penalty_.is_norm() && lambda > 0;
      if (has_gap) certify(lambda, stage);
      const bool is_optimal = has_gap ? stage.gap <= options_.tolerance : best.empty();
      if (is_optimal) return StructuralStop::optimal;
      return best.empty() ? StructuralStop::no_violator : StructuralStop::rounds;
    }
    const Index candidate = best.front().candidate;
    const auto [entry, fresh] = first_slot.try_emplace(candidate, solver_.size());
    if (fresh) include(candidate);
    for (Index w = 0; w < pool_.width(); ++w) solver_.update_slot(entry->second + w, lambda);
    if (options_.bias) solver_.update_slot(-1, lambda);
    stage.induced += fresh ? 1 : 0;
    ++stage.steps;
  }
}

Index StructuralBooster::Engine::design_column(const StructuralSlot& chosen) {
  const auto [entry, fresh] = design_.try_emplace(chosen.candidate, design_columns_);
  if (fresh) {
    designed_.push_back(chosen.candidate);
    result.features.push_back(pool_.feature(chosen.candidate));
    design_columns_ += pool_.width();
  }
  return entry->second + chosen.column;
}

void StructuralBooster::Engine::record(double lambda, StructuralStage& stage) {
  std::vector<std::pair<Index, Index>> used;  // design column, slot
  for (Index slot = 0; slot < solver_.size(); ++slot) {
    if (is_zero(solver_.row(slot))) continue;
    used.emplace_back(design_column(slots_[static_cast<std::size_t>(slot)]), slot);
  }
  std::sort(used.begin(), used.end());
  for (const auto& [column, slot] : used) {
    const auto row = solver_.row(slot);
    stage.columns.push_back(column);
    stage.weights.insert(stage.weights.end(), row.begin(), row.end());
  }
  stage.lambda = lambda;
  stage.bias = solver_.bias();
  stage.loss = solver_.loss_value();
  stage.penalty = lambda * solver_.penalty_value();
  stage.objective = stage.loss + stage.penalty;
  stage.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

/// Approaches a lambda that is far below the last one. Not used if rounds or their size are given: then
/// boosting is to be observed from its start.
void StructuralBooster::Engine::approach(double lambda, StructuralStage& stage) {
  const double from = result.stages.empty() ? result.lambda_max : result.stages.back().lambda;
  const bool is_far = penalty_.is_norm() && lambda > 0 && lambda < kFarthestStep * from;
  if (!is_far || options_.row_update || options_.rounds > 0 || options_.induce > 0) return;
  const auto steps = static_cast<Index>(std::ceil(std::log(lambda / from) / std::log(kFarthestStep)));
  const std::vector<double> grid = lambda_grid(from, steps + 1, lambda / from);
  const StructuralRoundObserver silenced = std::exchange(observer, {});
  for (; between_ + 2 < grid.size(); ++between_) {
    const double at = grid[between_ + 1];
    const StructuralStop stop = boost(at, std::max(kRoughTolerance, options_.tolerance), stage);
    scanned_lambda_ = stop == StructuralStop::optimal ? at : 0;
  }
  observer = silenced;
}

const StructuralStage& StructuralBooster::Engine::solve(double lambda) {
  if (!(lambda >= 0) || !std::isfinite(lambda))
    throw InputError("lambda must be a number that is not negative");
  StructuralStage stage = resumed_ ? resumed_->stage : StructuralStage();
  between_ = resumed_ ? resumed_->between : 0;
  try {
    if (options_.corrective) approach(lambda, stage);
    stage.stop =
        options_.corrective ? boost(lambda, options_.tolerance, stage) : boost_greedily(lambda, stage);
  } catch (const Cancelled&) {  // every step of the solver leaves weights that are no worse
    solver_.refresh_scores();
    stage.stop = StructuralStop::cancelled;
  }
  if (stage.stop == StructuralStop::cancelled) stage.gap = std::numeric_limits<double>::quiet_NaN();
  scanned_lambda_ = stage.stop == StructuralStop::optimal ? lambda : 0;
  record(lambda, stage);
  result.stages.push_back(std::move(stage));
  return result.stages.back();
}

StructuralBooster::StructuralBooster(Pool& pool, const Loss& loss, const Penalty& penalty,
                                     const StructuralOptions& options, const Context& context)
    : engine_(std::make_unique<Engine>(pool, loss, penalty, options, context)) {}

StructuralBooster::~StructuralBooster() = default;

double StructuralBooster::lambda_max() const {
  return engine_->result.lambda_max;
}

double StructuralBooster::first_lambda() {
  return engine_->first_lambda();
}

const StructuralStage& StructuralBooster::solve(double lambda) {
  return engine_->solve(lambda);
}

void StructuralBooster::after_round(StructuralRoundObserver observer) {
  engine_->observer = std::move(observer);
}

const StructuralResult& StructuralBooster::result() const {
  return engine_->result;
}

const std::vector<StructuralSlot>& StructuralBooster::slots() const {
  return engine_->slots();
}

const Grid<double>& StructuralBooster::scores() const {
  return engine_->scores();
}

void StructuralBooster::resume(const ObserverState& observer) {
  engine_->resume(observer);
}

std::vector<double> lambda_grid(double lambda_max, Index count, double ratio) {
  std::vector<double> grid;
  for (Index i = 0; i < count; ++i) {
    grid.push_back(count == 1 ? lambda_max
                              : lambda_max *
                                    std::pow(ratio, static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return grid;
}

StructuralResult structural_path(PathBooster& booster, const std::vector<double>& lambdas,
                                 const Context& context, const StructuralStageObserver& after_stage,
                                 const ObserverState& observer) {
  booster.resume(observer);
  for (std::size_t l = booster.result().stages.size(); l < lambdas.size(); ++l) {
    // Even a run that is cancelled at once leaves a model: the bias alone.
    if (context.cancelled() && !booster.result().stages.empty()) break;
    booster.solve(lambdas[l]);
    const Watch off(context, false);  // a stage that is finished is reported
    if (after_stage) after_stage(booster.result(), booster.scores());
  }
  return booster.result();
}

}  // namespace sharelearn
