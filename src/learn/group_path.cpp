// Induction over groups; see the header for the objective.
#include "sharelearn/learn/group_path.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "learn/learner_bytes.hpp"
#include "pool/narrow.hpp"
#include "pool/shared_scan.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/accelerated.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kGroupPathEntry = "path";  // of a checkpoint

/// The gap of the restricted problem is computed after this many steps.
constexpr int kStepsPerCheck = 10;
/// The restricted problem is solved to this fraction of the tolerance, and further if no group violates.
constexpr double kInnerShare = 0.5;
constexpr double kTightening = 0.3;
constexpr int kMostTightenings = 12;
/// Groups this close to lambda are scored again in double precision.
constexpr double kClose = 1e-4;
/// Accuracy of the bias from which the first lambda is computed.
constexpr double kBiasTolerance = 1e-13;
constexpr Index kBiasSteps = 2000;

/// Every candidate in exactly one group: those given, then the rest alone.
std::vector<std::vector<Index>> partition(std::vector<std::vector<Index>> given, Index candidates) {
  std::vector<char> taken(static_cast<std::size_t>(candidates), 0);
  for (const auto& group : given) {
    if (group.empty()) throw InputError("a group of features is empty");
    for (const Index candidate : group) {
      if (candidate < 0 || candidate >= candidates)
        throw InputError(
            fmt::format("there is no candidate {}; they are 0 to {}", candidate, candidates - 1));
      if (taken[static_cast<std::size_t>(candidate)]++ != 0)
        throw InputError(fmt::format("candidate {} is in two groups, or in one group twice", candidate));
    }
  }
  for (Index candidate = 0; candidate < candidates; ++candidate) {
    if (taken[static_cast<std::size_t>(candidate)] == 0) given.push_back({candidate});
  }
  return given;
}

std::size_t size_of_largest(const std::vector<std::vector<Index>>& groups) {
  std::size_t largest = 0;
  for (const auto& group : groups) largest = std::max(largest, group.size());
  return largest;
}

}  // namespace

/// Also the Problem of Accelerated: a row is a group in use, padded with zeros to the size of the largest.
class GroupBooster::Engine {
 public:
  Engine(Pool& pool, const Loss& loss, const Penalty& penalty, const GroupOptions& options,
         const Context& context);
  const StructuralStage& solve(double lambda);
  double lambda_max();
  void resume(const ObserverState& of_stages);

  std::size_t outputs() const { return slots_ * k_; }
  double lambda(std::size_t row) const { return lambda_ * cost_of(active_[row]); }
  const Penalty& penalty() const { return penalty_; }
  double share(std::size_t) const { return 1; }
  ThreadPool& threads() const { return context_.threads; }
  void scores(std::span<const double> weights, std::span<const double> bias, Grid<double>& out) const;
  double gradient(const Grid<double>& scores, std::span<double> weights, std::span<double> bias);
  double loss(const Grid<double>& scores) const { return evaluate(loss_, scores, nullptr, context_.threads); }

  StructuralResult result;
  AcceleratedPoint point;

 private:
  double cost_of(Index group) const {
    const auto at = static_cast<std::size_t>(group);
    return at < options_.cost.size() ? options_.cost[at] : 1.0;
  }
  const std::vector<Index>& group(Index g) const { return groups_[static_cast<std::size_t>(g)]; }
  void include(Index g);
  void rebuild();
  void drop_zero_groups();
  bool minimise(double tolerance, Index most_steps, StructuralStage& stage);
  double score_in_use();
  std::vector<Ranked> score_all(double& largest);
  double score_of(Index g, const std::vector<double>& sums) const;
  double gap(double largest);
  double penalty_value() const;
  StructuralStop boost(StructuralStage& stage);
  void record(StructuralStage& stage);
  Index design_column(Index candidate);
  void save(ByteWriter& out) const;

