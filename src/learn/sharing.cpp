// The general mixing algorithm, [Fink06], Fig. 3.
//
//   symbol          variable
//   x_t             x
//   y_t, yhat_t     right, wrong (the predicted class, or the strongest rival under a margin)
//   Y_t             state.classes
//   T, S^tau        state.sets
//   w^tau           state.weights (own, common, group)
//   phi^tau(x, r)   state.options.map of x and state.mean(., r)
//   p_t^r           state.mean(., r) = state.sums / state.divisor (eq. 9)
//   K^tau           state.options.kernel over state.plain (own sets) and state.centred (eq. 11)
#include "sharelearn/learn/sharing.hpp"

#include <algorithm>
#include <cmath>

#include "learn/sharing_weights.hpp"

namespace sharelearn {
namespace {

Index strongest_rival(std::span<const double> scores, Index right) {
  Index best = -1;
  for (Index r = 0; r < static_cast<Index>(scores.size()); ++r) {
    if (r == right) continue;
    if (best < 0 || scores[static_cast<std::size_t>(r)] > scores[static_cast<std::size_t>(best)]) best = r;
  }
  return best;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

SharingLearner::SharingLearner(std::shared_ptr<SharingState> state) : state_(std::move(state)) {}

std::span<const double> SharingLearner::scores(const ExampleView& x) {
  const std::span<const double> scores = scorer_(*state_, x);
  require_finite(scores, state_->examples + 1);
  return scores;
}

Index SharingLearner::predict(const ExampleView& x) {
  return best_class(scores(x));
}

SharingTrial SharingLearner::learn(const ExampleView& x, const std::string& label) {
  return learn(x, state_->find_class(label), label);
}

SharingTrial SharingLearner::learn(const ExampleView& x, Index actual, const std::string& label) {
  SharingState& state = *state_;
  for (const std::uint32_t id : x.feature) {
    state.feature_count = std::max(state.feature_count, static_cast<Index>(id) + 1);
  }
  const std::span<const double> scores = this->scores(x);
  if (state.adapts()) meet_scales(x);
  SharingTrial trial{best_class(scores), actual};
  if (actual < 0) {
    trial.first_occurrence = true;
    trial.actual = state.add_class(label);
    ++state.first_occurrences;
  } else {
    trial.mistake = trial.predicted != actual;
    learn_class(x, scores, trial);
  }
  if (trial.mistake) {
    ++state.mistakes;
  }
  join_statistics(x, trial.actual);
  ++state.examples;
  return trial;
}

// The perceptron learns from mistakes; the other rules from every margin below 1 over the strongest rival.
void SharingLearner::learn_class(const ExampleView& x, std::span<const double> scores,
                                 const SharingTrial& trial) {
  if (state_->options.update == UpdateRule::perceptron) {
    if (trial.mistake) update(x, trial.actual, trial.predicted, 1);
    return;
  }
  const Index rival = strongest_rival(scores, trial.actual);
  if (rival < 0) return;
  const double loss =
      1 - scores[static_cast<std::size_t>(trial.actual)] + scores[static_cast<std::size_t>(rival)];
  if (loss <= 0) return;
  if (state_->adapts()) {
    adaptive_update(x, trial.actual, rival);
  } else {
    update(x, trial.actual, rival, passive_aggressive_step(x, loss, trial.actual, rival));
  }
}

// w^tau <- w^tau + tau(y) phi^tau(x, y) - tau(yhat) phi^tau(x, yhat), for all tau.
void SharingLearner::update(const ExampleView& x, Index right, Index wrong, double step) {
  if (step == 0) return;
  ++state_->updates;
  if (state_->uses_kernel()) {
    keep_support(x, right, wrong, step);
    return;
  }
  update_own(x, right, wrong, step);
  if (state_->sets.any_shared()) update_shared(x, right, wrong, step);
}

void SharingLearner::update_own(const ExampleView& x, Index right, Index wrong, double step) {
  SharingState& state = *state_;
  const bool add = state.sets.own(right), subtract = state.sets.own(wrong);
  const auto update = [&](ClassTable& table, double factor) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      const double change = factor * static_cast<double>(x.value[e]);
      if (add) table.at(x.feature[e], right) += change;
      if (subtract) table.at(x.feature[e], wrong) -= change;
    }
  };
  update(state.weights.own, step);
  if (state.options.average) update(state.weighted.own, step * static_cast<double>(state.examples));
}

void SharingLearner::update_shared(const ExampleView& x, Index right, Index wrong, double step) {
  SharingState& state = *state_;
  make_room(state, state.weights);
  if (state.options.average) make_room(state, state.weighted);
  for_each_mapped_feature(state, x, [&](Index feature, double value) {
    update_shared_feature(feature, value, right, wrong, step);
  });
}

void SharingLearner::update_shared_feature(Index feature, double x, Index right, Index wrong, double step) {
  SharingState& state = *state_;
  const double phi_right = step * state.options.map(x, state.mean(feature, right));
  const double phi_wrong = step * state.options.map(x, state.mean(feature, wrong));
  const auto add = [&](SharingWeights& weights, double factor) {
    if (state.sets.common())
      weights.common[static_cast<std::size_t>(feature)] += factor * (phi_right - phi_wrong);
    for (const std::uint32_t g : state.sets.groups_of(right))
      weights.group.at(feature, g) += factor * phi_right;
    for (const std::uint32_t g : state.sets.groups_of(wrong))
      weights.group.at(feature, g) -= factor * phi_wrong;
  };
  add(state.weights, 1);
  if (state.options.average) add(state.weighted, static_cast<double>(state.examples));
}

// The support keeps x and its phi of this moment. Under a budget the oldest support makes room.
void SharingLearner::keep_support(const ExampleView& x, Index right, Index wrong, double step) {
  SharingState& state = *state_;
  const auto kept = static_cast<Index>(state.supports.size());
  const bool full = state.options.budget > 0 && kept >= state.options.budget;
  const Index slot = full ? state.next_slot : kept;
  if (full) state.next_slot = (state.next_slot + 1) % state.options.budget;
  if (!full) state.supports.emplace_back();
  state.supports[static_cast<std::size_t>(slot)] = {static_cast<std::uint32_t>(right),
                                                    static_cast<std::uint32_t>(wrong), step,
                                                    static_cast<double>(state.examples)};
  const std::vector<double> dense = densify(*state_, x);
  if (state.keeps_plain_supports()) state.plain.set(slot, dense);
  if (state.keeps_centred_supports()) {
    state.centred.set(2 * slot, centred(dense, right));
    state.centred.set(2 * slot + 1, centred(dense, wrong));
  }
}

void SharingLearner::join_statistics(const ExampleView& x, Index cls) {
  SharingState& state = *state_;
  const auto r = static_cast<std::size_t>(cls);
  state.examples_of[r] += 1;
  const bool joins = state.options.prototype == Prototype::mean || state.examples_of[r] == 1;
  if (!joins || !state.needs_statistics()) return;
  for (std::size_t e = 0; e < x.size(); ++e)
    state.sums.at(x.feature[e], cls) += static_cast<double>(x.value[e]);
  state.divisor[r] = state.examples_of[r];
  state.inverse[r] = 1 / state.divisor[r];
}

// The smallest step that makes the margin 1, at most `aggressiveness` (PA-I of Crammer et al., 2006).
double SharingLearner::passive_aggressive_step(const ExampleView& x, double loss, Index right, Index wrong) {
  const double norm = squared_norm_of_update(x, right, wrong);
  return norm > 0 ? std::min(state_->options.aggressiveness, loss / norm) : 0;
}

// |A|^2 of A = V^right - V^wrong (proof of Theorem 1), over all sets.
double SharingLearner::squared_norm_of_update(const ExampleView& x, Index right, Index wrong) {
  const SharingState& state = *state_;
  const double own_sets = (state.sets.own(right) ? 1 : 0) + (state.sets.own(wrong) ? 1 : 0);
  const auto both = [&](Index a, Index b) { return static_cast<double>(state.sets.shared_by(a, b)); };
  const bool shared = state.sets.any_shared();
  const auto shared_norm = [&](double rr, double ww, double rw) {
    return both(right, right) * rr + both(wrong, wrong) * ww - 2 * both(right, wrong) * rw;
  };
  if (state.uses_kernel()) {
    const Kernel& kernel = state.options.kernel;
    const std::vector<double> dense = densify(*state_, x);
    double norm = own_sets * kernel(dense, dense);
    if (!shared) return norm;
    const std::vector<double> a = centred(dense, right), b = centred(dense, wrong);
    return norm + shared_norm(kernel(a, a), kernel(b, b), kernel(a, b));
  }
  double length = 0;
  for (const float v : x.value) length += static_cast<double>(v) * static_cast<double>(v);
  if (!shared) return own_sets * length;
  const std::vector<double> a = mapped(x, right), b = mapped(x, wrong);
  return own_sets * length + shared_norm(dot(a, a), dot(b, b), dot(a, b));
}

std::vector<double> SharingLearner::centred(std::vector<double> x, Index cls) const {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= state_->mean(static_cast<Index>(i), cls);
  return x;
}

// phi(x, cls): over the nonzeros of x, or over all features where the map is not sparse.
std::vector<double> SharingLearner::mapped(const ExampleView& x, Index cls) const {
  std::vector<double> phi;
  for_each_mapped_feature(*state_, x, [&](Index feature, double value) {
    phi.push_back(state_->options.map(value, state_->mean(feature, cls)));
  });
  return phi;
}

}  // namespace sharelearn
