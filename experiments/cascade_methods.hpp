// What the cascade's experiments share: the cascade H and its baselines in one harness.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "learn/output_tree.hpp"
#include "sharelearn/fit/phi_search.hpp"
#include "statistics.hpp"

namespace sharelearn::reproduce {

/// A way of learning the tasks jointly; all but the penalty and the levels is the same.
struct JointMethod {
  std::string name;
  CascadeOptions options;
  bool unpenalised = false;
};

/// H with `levels` levels, L12, L1 and NoReg (section 4 of [ZweigWeinshall13]).
std::vector<JointMethod> cascade_and_baselines(JointLoss loss, Index levels);
JointMethod tree_lasso(const std::string& name, JointLoss loss, const OutputTree& tree);

/// Scales of phi by level, relative to the phi that empties a level, with the best result on held-out rows.
std::vector<double> choose_scales(const JointMethod& method, const MultiOutputData& train,
                                  const MultiOutputData& held_out, const PhiGrid& grid, Context& context);
/// phi for other data of the same kind, from those scales.
std::vector<double> phi_of_scales(const JointMethod& method, const std::vector<double>& scales,
                                  const MultiOutputData& train, Context& context);
/// A fit with the scales given.
Cascade learn(const JointMethod& method, const std::vector<double>& scales, const MultiOutputData& train,
              Context& context);
/// Scores of all levels.
Grid<double> scores_of(const Cascade& cascade, const MultiOutputData& data, Context& context);

/// Mean and deviation of the values, in percent: "93.2 ± 0.4".
std::string percent(const std::vector<double>& values);

}  // namespace sharelearn::reproduce