  Pool& pool_;
  const Loss& loss_;
  const Penalty& penalty_;
  GroupOptions options_;
  Context context_;
  std::vector<std::vector<Index>> groups_;
  std::size_t k_, slots_;  ///< outputs, and columns of the largest group
  std::vector<float> ones_;
  ColumnSet columns_;                      ///< the bias first, if there is one, then the groups in use
  std::vector<Index> active_;              ///< groups in use
  std::map<Index, Grid<float>> owned_;     ///< values of their candidates
  std::vector<std::size_t> first_weight_;  ///< of each column: the place of its first weight
  std::map<Index, Index> design_;          ///< candidate -> its first column of the result
  Grid<double> residual_;
  Grid<float> narrow_;
  std::vector<double> row_gradient_, bias_gradient_;
  std::vector<Index> designed_;  ///< its candidates, in order
  ObserverState of_stages_;
  double lambda_ = 0, curvature_ = 1, objective_ = 0;
  Clock::time_point start_ = Clock::now();
};

GroupBooster::Engine::Engine(Pool& pool, const Loss& loss, const Penalty& penalty,
                             const GroupOptions& options, const Context& context)
    : pool_(pool),
      loss_(loss),
      penalty_(penalty),
      options_(options),
      context_(context),
      groups_(partition(options.members, pool.candidates())),
      k_(static_cast<std::size_t>(loss.outputs())),
      slots_(size_of_largest(groups_) * static_cast<std::size_t>(pool.width())),
      ones_(static_cast<std::size_t>(loss.rows()), 1.0F),
      columns_(loss.rows()),
      residual_(loss.rows(), loss.outputs()),
      narrow_(loss.rows(), loss.outputs()) {
  if (!penalty.is_norm())
    throw InputError(fmt::format("groups need a penalty that is a norm, {} is not", penalty.name()));
  if (!options.cost.empty() && options.cost.size() != options.members.size())
    throw InputError("there must be one cost for each group");
  if (options.bias) point.free.assign(k_, 0.0);
  point.scores = Grid<double>(loss.rows(), loss.outputs());
  rebuild();
}

void GroupBooster::Engine::rebuild() {
  columns_ = ColumnSet(loss_.rows());
  first_weight_.clear();
  if (options_.bias) columns_.add(ones_.data());
  const auto width = static_cast<std::size_t>(pool_.width());
  for (std::size_t row = 0; row < active_.size(); ++row) {
    std::size_t slot = 0;
    for (const Index candidate : group(active_[row])) {
      for (std::size_t w = 0; w < width; ++w, ++slot) {
        columns_.add(owned_.at(candidate).column(static_cast<Index>(w)));
        first_weight_.push_back((row * slots_ + slot) * k_);
      }
    }
  }
}

void GroupBooster::Engine::include(Index g) {
  for (const Index candidate : group(g)) {
    const auto [entry, fresh] = owned_.try_emplace(candidate, pool_.rows(), pool_.width());
    if (fresh) pool_.values(candidate, entry->second, 0);
  }
  active_.push_back(g);
  point.weights.resize(active_.size() * slots_ * k_, 0.0);
}

/// Back-pruning: a group leaves with all its columns.
void GroupBooster::Engine::drop_zero_groups() {
  std::vector<Index> kept;
  std::vector<double> weights;
  for (std::size_t row = 0; row < active_.size(); ++row) {
    const auto begin = point.weights.begin() + static_cast<std::ptrdiff_t>(row * slots_ * k_);
    const auto end = begin + static_cast<std::ptrdiff_t>(slots_ * k_);
    if (std::all_of(begin, end, [](double w) { return w == 0; })) {
      for (const Index candidate : group(active_[row])) owned_.erase(candidate);
      continue;
    }
    kept.push_back(active_[row]);
    weights.insert(weights.end(), begin, end);
  }
  active_ = std::move(kept);
  point.weights = std::move(weights);
}

void GroupBooster::Engine::scores(std::span<const double> weights, std::span<const double> bias,
                                  Grid<double>& out) const {
  std::vector<double> by_column(bias.begin(), bias.end());
  for (const std::size_t from : first_weight_) {
    by_column.insert(by_column.end(), weights.begin() + static_cast<std::ptrdiff_t>(from),
                     weights.begin() + static_cast<std::ptrdiff_t>(from + k_));
  }
  out.fill(0);
  columns_.add_product(by_column, out, context_.threads);
}

