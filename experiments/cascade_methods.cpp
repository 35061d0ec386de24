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

JointMethod tree_lasso(const std::string& name, JointLoss loss, const OutputTree& tree) {
  JointMethod out = method(name, loss, 1, {0});
  out.options.penalty = std::make_shared<TreeGroup>(tree);
  return out;
}

std::vector<double> choose_scales(const JointMethod& method, const MultiOutputData& train,
                                  const MultiOutputData& held_out, const PhiGrid& grid, Context& context) {
  if (method.unpenalised) return {0.0};
  const HeldOutPair pair{train, held_out};
  std::vector<double> scales = search_phi({&pair, 1}, method.options, grid, context).phi;
  const auto top = tops(method, train, context);
  for (std::size_t l = 0; l < scales.size(); ++l) scales[l] /= top[l];
  return scales;
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
