// Shared by the experiments of the cascade: the cascade H and its baselines, run in the same way.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "learn/output_tree.hpp"
#include "sharelearn/fit/phi_search.hpp"
#include "statistics.hpp"

namespace sharelearn::reproduce {

/// A way to learn the tasks jointly. The methods differ only in the penalty and the levels.
struct JointMethod {
  std::string name;
  CascadeOptions options;
  bool unpenalised = false;
  std::vector<double> ridges = {0};  ///< as PhiGrid::ridges
  bool ridge_alone = false;          ///< no norm: L2
};

/// H with `levels` levels, L12, L1 and NoReg (section 4 of [ZweigWeinshall13]).
std::vector<JointMethod> cascade_and_baselines(JointLoss loss, Index levels);
/// The same, H with a ridge that is chosen with phi, then L2 and the elastic net.
std::vector<JointMethod> with_ridges(JointLoss loss, Index levels);
JointMethod tree_lasso(const std::string& name, JointLoss loss, const OutputTree& tree);

/// Scales of phi by level, relative to the phi that empties a level, then the ridge as a fraction of
/// strong_ridge(). Those with the best result on held-out rows are chosen.
std::vector<double> choose_scales(const JointMethod& method, const MultiOutputData& train,
                                  const MultiOutputData& held_out, const PhiGrid& grid, Context& context);
/// The same by cross-validation.
std::vector<double> choose_scales_by_folds(const JointMethod& method, const MultiOutputData& train, int folds,
                                           const PhiGrid& grid, Context& context);
/// The values of phi for other data of the same kind, from these scales.
std::vector<double> phi_of_scales(const JointMethod& method, const std::vector<double>& scales,
                                  const MultiOutputData& train, Context& context);
/// Fits with the given scales.
Cascade learn(const JointMethod& method, const std::vector<double>& scales, const MultiOutputData& train,
              Context& context);
/// Scores of all levels together.
Grid<double> scores_of(const Cascade& cascade, const MultiOutputData& data, Context& context);

/// Mean and deviation of the values in percent, such as "93.2 ± 0.4".
std::string percent(const std::vector<double>& values);

}  // namespace sharelearn::reproduce