double GroupBooster::Engine::gradient(const Grid<double>& scores, std::span<double> weights,
                                      std::span<double> bias) {
  const double value = evaluate(loss_, scores, &residual_, context_.threads);
  std::vector<double> sums(static_cast<std::size_t>(columns_.columns()) * k_);
  columns_.transposed_product(residual_, sums, context_.threads);
  std::copy_n(sums.begin(), bias.size(), bias.begin());
  std::fill(weights.begin(), weights.end(), 0.0);
  for (std::size_t j = 0; j < first_weight_.size(); ++j) {
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(bias.size() + j * k_), k_,
                weights.begin() + static_cast<std::ptrdiff_t>(first_weight_[j]));
  }
  return value;
}

double GroupBooster::Engine::penalty_value() const {
  double sum = 0;
  for (std::size_t row = 0; row < active_.size(); ++row) {
    sum += cost_of(active_[row]) * penalty_.value({point.weights.data() + row * slots_ * k_, slots_ * k_});
  }
  return sum;
}

/// The gradient at the current point, and the largest score of a group in use.
double GroupBooster::Engine::score_in_use() {
  row_gradient_.resize(point.weights.size());
  bias_gradient_.resize(point.free.size());
  objective_ = gradient(point.scores, row_gradient_, bias_gradient_) + lambda_ * penalty_value();
  double largest = 0;
  for (std::size_t row = 0; row < active_.size(); ++row) {
    largest = std::max(largest, penalty_.dual_norm({row_gradient_.data() + row * slots_ * k_, slots_ * k_}) /
                                    cost_of(active_[row]));
  }
  return largest;
}

/// Relative duality gap if no group's score is above `largest` (as ActiveSetSolver::gap).
double GroupBooster::Engine::gap(double largest) {
  const double scale = largest > lambda_ ? lambda_ / largest : 1.0;
  double charge = 0;
  for (std::size_t c = 0; c < point.free.size(); ++c) {
    charge += scale * std::abs(bias_gradient_[c]) * (1 + std::abs(point.free[c]));
  }
  const double dual = -evaluate_conjugate(loss_, residual_, scale, context_.threads);
  return objective_ > 0 ? std::max(objective_ - dual + charge, 0.0) / objective_ : 0.0;
}

double GroupBooster::Engine::score_of(Index g, const std::vector<double>& sums) const {
  return penalty_.dual_norm(sums) / cost_of(g);
}

/// Scores every group at the current residual. Returns those not in use above lambda, the worst first.
std::vector<Ranked> GroupBooster::Engine::score_all(double& largest) {
  const auto size = static_cast<std::size_t>(pool_.width()) * k_;
  std::vector<double> sums(static_cast<std::size_t>(pool_.candidates()) * size);
  narrow(residual_, narrow_, context_.threads);
  const RowRange own =
      correlate_part(pool_, narrow_, {}, context_.threads, [&](const CandidateBlock& block, int) {
        std::copy_n(block.sums, static_cast<std::size_t>(block.count) * size,
                    sums.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(block.first) * size));
      });
  share_candidates(std::span(sums), static_cast<Index>(size), own, context_.threads.ranks());
  std::vector<char> in_use(groups_.size(), 0);
  for (const Index g : active_) in_use[static_cast<std::size_t>(g)] = 1;
  std::vector<double> score(groups_.size(), 0.0);
  context_.threads.for_each(std::ssize(groups_), [&](Index g, int) {
    if (in_use[static_cast<std::size_t>(g)] != 0) return;
    std::vector<double> of_group;
    for (const Index candidate : group(g)) {
      const auto from =
          sums.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(candidate) * size);
      of_group.insert(of_group.end(), from, from + static_cast<std::ptrdiff_t>(size));
    }
    double& to = score[static_cast<std::size_t>(g)];
    to = score_of(g, of_group);
  });
  for (std::size_t g = 0; g < score.size(); ++g) {
    if (in_use[g] != 0 || (std::abs(score[g] - lambda_) > kClose * lambda_ && lambda_ > 0)) continue;
    score[g] = score_of(static_cast<Index>(g),
                        exact_sums(pool_, group(static_cast<Index>(g)), residual_, context_.threads));
  }
  std::vector<Ranked> violators;
  for (std::size_t g = 0; g < score.size(); ++g) {
    largest = std::max(largest, score[g]);
    if (score[g] > lambda_) violators.push_back({static_cast<Index>(g), score[g]});
  }
  std::ranges::stable_sort(violators, std::ranges::greater{}, &Ranked::score);
  return violators;
}

