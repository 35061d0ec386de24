// What the reports of gradboost and adaboost say of rounds and of the solutions along a path.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "method.hpp"
#include "sharelearn/learn/structural.hpp"
#include "structural_target.hpp"

namespace sharelearn::cli {

/// The errors of every stage on a data set; its features are computed once.
std::vector<nlohmann::json> errors_of_stages(const StructuralResult& result, const Dataset& data,
                                             const Scaling& scaling, const StructuralLabels& labels,
                                             Index outputs, ThreadPool& threads);

/// The solution that a model predicts with.
void report_stage(const StructuralResult& result, const StructuralStage& stage, nlohmann::json& report);

/// A line on standard error if the solver ended above the tolerance somewhere.
void warn_of_gaps(const StructuralResult& result, double tolerance);

/// The solutions of a path, each with the features that it is the first to use.
class StageReports {
 public:
  explicit StageReports(const std::vector<std::string>& names) : names_(names) {}
  nlohmann::json entry(const StructuralResult& so_far, const nlohmann::json& train_errors);

 private:
  const std::vector<std::string>& names_;  ///< of the input columns
  std::size_t described_ = 0;              ///< features that an entry before has named
};

/// The rounds of one lambda: what has a weight after each, and how it does on both sets.
class RoundReports {
 public:
  RoundReports(const Pool& pool, const StructuralBooster& booster, const FitInput& input,
               const Scaling& scaling, const StructuralLabels& labels,
               const std::optional<StructuralLabels>& test_labels)
      : pool_(pool),
        booster_(booster),
        input_(input),
        scaling_(scaling),
        labels_(labels),
        test_labels_(test_labels) {}
  nlohmann::json entry(Index round, const ActiveSetSolver& solver, double score, double lambda);

 private:
  using Clock = std::chrono::steady_clock;
  Grid<double> test_scores(const ActiveSetSolver& solver);
  /// Slots with a weight that is not zero, and their candidates.
  std::vector<std::pair<Index, Index>> weighted(const ActiveSetSolver& solver) const;

  const Pool& pool_;
  const StructuralBooster& booster_;
  const FitInput& input_;
  const Scaling& scaling_;
  const StructuralLabels& labels_;
  const std::optional<StructuralLabels>& test_labels_;
  Clock::time_point start_ = Clock::now();
  std::set<Index> named_;
  std::map<Index, Grid<float>> test_columns_;
};

}  // namespace sharelearn::cli
