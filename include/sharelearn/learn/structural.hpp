// Boosting with structural sparsity ([DuchiSinger09]) over any pool: feature induction, weight optimisation,
// back-pruning, and a stop when no candidate violates optimality.
//
//   minimise over W, b   Q(W) = L(X W + b) + lambda sum_j cost_j value(W_j)
//
//   symbol in the paper          here
//   W, row j                     ActiveSetSolver's rows; StructuralStage::weights
//   |grad_j|_* > lambda          a candidate's score, the penalty's dual norm (Theorem 1 (i), Corollary 4.1)
//   30 features per iteration    StructuralOptions::induce
//   T                            StructuralOptions::rounds
//
// A round: minimise over the features chosen so far; drop those that returned to zero; score the candidates;
// stop if the duality gap over the whole pool is small, otherwise take in the worst violators. A path goes
// down from lambda_max; each lambda starts from the solution of the previous one. At first the rounds of a
// lambda score only the candidates that the sequential strong rule keeps: those whose score at the last
// solution was at least 2 lambda - (lambda there). When none of these violates optimality, the discarded
// candidates are scored, too, before the stage ends. So a failure of the rule costs time, but never
// optimality.
//
// A lambda far below the last one (at first: below lambda_max) is approached through intermediate lambdas,
// which are solved roughly and not kept, unless `rounds` or `induce` fixes the course of boosting.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/pool/pool.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/row_update.hpp"

namespace sharelearn {

class ActiveSetSolver;

struct StructuralOptions {
  bool bias = true;
  double tolerance = 1e-4;        ///< relative duality gap
  Index induce = 0;               ///< candidates taken in per round; 0: by the number in use
  Index rounds = 0;               ///< rounds per lambda, at most; 0: until no candidate violates
  int max_steps = 2000;           ///< of the solver, per round
  bool corrective = true;         ///< false: a round updates only the best candidate's row (forward greedy)
  std::vector<double> cost = {};  ///< of each candidate, > 0; empty: 1
  std::shared_ptr<RowUpdate> row_update = nullptr;  ///< the paper's updates; null: the fast solver
};

/// no_violator: no candidate's score is above lambda, but weights that forward-greedy boosting chose earlier
/// are larger than optimal. stalled: double precision allows no lower objective. steps: max_steps were taken.
enum class StructuralStop { optimal, rounds, no_violator, stalled, steps, cancelled };

/// The solution at one lambda.
struct StructuralStage {
  double lambda = 0;
  std::vector<Index> columns;   ///< design columns with a weight, ascending, as StructuralResult orders them
  std::vector<double> weights;  ///< [column][output]
  std::vector<double> bias;
  double objective = 0, loss = 0, penalty = 0;  ///< penalty: with lambda
  /// Gap over the whole pool, relative to the objective; without a penalty an estimate
  /// (ActiveSetSolver::gap). NaN if unknown: forward-greedy boosting with a penalty that is not a norm, or a
  /// cancelled run.
  double gap = std::numeric_limits<double>::quiet_NaN();
  double score = 0;  ///< the largest dual norm of a candidate's gradient over its cost, at the end
  Index rounds = 0, steps = 0, induced = 0;
  StructuralStop stop = StructuralStop::optimal;
  double seconds = 0;  ///< since the start
};

struct StructuralResult {
  double lambda_max = 0;
  std::vector<FeaturePtr> features;  ///< every candidate a stage uses, in order of first use
  std::vector<StructuralStage> stages;
};

/// A row of the solver: one of the candidate's width() columns.
struct StructuralSlot {
  Index candidate;
  Index column;
};

/// Called after a round with its number within the lambda, the solver (scores, weights) and the best
/// violator's score. Numbers start at 1 and do not count intermediate lambdas; forward-greedy boosting also
/// calls with 0, before its first round.
using StructuralRoundObserver = std::function<void(Index round, const ActiveSetSolver& solver, double score)>;
using StructuralStageObserver =
    std::function<void(const StructuralResult& so_far, const Grid<double>& scores)>;

/// Solutions along a path of lambdas, each starting from the one before.
class PathBooster {
 public:
  virtual ~PathBooster() = default;
  /// Where a path begins.
  virtual double first_lambda() = 0;
  /// Solves at one lambda, starting from the current state, and appends a stage.
  virtual const StructuralStage& solve(double lambda) = 0;
  virtual const StructuralResult& result() const = 0;
  virtual const Grid<double>& scores() const = 0;
  /// Goes on from the context's checkpoint, if it has one of this path: result() then has the stages that
  /// were solved. What the observer collects is stored with it from now on.
  virtual void resume(const ObserverState& observer) = 0;
};

class StructuralBooster : public PathBooster {
 public:
  StructuralBooster(Pool& pool, const Loss& loss, const Penalty& penalty, const StructuralOptions& options,
                    const Context& context);
  ~StructuralBooster() override;

  /// The smallest lambda at which no candidate enters (0 for penalties that are not norms).
  double lambda_max() const;
  /// Where a path begins: lambda_max(), and for other penalties half the trace of the loss's second
  /// derivatives by the weights of one output (the largest of them), at zero weights. There 2 lambda, the
  /// curvature of l2sq, is at least that of the loss in any direction. Takes in all candidates.
  double first_lambda() override;
  const StructuralStage& solve(double lambda) override;
  void after_round(StructuralRoundObserver observer);
  const StructuralResult& result() const override;
  /// The solver's slots, in its order.
  const std::vector<StructuralSlot>& slots() const;
  const Grid<double>& scores() const override;
  /// Round by round, also within a lambda.
  void resume(const ObserverState& observer) override;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// lambda_max, ..., ratio * lambda_max: `count` numbers in geometric steps.
std::vector<double> lambda_grid(double lambda_max, Index count, double ratio);

/// Solves at each lambda, largest first; with a checkpoint, from where it was left.
StructuralResult structural_path(PathBooster& booster, const std::vector<double>& lambdas,
                                 const Context& context, const StructuralStageObserver& after_stage = {},
                                 const ObserverState& observer = {});

}  // namespace sharelearn