/// FISTA on the groups in use until their gap is small. False if steps or precision ran out.
bool GroupBooster::Engine::minimise(double tolerance, Index most_steps, StructuralStage& stage) {
  const std::vector<double> squares = columns_.squares(loss_.weights(), context_.threads);
  std::vector<double> metric(active_.size(), 0.0);
  for (std::size_t j = 0; j < first_weight_.size(); ++j) {
    double& of_group = metric[first_weight_[j] / (slots_ * k_)];
    of_group = std::max(of_group, squares[j + (options_.bias ? 1 : 0)]);
  }
  scores(point.weights, point.free, point.scores);
  Accelerated<Engine> fista(*this, std::move(metric), point, curvature_,
                            std::numeric_limits<double>::infinity());
  for (;;) {
    try {
      for (int step = 0; step < kStepsPerCheck; ++step, ++stage.steps) {
        if (!fista.step()) return false;
      }
    } catch (const Cancelled&) {  // the point is that of the last whole step
    }
    point = fista.point();
    scores(point.weights, point.free, point.scores);
    if (gap(score_in_use()) <= tolerance) return true;
    if (stage.steps >= most_steps || context_.cancelled()) return false;
  }
}

double GroupBooster::Engine::lambda_max() {
  if (result.lambda_max > 0) return result.lambda_max;
  StructuralStage none;
  lambda_ = std::numeric_limits<double>::min();
  if (options_.bias) minimise(kBiasTolerance, kBiasSteps, none);
  score_in_use();
  lambda_ = 0;  // scores all groups in double precision
  double largest = 0;
  score_all(largest);
  return result.lambda_max = largest;
}

StructuralStop GroupBooster::Engine::boost(StructuralStage& stage) {
  double inner = kInnerShare * options_.tolerance;
  drop_zero_groups();
  rebuild();
  int tightenings = 0;
  for (stage.rounds = 1;; ++stage.rounds) {
    const bool solved = minimise(inner, options_.max_steps, stage);
    if (context_.cancelled()) return StructuralStop::cancelled;
    stage.score = score_in_use();
    const std::vector<Ranked> violators = score_all(stage.score);
    stage.gap = gap(stage.score);
    if (stage.gap <= options_.tolerance) return StructuralStop::optimal;
    if (stage.steps >= options_.max_steps) return StructuralStop::steps;
    if (violators.empty()) {
      if (!solved || ++tightenings > kMostTightenings) return StructuralStop::stalled;
      inner *= kTightening;
      continue;
    }
    const Index usual = std::max<Index>(5, std::ssize(active_) / 4);
    const Index most = std::min<Index>(options_.induce > 0 ? options_.induce : usual, std::ssize(violators));
    for (Index v = 0; v < most; ++v) include(violators[static_cast<std::size_t>(v)].candidate);
    stage.induced += most;
    rebuild();
  }
}

/// The first column of a candidate in the result.
Index GroupBooster::Engine::design_column(Index candidate) {
  const auto [entry, fresh] = design_.try_emplace(candidate, std::ssize(design_) * pool_.width());
  if (fresh) {
    designed_.push_back(candidate);
    result.features.push_back(pool_.feature(candidate));
  }
  return entry->second;
}

