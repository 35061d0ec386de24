// Adaptive steps of online sharing: `update` adagrad.
//
// The hinge loss of the strongest rival, 1 - h(x, y) + h(x, rival), is followed down with one step size per
// weight (AdaGrad, Duchi et al., 2011), made independent of the units of the features (Ross et al., 2013):
//
//   G <- G + g^2,   w <- w - rate sqrt(t / N) g / (s_i sqrt(G))
//
//   symbol     variable
//   g          the derivative of the loss by one weight: -phi_i(x, y) + phi_i(x, rival) over the set's
//   classes G          adaptive.squares s_i        adaptive.scale: the largest |x_i| so far. Where it grows,
//   weights of feature i shrink with it t, N       examples, adaptive.spread rate options.aggressiveness
//
// Shared weights use s_i too, although their phi is larger or smaller than x: the mean of a class counts from
// its first example on, which is what sharing is for.
#include <algorithm>
#include <cmath>

#include "learn/sharing_weights.hpp"
#include "sharelearn/learn/sharing.hpp"

namespace sharelearn {
namespace {

struct AdaptiveStep {
  double rate;
  const std::vector<double>& scale;
  /// Moves a weight of `feature` by a gradient whose direction lowers the loss.
  void operator()(double& weight, double& squares, double descent, Index feature) const {
    if (descent == 0) return;
    squares += descent * descent;
    const double unit = scale[static_cast<std::size_t>(feature)] * std::sqrt(squares);
    if (unit > 0) weight += rate * descent / unit;
  }
};

/// Scoring has read the weights, but not what the steps remember of them.
void prefetch_own(const ClassTable& squares, const ExampleView& x, Index right, Index wrong) {
  for (const std::uint32_t feature : x.feature) {
    squares.prefetch(feature, right);
    squares.prefetch(feature, wrong);
  }
}

void step_own(SharingState& state, const ExampleView& x, Index right, Index wrong, const AdaptiveStep& step) {
  const bool raise = state.sets.own(right), lower = state.sets.own(wrong);
  ClassTable &weights = state.weights.own, &squares = state.adaptive.squares.own;
  for (std::size_t e = 0; e < x.size(); ++e) {
    const Index feature = x.feature[e];
    const auto value = static_cast<double>(x.value[e]);
    if (raise) step(weights.at(feature, right), squares.at(feature, right), value, feature);
    if (lower) step(weights.at(feature, wrong), squares.at(feature, wrong), -value, feature);
  }
}

void step_shared(SharingState& state, Index feature, double x, Index right, Index wrong,
                 const AdaptiveStep& step) {
  const double phi_right = state.options.map(x, state.mean(feature, right));
  const double phi_wrong = state.options.map(x, state.mean(feature, wrong));
  SharingWeights &weights = state.weights, &squares = state.adaptive.squares;
  if (state.sets.common()) {
    const auto f = static_cast<std::size_t>(feature);
    step(weights.common[f], squares.common[f], phi_right - phi_wrong, feature);
  }
  const auto &with_right = state.sets.groups_of(right), &with_wrong = state.sets.groups_of(wrong);
  const auto step_group = [&](std::uint32_t g, double descent) {
    if (descent != 0) step(weights.group.at(feature, g), squares.group.at(feature, g), descent, feature);
  };
  for (const std::uint32_t g : with_right)
    step_group(g, phi_right - (std::ranges::binary_search(with_wrong, g) ? phi_wrong : 0));
  for (const std::uint32_t g : with_wrong)
    if (!std::ranges::binary_search(with_right, g)) step_group(g, -phi_wrong);
}

}  // namespace

// After scoring, so that learn() predicts what predict() does. The weights of a feature shrink where it is
// met at a larger magnitude than before.
void SharingLearner::meet_scales(const ExampleView& x) {
  AdaptiveSteps& adaptive = state_->adaptive;
  if (std::ssize(adaptive.scale) < state_->feature_count)
    adaptive.scale.resize(static_cast<std::size_t>(state_->feature_count), 0);
  for (std::size_t e = 0; e < x.size(); ++e) {
    const Index feature = x.feature[e];
    const double size = std::abs(static_cast<double>(x.value[e]));
    double& scale = adaptive.scale[x.feature[e]];
    if (size > scale) {
      if (scale > 0) multiply(state_->weights, feature, scale / size);
      scale = size;
    }
    adaptive.spread += (size / scale) * (size / scale);
  }
}

void SharingLearner::adaptive_update(const ExampleView& x, Index right, Index wrong) {
  SharingState& state = *state_;
  ++state.updates;
  const double trials = static_cast<double>(state.examples + 1);
  const AdaptiveStep step{state.options.aggressiveness * std::sqrt(trials / state.adaptive.spread),
                          state.adaptive.scale};
  prefetch_own(state.adaptive.squares.own, x, right, wrong);
  step_own(state, x, right, wrong, step);
  if (!state.sets.any_shared()) return;
  make_room(state, state.weights);
  make_room(state, state.adaptive.squares);
  for_each_mapped_feature(
      state, x, [&](Index feature, double value) { step_shared(state, feature, value, right, wrong, step); });
}

}  // namespace sharelearn
