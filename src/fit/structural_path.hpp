// The solutions of a path or the rounds of one lambda as the report tells them, and their errors on other
// rows.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fit/common.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/structural.hpp"

namespace sharelearn {

std::string_view text_of(StructuralStop stop);

/// The errors of every stage on a data set; its features are computed once.
std::vector<Errors> errors_of_stages(const StructuralResult& path, const Dataset& data,
                                     const Scaling& scaling, const Target& target, ThreadPool& threads);

/// A line for a person if the solver ended above the tolerance somewhere.
void warn_of_gaps(const StructuralResult& path, double tolerance, FitReport& report);

/// The last solution of a path, with the features that it is the first to use.
class StageRounds {
 public:
  explicit StageRounds(const std::vector<std::string>& names) : names_(names) {}
  Round next(const StructuralResult& so_far, const Errors& on_train);

 private:
  const std::vector<std::string>& names_;  ///< of the input columns
  std::size_t described_ = 0;              ///< features that a round before has named
};

/// The rounds of one lambda: what has a weight after each, and how it does on both sets.
class BoostingRounds {
 public:
  BoostingRounds(const Pool& pool, const StructuralBooster& booster, const Prepared& data,
                 const Scaling& scaling, const Target& target, const std::optional<Target>& test_target)
      : pool_(pool),
        booster_(booster),
        data_(data),
        scaling_(scaling),
        target_(target),
        test_target_(test_target) {}
  Round next(Index number, const ActiveSetSolver& solver, double score, double lambda);

 private:
  using Clock = std::chrono::steady_clock;
  Grid<double> test_scores(const ActiveSetSolver& solver);
  /// Slots with a weight that is not zero, and their candidates.
  std::vector<std::pair<Index, Index>> weighted(const ActiveSetSolver& solver) const;

  const Pool& pool_;
  const StructuralBooster& booster_;
  const Prepared& data_;
  const Scaling& scaling_;
  const Target& target_;
  const std::optional<Target>& test_target_;
  Clock::time_point start_ = Clock::now();
  std::set<Index> named_;
  std::map<Index, Grid<float>> test_columns_;
};

}  // namespace sharelearn