void GroupBooster::Engine::save(ByteWriter& out) const {
  out.indices(active_);
  out.doubles(point.weights);
  out.doubles(point.free);
  write_bits(out, curvature_);
  out.indices(designed_);
  out.u64(result.stages.size());
  for (const StructuralStage& stage : result.stages) write_stage(out, stage);
  if (of_stages_.save) of_stages_.save(out);
}

void GroupBooster::Engine::resume(const ObserverState& of_stages) {
  of_stages_ = of_stages;
  const std::string* found = context_.checkpoint ? context_.checkpoint->find(kGroupPathEntry) : nullptr;
  if (found == nullptr) return;
  ByteReader in = context_.checkpoint->reader(*found);
  lambda_max();
  active_.clear();
  for (const Index g : in.indices(0, std::ssize(groups_) - 1)) include(g);
  rebuild();
  point.weights = read_doubles(in, active_.size() * slots_ * k_);
  point.free = read_doubles(in, options_.bias ? k_ : 0);
  curvature_ = read_bits(in);
  for (const Index candidate : in.indices(0, pool_.candidates() - 1)) design_column(candidate);
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    result.stages.push_back(
        read_structural_stage(in, std::ssize(designed_) * pool_.width(), static_cast<Index>(k_)));
  }
  if (of_stages_.restore) of_stages_.restore(in);
  in.expect_end();
}

void GroupBooster::Engine::record(StructuralStage& stage) {
  const Index width = pool_.width();
  std::map<Index, std::vector<double>> rows;  // by design column
  for (std::size_t row = 0; row < active_.size(); ++row) {
    std::size_t slot = 0;
    for (const Index candidate : group(active_[row])) {
      for (Index w = 0; w < width; ++w, ++slot) {
        const auto from = point.weights.begin() + static_cast<std::ptrdiff_t>((row * slots_ + slot) * k_);
        const std::vector<double> weights(from, from + static_cast<std::ptrdiff_t>(k_));
        if (std::ranges::all_of(weights, [](double v) { return v == 0; })) continue;
        rows[design_column(candidate) + w] = weights;
      }
    }
  }
  for (const auto& [column, weights] : rows) {
    stage.columns.push_back(column);
    stage.weights.insert(stage.weights.end(), weights.begin(), weights.end());
  }
  stage.lambda = lambda_;
  stage.bias = point.free;
  stage.penalty = lambda_ * penalty_value();
  stage.loss = loss(point.scores);
  stage.objective = stage.loss + stage.penalty;
  stage.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
}

const StructuralStage& GroupBooster::Engine::solve(double lambda) {
  if (!(lambda > 0) || !std::isfinite(lambda)) throw InputError("with groups lambda must be above 0");
  lambda_max();
  if (context_.checkpoint != nullptr && !context_.cancelled())
    context_.checkpoint->offer(kGroupPathEntry, [&](ByteWriter& out) { save(out); });
  lambda_ = lambda;
  StructuralStage stage;
  try {
    stage.stop = boost(stage);
  } catch (const Cancelled&) {
    scores(point.weights, point.free, point.scores);
    stage.stop = StructuralStop::cancelled;
  }
  if (stage.stop == StructuralStop::cancelled) stage.gap = std::numeric_limits<double>::quiet_NaN();
  record(stage);
  result.stages.push_back(std::move(stage));
  return result.stages.back();
}

GroupBooster::GroupBooster(Pool& pool, const Loss& loss, const Penalty& penalty, const GroupOptions& options,
                           const Context& context)
    : engine_(std::make_unique<Engine>(pool, loss, penalty, options, context)) {}

GroupBooster::~GroupBooster() = default;

double GroupBooster::first_lambda() {
  return engine_->lambda_max();
}

const StructuralStage& GroupBooster::solve(double lambda) {
  return engine_->solve(lambda);
}

const StructuralResult& GroupBooster::result() const {
  return engine_->result;
}

void GroupBooster::resume(const ObserverState& observer) {
  engine_->resume(observer);
}

const Grid<double>& GroupBooster::scores() const {
  return engine_->point.scores;
}

}  // namespace sharelearn
