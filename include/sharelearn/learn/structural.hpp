// Boosting with structural sparsity ([DuchiSinger09]) over any pool: feature induction, weight optimisation,
// back-pruning, and a stop when no candidate violates optimality.
//
//   minimise over W, b   Q(W) = L(X W + b) + lambda sum_j cost_j value(W_j)
//
//   symbol in the paper          here
//   W, row j                     ActiveSetSolver's rows; StructuralStage::weights
//   |grad_j|_* > lambda          a candidate's score, the penalty's dual norm (Theorem 1 (i), Corollary 4.1)
//   30 features an iteration     StructuralOptions::induce
//   T                            StructuralOptions::rounds
//
// A round: minimise over the features chosen so far; drop those that returned to zero; score the candidates;
// stop if the duality gap over the whole pool is small, else take the worst violators in. A path goes down
// from lambda_max, each lambda starting where the one before ended. Until nothing of them violates, its
// rounds score only the candidates that the sequential strong rule leaves: those whose score at the last
// solution was at least 2 lambda - (lambda there). What the rule discards is scored before a stage ends, so
// that its failures cost time and never optimality.
//
// A lambda far below the last one (at first: below lambda_max) is approached over others in between, solved
// roughly and not kept, unless `rounds` or `induce` say how boosting is to go.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/pool/pool.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/solve/row_update.hpp"

namespace sharelearn {

class ActiveSetSolver;

struct StructuralOptions {
  bool bias = true;
  double tolerance = 1e-4;        ///< relative duality gap
  Index induce = 0;               ///< candidates taken in a round; 0: by the number at hand
  Index rounds = 0;               ///< at most so many rounds a lambda; 0: until no candidate violates
  int max_steps = 2000;           ///< of the solver in a round
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
  /// Over the whole pool, relative to the objective; without a penalty an estimate (ActiveSetSolver::gap).
  /// NaN where nothing tells: forward-greedy boosting without a norm as penalty, or cancelled.
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

/// After a round: its number within the lambda (from 1, lambdas on the way to it not counted; forward-greedy
/// boosting has a 0, before its first), the solver (scores, weights) and the best violator's score.
using StructuralRoundObserver = std::function<void(Index round, const ActiveSetSolver& solver, double score)>;
using StructuralStageObserver =
    std::function<void(const StructuralResult& so_far, const Grid<double>& scores)>;

class StructuralBooster {
 public:
  StructuralBooster(Pool& pool, const Loss& loss, const Penalty& penalty, const StructuralOptions& options,
                    const Context& context);
  ~StructuralBooster();

  /// The smallest lambda at which no candidate enters (0 for penalties that are no norm).
  double lambda_max() const;
  /// Solves at one lambda from where the solver stands, and appends a stage.
  const StructuralStage& solve(double lambda);
  void after_round(StructuralRoundObserver observer);
  const StructuralResult& result() const;
  /// What the solver's slots are, in its order.
  const std::vector<StructuralSlot>& slots() const;
  const Grid<double>& scores() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// lambda_max, ..., ratio * lambda_max: `count` numbers in geometric steps.
std::vector<double> lambda_grid(double lambda_max, Index count, double ratio);

/// Solves at each lambda, largest first.
StructuralResult structural_path(StructuralBooster& booster, const std::vector<double>& lambdas,
                                 const Context& context, const StructuralStageObserver& after_stage = {});

}  // namespace sharelearn
