// The state of StructuralBooster: structural.cpp has its rounds, structural_state.cpp stores it in
// checkpoints.
#pragma once

#include <chrono>
#include <optional>
#include <unordered_map>
#include <vector>

#include "learn/pool_scan.hpp"
#include "sharelearn/learn/structural.hpp"
#include "solve/active_set.hpp"

namespace sharelearn {

class StructuralBooster::Engine {
 public:
  /// The restricted problem is tightened so many times at most.
  static constexpr int kMostTightenings = 12;

  Engine(Pool& pool, const Loss& loss, const Penalty& penalty, const StructuralOptions& options,
         const Context& context);
  const StructuralStage& solve(double lambda);
  double first_lambda();

  StructuralRoundObserver observer;
  StructuralResult result;
  const Grid<double>& scores() const { return solver_.scores(); }
  const std::vector<StructuralSlot>& slots() const { return slots_; }
  void resume(const ObserverState& of_rounds);

 private:
  /// Accuracy of the restricted problem.
  struct Inner {
    double tolerance = 0;
    int tightenings = 0;
  };
  /// Where a run is within a lambda, at the beginning of a round.
  struct Place {
    std::size_t between = 0;  ///< intermediate lambdas that are done
    Inner inner = {};
    StructuralStage stage = {};
  };
  /// State after the weights of the features in use were optimised.
  struct Optimum {
    bool used_up = false;  ///< the solver's steps are used up
    std::vector<Ranked> violators = {};
  };
  void approach(double lambda, StructuralStage& stage);
  StructuralStop boost(double lambda, double tolerance, StructuralStage& stage);
  StructuralStop boost_greedily(double lambda, StructuralStage& stage);
  std::vector<Ranked> rank_all(double lambda);
  std::vector<Ranked> begin(double lambda);
  Optimum optimise(double lambda, double tolerance, Inner& inner, StructuralStage& stage);
  bool selects(double lambda) const { return penalty_.is_norm() && lambda > 0; }
  bool is_last_round(const StructuralStage& stage) const {
    return options_.rounds > 0 && stage.rounds >= options_.rounds;
  }
  void certify(double lambda, StructuralStage& stage);
  Index induce(const std::vector<Ranked>& violators);
  std::vector<Index> screen(double lambda) const;
  std::vector<Ranked> violators_among_screened(double lambda, double tolerance, double& score);
  void include(Index candidate);
  void add_columns(Index candidate);
  void include_all();
  void offer(const Inner& inner, const StructuralStage& stage);
  void save(ByteWriter& out, const Inner& inner, const StructuralStage& stage) const;
  void restore(ByteReader& in);
  void restore_columns(ByteReader& in);
  void restore_stages(ByteReader& in);
  void back_prune();
  double cost(Index candidate) const {
    const auto at = static_cast<std::size_t>(candidate);
    return at < options_.cost.size() ? options_.cost[at] : 1.0;
  }
  void record(double lambda, StructuralStage& stage);
  Index design_column(const StructuralSlot& chosen);

  Pool& pool_;
  const Penalty& penalty_;
  StructuralOptions options_;
  Context context_;  // a copy: it is two references and a seed, and the caller's may be a temporary
  ActiveSetSolver solver_;
  PoolScan scan_;
  std::vector<StructuralSlot> slots_;
  std::unordered_map<Index, Grid<float>>
      owned_;                                ///< columns of chosen candidates that the pool does not store
  std::vector<Index> screened_;              ///< candidates that the strong rule keeps at this lambda
  std::vector<char> active_;                 ///< candidate -> in the solver
  std::unordered_map<Index, Index> design_;  ///< candidate -> its first design column of the result
  std::vector<Index> designed_;              ///< its candidates, in order
  Index design_columns_ = 0;
  std::vector<Index> included_;   ///< candidates in the order of include(), also those dropped since
  std::size_t between_ = 0;       ///< intermediate lambdas of this lambda that are done
  std::optional<Place> resumed_;  ///< of a checkpoint, until the run is there again
  ObserverState of_rounds_;
  double scanned_lambda_ = 0;  ///< of the solution at which every candidate was last scored; 0: none
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sharelearn
