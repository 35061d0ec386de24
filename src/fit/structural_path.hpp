// Rounds of a report, from the solutions of a path or from the rounds of one lambda, and their errors on
// other rows.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fit/common.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/structural.hpp"

namespace sharelearn {

/// Features with a nonzero weight; all features of a pool have the same number of columns.
Index features_of(const StructuralResult& result, const StructuralStage& stage);

std::string_view text_of(StructuralStop stop);

/// Calls visit() with the scores of every stage on a data set; its features are computed once.
void for_scores_of_stages(const StructuralResult& path, const Dataset& data, const Scaling& scaling,
                          Index outputs, ThreadPool& threads,
                          const std::function<void(const Grid<double>& scores)>& visit);

/// The errors of every stage on a data set.
std::vector<Errors> errors_of_stages(const StructuralResult& path, const Dataset& data,
                                     const Scaling& scaling, const Target& target, ThreadPool& threads);

/// Adds a warning to the report if the solver ended above the tolerance somewhere.
void warn_of_gaps(const StructuralResult& path, double tolerance, FitReport& report);

/// The round of the last solution of a path, with the features that no earlier solution uses.
class StageRounds {
 public:
  explicit StageRounds(const std::vector<std::string>& names) : names_(names) {}
  Round next(const StructuralResult& so_far, const Errors& on_train);
  void save(ByteWriter& out) const { out.u64(described_); }
  void restore(ByteReader& in) { described_ = in.u64(); }

 private:
  const std::vector<std::string>& names_;  ///< of the input columns
  std::size_t described_ = 0;              ///< features that an earlier round has described
};

/// The rounds of one lambda: the features with a weight after each round, and the errors on both sets.
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
  void save(ByteWriter& out) const { out.indices(std::vector<Index>(named_.begin(), named_.end())); }
  void restore(ByteReader& in) {
    const std::vector<Index> named = in.indices(0, pool_.candidates() - 1);
    named_ = {named.begin(), named.end()};
  }

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
