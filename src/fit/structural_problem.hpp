// What gradboost and adaboost learn from: the training rows with everything that is derived from them and
// from the options.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fit/common.hpp"
#include "pool/induced_products.hpp"
#include "sharelearn/fit/structural.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/learn/group_path.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

/// A single lambda is solved nearly to the last digit; along a path 1e-4 is the accuracy that a plot can
/// show.
inline constexpr double kSingleTolerance = 1e-8;
inline constexpr double kPathTolerance = 1e-4;

/// Makes the paper's update of one row for the method in use.
using MakeRowUpdate = std::function<std::shared_ptr<RowUpdate>(const Loss&, const Penalty&)>;

/// Whether there is one solution, whose rounds are reported, instead of a path.
bool is_single(const StructuralFit& o);

/// Row weights of a data set with this target, including class weights.
std::vector<double> weights_for(const StructuralFit& o, const Dataset& rows, const Target& target);

/// Training rows with everything that is derived from them.
struct StructuralProblem {
  StructuralProblem(const StructuralFit& o, const Dataset& rows, const Target* known,
                    const MakeRowUpdate& row_update, const Context& context);

  Target target;
  Scaling scaling;
  std::unique_ptr<Penalty> penalty;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<Pool> pool;
  const InducedProductPool* induced = nullptr;  ///< the pool, if it grows
  std::unique_ptr<PathBooster> booster;
  StructuralBooster* rounds = nullptr;  ///< the booster, if its rounds can be observed
};

/// The one lambda, or those of the path that was asked for.
std::vector<double> lambdas(const StructuralFit& o, PathBooster& booster);

/// The solutions for the lambdas, largest first, as `max-features` and `refit` want them. The observer sees
/// them as they were solved.
StructuralResult solutions(const StructuralFit& o, const StructuralProblem& problem, const Dataset& rows,
                           const std::vector<double>& grid, const Context& context,
                           const StructuralStageObserver& after_stage = {}, const ObserverState& state = {});

/// The solutions as stages of one model.
std::shared_ptr<LinearModel> model_of(const StructuralResult& path, const StructuralProblem& problem,
                                      const Dataset& train);

}  // namespace sharelearn
