#include "cascade_methods.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

namespace sharelearn::reproduce {

namespace {

JointMethod method(std::string name, JointLoss loss, Index levels, std::vector<double> mix) {
  JointMethod out;
  out.name = std::move(name);
  out.options.loss = loss;
  out.options.levels = levels;
  out.options.mix = std::move(mix);
  out.options.tolerance = 1e-3;
  out.options.max_iterations = 1000;
  return out;
}

PhiGrid grid_of(const JointMethod& method, PhiGrid grid) {
  grid.ridges = method.ridges;
  if (method.ridge_alone) grid.scales = {0};
  return grid;
}

std::vector<double> numbers_of(const PhiPoint& point) {
  std::vector<double> numbers = point.scales;
  numbers.push_back(point.ridge);
  return numbers;
}

std::vector<double> tops(const JointMethod& method, const MultiOutputData& train, Context& context) {
  CascadeOptions options = method.options;
  options.phi = {0.0};
  std::vector<double> out;
  for (const double mix : complete(options).mix) out.push_back(largest_phi(train, options, mix, context));
  return out;
}

}  // namespace

std::vector<JointMethod> cascade_and_baselines(JointLoss loss, Index levels) {
  std::vector<JointMethod> all{method("H", loss, levels, {}), method("L12", loss, 1, {0}),
                               method("L1", loss, 1, {1}), method("NoReg", loss, 1, {0})};
  all.back().unpenalised = true;
  return all;
}

std::vector<JointMethod> with_ridges(JointLoss loss, Index levels) {
  std::vector<JointMethod> all = cascade_and_baselines(loss, levels);
  all.front().ridges = usual_ridges();
  all.push_back(method("L2", loss, 1, {0}));
  all.back().ridges = usual_ridges();
  all.back().ridge_alone = true;
  all.push_back(method("elastic net", loss, 1, {1}));
  all.back().ridges = usual_ridges();
  return all;
}

JointMethod tree_lasso(const std::string& name, JointLoss loss, const OutputTree& tree) {
  JointMethod out = method(name, loss, 1, {0});
  out.options.penalty = std::make_shared<TreeGroup>(tree);
  return out;
}

std::vector<double> choose_scales(const JointMethod& method, const MultiOutputData& train,
                                  const MultiOutputData& held_out, const PhiGrid& grid, Context& context) {
  if (method.unpenalised) return {0.0, 0.0};
  const HeldOutPair pair{train, held_out};
  return numbers_of(search_phi({&pair, 1}, method.options, grid_of(method, grid), context).choice().point);
}

std::vector<double> choose_scales_by_folds(const JointMethod& method, const MultiOutputData& train, int folds,
                                           const PhiGrid& grid, Context& context) {
  if (method.unpenalised) return {0.0, 0.0};
  return numbers_of(
      cross_validate_phi(train, method.options, grid_of(method, grid), folds, context).choice().point);
}

std::vector<double> phi_of_scales(const JointMethod& method, const std::vector<double>& scales,
                                  const MultiOutputData& train, Context& context) {
  std::vector<double> phi = tops(method, train, context);
  for (std::size_t l = 0; l < phi.size(); ++l) phi[l] *= scales[l];
  return phi;
}

Cascade learn(const JointMethod& method, const std::vector<double>& scales, const MultiOutputData& train,
              Context& context) {
  CascadeOptions options = method.options;
  options.phi = phi_of_scales(method, scales, train, context);
  if (scales.size() > options.phi.size() && scales.back() > 0)
    options.ridge = scales.back() * strong_ridge(train, method.options, context);
  Context quiet{context.threads, silent_monitor(), context.seed};
  return fit_cascade(train, options, quiet);
}

Grid<double> scores_of(const Cascade& cascade, const MultiOutputData& data, Context& context) {
  return cascade_scores(cascade, data, static_cast<Index>(cascade.levels.size()), context.threads);
}

std::string percent(const std::vector<double>& values) {
  return fmt::format("{:.2f} ± {:.2f}", 100 * mean_of(values), 100 * deviation_of(values));
}

}  // namespace sharelearn::reproduce
