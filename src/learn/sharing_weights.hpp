// What the update rules of online sharing do to weights alike.
#pragma once

#include "sharelearn/state/sharing.hpp"

namespace sharelearn {

/// Room in the shared weights for every feature and set seen.
inline void make_room(const SharingState& state, SharingWeights& weights) {
  weights.group.grow_classes(std::ssize(state.sets.groups()));
  if (std::ssize(weights.common) < state.feature_count)
    weights.common.resize(static_cast<std::size_t>(state.feature_count), 0);
}

inline void multiply(SharingWeights& weights, Index feature, double factor) {
  weights.own.multiply(feature, factor);
  weights.group.multiply(feature, factor);
  if (feature < std::ssize(weights.common)) weights.common[static_cast<std::size_t>(feature)] *= factor;
}

/// The example as an array over all features seen.
inline std::vector<double> densify(const SharingState& state, const ExampleView& x) {
  std::vector<double> dense(static_cast<std::size_t>(state.feature_count), 0);
  for (std::size_t e = 0; e < x.size(); ++e) dense[x.feature[e]] = static_cast<double>(x.value[e]);
  return dense;
}

/// Calls `visit(feature, value)` where phi may differ from 0: at the nonzeros of x, or at every feature.
template <class Visit>
void for_each_mapped_feature(const SharingState& state, const ExampleView& x, const Visit& visit) {
  if (state.options.map.sparse()) {
    for (std::size_t e = 0; e < x.size(); ++e) visit(x.feature[e], static_cast<double>(x.value[e]));
    return;
  }
  const std::vector<double> dense = densify(state, x);
  for (std::size_t i = 0; i < dense.size(); ++i) visit(static_cast<Index>(i), dense[i]);
}

}  // namespace sharelearn
