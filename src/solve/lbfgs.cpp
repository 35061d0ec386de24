// Limited-memory BFGS whose initial matrix is the preconditioner.
#include <cmath>
#include <deque>
#include <memory>

#include "solve/corrective_parts.hpp"

namespace sharelearn::corrective {
namespace {

constexpr std::size_t kMemory = 30;     // pairs kept
constexpr int kRefreshIterations = 30;  // a solve this long has moved far: the curvature is recomputed
constexpr int kUsualIterations = 5;     // of a loose solve where no rows are nearly separated
constexpr double kLittle = 0.5;

/// Steps and gradient changes, and the two-loop recursion over them.
class Memory {
 public:
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  void add(Vector step, Vector change) {
    const double curvature = dot(step, change);
    if (!(curvature > 1e-300)) return;
    pairs_.push_back({std::move(step), std::move(change), curvature});
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }
  Vector direction(const Vector& gradient, const Preconditioner& preconditioner) const {
    Vector q(gradient);
    Vector weight(pairs_.size());
    for (std::size_t p = pairs_.size(); p-- > 0;) {
      weight[p] = dot(pairs_[p].step, q) / pairs_[p].curvature;
      for (std::size_t v = 0; v < q.size(); ++v) q[v] -= weight[p] * pairs_[p].change[v];
    }
    preconditioner.apply(q);
    if (preconditioner.is_block_diagonal()) {
      const double factor = scale(preconditioner);
      for (double& v : q) v *= factor;
    }
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const double back = weight[p] - dot(pairs_[p].change, q) / pairs_[p].curvature;
      for (std::size_t v = 0; v < q.size(); ++v) q[v] += back * pairs_[p].step[v];
    }
    for (double& v : q) v = -v;
    return q;
  }

 private:
  /// Factor that makes the preconditioner agree with the last step's curvature.
  double scale(const Preconditioner& preconditioner) const {
    if (pairs_.empty()) return 1;
    const Pair& last = pairs_.back();
    Vector scaled(last.change);
    preconditioner.apply(scaled);
    const double expected = dot(scaled, last.change);
    return expected > 0 ? last.curvature / expected : 1;
  }
  struct Pair {
    Vector step, change;
    double curvature;
  };
  std::deque<Pair> pairs_;
};

/// The preconditioner of the previous round, extended by the new columns, where it fits; otherwise a new one.
/// Where the expected decrease is the stopping rule, the curvature must be that of the current point: an old
/// one underestimates the decrease.
std::shared_ptr<const Preconditioner> preconditioner_for(const DesignProblem& problem,
                                                         const CorrectiveOptions& options,
                                                         const CorrectiveState& state,
                                                         Grid<double>& scratch) {
  std::shared_ptr<const Preconditioner> taken_over;
  if ((options.relative_gradient > 0 || options.old_curvature) && state.preconditioner) {
    taken_over = state.preconditioner->extended(problem);
  }
  if (taken_over) return taken_over;
  return std::make_shared<const Preconditioner>(problem, state.scores, scratch, options.own_columns);
}

/// Where rows are nearly separated and nothing bounds the weights, the expected decrease stays large while
/// the weights grow. A loose solve then ends at a step that gained little of what all its steps did.
bool gains_little(const DesignProblem& problem, const CorrectiveOptions& options, const FirstPoint& first,
                  double before, const CorrectiveReport& report) {
  const double little = kLittle * options.relative_gradient;
  return little > 0 && problem.penalty().is_zero() && report.iterations > kUsualIterations &&
         before - report.objective <= little * (first.objective - report.objective);
}

}  // namespace

CorrectiveReport lbfgs(const DesignProblem& problem, const CorrectiveOptions& options,
                       CorrectiveState& state) {
  CorrectiveReport report;
  Vector gradient = start(problem, state, report);
  const FirstPoint first{report.objective, std::sqrt(dot(gradient, gradient))};
  Grid<double> trial_scores(problem.rows(), problem.outputs());
  std::shared_ptr<const Preconditioner> preconditioner =
      preconditioner_for(problem, options, state, trial_scores);
  Memory memory;
  const auto refresh = [&] {
    preconditioner =
        std::make_shared<const Preconditioner>(problem, state.scores, trial_scores, options.own_columns);
    memory.clear();
  };
  bool slow = false;
  for (bool stalled = false; !stalled && !slow;) {
    Vector direction = memory.direction(gradient, *preconditioner);
    report.expected_decrease =
        std::max(expected_decrease(*preconditioner, gradient), -dot(direction, gradient) / 2);
    if (finished(options, first, gradient, report)) break;
    const bool spoilt = -dot(direction, gradient) > 2 * report.objective;
    if (!memory.empty() && (spoilt || report.iterations % kRefreshIterations == 0)) {
      refresh();
      direction = memory.direction(gradient, *preconditioner);
    }
    if (!(dot(direction, gradient) < 0)) break;  // no descent left above rounding
    const double before = report.objective;
    Vector next = take_step(problem, gradient, direction, state, trial_scores, report, stalled);
    Vector change(next);
    for (std::size_t v = 0; v < change.size(); ++v) change[v] -= gradient[v];
    memory.add(std::move(direction), std::move(change));
    gradient = std::move(next);
    slow = gains_little(problem, options, first, before, report);
  }
  report.expected_decrease = std::min(expected_decrease(*preconditioner, gradient), report.objective);
  finished(options, first, gradient, report);
  report.converged = report.converged || slow;
  state.preconditioner = std::move(preconditioner);
  return report;
}

}  // namespace sharelearn::corrective
