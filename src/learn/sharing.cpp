// The general mixing algorithm, [Fink06], Fig. 3.
//
//   symbol          variable
//   x_t             x
//   y_t, yhat_t     right, wrong (the predicted class, or the strongest rival under a margin)
//   Y_t             model.classes
//   T, S^tau        model.sets
//   w^tau           model.weights (own, common, group)
//   phi^tau(x, r)   model.options.map of x and model.mean(., r)
//   p_t^r           model.mean(., r) = model.sums / model.divisor (eq. 9)
//   K^tau           model.options.kernel over model.plain (own sets) and model.centred (eq. 11)
#include "sharelearn/learn/sharing.hpp"

#include <algorithm>
#include <cmath>

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

SharingLearner::SharingLearner(std::shared_ptr<SharingModel> model) : model_(std::move(model)) {}

std::span<const double> SharingLearner::scores(const ExampleView& x) {
  const std::span<const double> scores = scorer_(*model_, x);
  require_finite(scores, model_->examples + 1);
  return scores;
}

Index SharingLearner::predict(const ExampleView& x) {
  return best_class(scores(x));
}

SharingTrial SharingLearner::learn(const ExampleView& x, const std::string& label) {
  return learn(x, model_->find_class(label), label);
}

SharingTrial SharingLearner::learn(const ExampleView& x, Index actual, const std::string& label) {
  SharingModel& model = *model_;
  for (const std::uint32_t id : x.feature) {
    model.feature_count = std::max(model.feature_count, static_cast<Index>(id) + 1);
  }
  const std::span<const double> scores = this->scores(x);
  SharingTrial trial{best_class(scores), actual};
  const std::optional<SetVote> vote = set_vote(scores, trial);
  if (actual < 0) {
    trial.first_occurrence = true;
    trial.actual = model.add_class(label);
    ++model.first_occurrences;
  } else if (model.options.update == UpdateRule::passive_aggressive) {
    trial.mistake = trial.predicted != actual;
    const Index rival = strongest_rival(scores, actual);
    const double loss =
        rival < 0 ? 0
                  : 1 - scores[static_cast<std::size_t>(actual)] + scores[static_cast<std::size_t>(rival)];
    if (loss > 0) update(x, actual, rival, passive_aggressive_step(x, loss, actual, rival));
  } else if (trial.predicted != actual) {
    trial.mistake = true;
    update(x, actual, trial.predicted, 1);
  }
  if (trial.mistake) {
    ++model.mistakes;
  }
  if (vote) revise_sets(model, *vote);
  join_statistics(x, trial.actual);
  ++model.examples;
  return trial;
}

std::optional<SetVote> SharingLearner::set_vote(std::span<const double> scores,
                                                const SharingTrial& trial) const {
  if (model_->sets.kind() != Hypotheses::learned || trial.actual < 0 || scores.size() < 2)
    return std::nullopt;
  std::vector<double> own;
  for (std::size_t r = 0; r < scores.size(); ++r)
    own.push_back(scores[r] - scorer_.shared_part(static_cast<Index>(r)));
  return SetVote{trial.actual, trial.predicted == trial.actual, best_class(own) == trial.actual};
}

// w^tau <- w^tau + tau(y) phi^tau(x, y) - tau(yhat) phi^tau(x, yhat), for all tau.
void SharingLearner::update(const ExampleView& x, Index right, Index wrong, double step) {
  if (step == 0) return;
  ++model_->updates;
  if (model_->uses_kernel()) {
    keep_support(x, right, wrong, step);
    return;
  }
  update_own(x, right, wrong, step);
  if (model_->sets.any_shared()) update_shared(x, right, wrong, step);
}

void SharingLearner::update_own(const ExampleView& x, Index right, Index wrong, double step) {
  SharingModel& model = *model_;
  const bool add = model.sets.own(right), subtract = model.sets.own(wrong);
  const auto update = [&](ClassTable& table, double factor) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      const double change = factor * static_cast<double>(x.value[e]);
      if (add) table.at(x.feature[e], right) += change;
      if (subtract) table.at(x.feature[e], wrong) -= change;
    }
  };
  update(model.weights.own, step);
  if (model.options.average) update(model.weighted.own, step * static_cast<double>(model.examples));
}

void SharingLearner::update_shared(const ExampleView& x, Index right, Index wrong, double step) {
  SharingModel& model = *model_;
  const auto groups = static_cast<Index>(model.sets.groups().size());
  for (SharingWeights* weights : {&model.weights, &model.weighted}) {
    if (weights == &model.weighted && !model.options.average) continue;
    weights->group.grow_classes(groups);
    if (static_cast<Index>(weights->common.size()) < model.feature_count) {
      weights->common.resize(static_cast<std::size_t>(model.feature_count), 0);
    }
  }
  if (model.options.map.sparse()) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      update_shared_feature(x.feature[e], static_cast<double>(x.value[e]), right, wrong, step);
    }
    return;
  }
  const std::vector<double> dense = densify(x);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    update_shared_feature(static_cast<Index>(i), dense[i], right, wrong, step);
  }
}

void SharingLearner::update_shared_feature(Index feature, double x, Index right, Index wrong, double step) {
  SharingModel& model = *model_;
  const double phi_right = step * model.options.map(x, model.mean(feature, right));
  const double phi_wrong = step * model.options.map(x, model.mean(feature, wrong));
  const auto add = [&](SharingWeights& weights, double factor) {
    if (model.sets.common())
      weights.common[static_cast<std::size_t>(feature)] += factor * (phi_right - phi_wrong);
    for (const std::uint32_t g : model.sets.groups_of(right))
      weights.group.at(feature, g) += factor * phi_right;
    for (const std::uint32_t g : model.sets.groups_of(wrong))
      weights.group.at(feature, g) -= factor * phi_wrong;
  };
  add(model.weights, 1);
  if (model.options.average) add(model.weighted, static_cast<double>(model.examples));
}

// The support keeps x and its phi of this moment. Under a budget the oldest support makes room.
void SharingLearner::keep_support(const ExampleView& x, Index right, Index wrong, double step) {
  SharingModel& model = *model_;
  const auto kept = static_cast<Index>(model.supports.size());
  const bool full = model.options.budget > 0 && kept >= model.options.budget;
  const Index slot = full ? model.next_slot : kept;
  if (full) model.next_slot = (model.next_slot + 1) % model.options.budget;
  if (!full) model.supports.emplace_back();
  model.supports[static_cast<std::size_t>(slot)] = {static_cast<std::uint32_t>(right),
                                                    static_cast<std::uint32_t>(wrong), step,
                                                    static_cast<double>(model.examples)};
  const std::vector<double> dense = densify(x);
  if (model.keeps_plain_supports()) model.plain.set(slot, dense);
  if (model.keeps_centred_supports()) {
    model.centred.set(2 * slot, centred(dense, right));
    model.centred.set(2 * slot + 1, centred(dense, wrong));
  }
}

void SharingLearner::join_statistics(const ExampleView& x, Index cls) {
  SharingModel& model = *model_;
  const auto r = static_cast<std::size_t>(cls);
  model.examples_of[r] += 1;
  const bool joins = model.options.prototype == Prototype::mean || model.examples_of[r] == 1;
  if (!joins || !model.needs_statistics()) return;
  for (std::size_t e = 0; e < x.size(); ++e)
    model.sums.at(x.feature[e], cls) += static_cast<double>(x.value[e]);
  model.divisor[r] = model.examples_of[r];
  model.inverse[r] = 1 / model.divisor[r];
}

// The smallest step that makes the margin 1, at most `aggressiveness` (PA-I of Crammer et al., 2006).
double SharingLearner::passive_aggressive_step(const ExampleView& x, double loss, Index right, Index wrong) {
  const double norm = squared_norm_of_update(x, right, wrong);
  return norm > 0 ? std::min(model_->options.aggressiveness, loss / norm) : 0;
}

// |A|^2 of A = V^right - V^wrong (proof of Theorem 1), over all sets.
double SharingLearner::squared_norm_of_update(const ExampleView& x, Index right, Index wrong) {
  const SharingModel& model = *model_;
  const double own_sets = (model.sets.own(right) ? 1 : 0) + (model.sets.own(wrong) ? 1 : 0);
  const auto both = [&](Index a, Index b) { return static_cast<double>(model.sets.shared_by(a, b)); };
  const bool shared = model.sets.any_shared();
  const auto shared_norm = [&](double rr, double ww, double rw) {
    return both(right, right) * rr + both(wrong, wrong) * ww - 2 * both(right, wrong) * rw;
  };
  if (model.uses_kernel()) {
    const Kernel& kernel = model.options.kernel;
    const std::vector<double> dense = densify(x);
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

std::vector<double> SharingLearner::densify(const ExampleView& x) const {
  std::vector<double> dense(static_cast<std::size_t>(model_->feature_count), 0);
  for (std::size_t e = 0; e < x.size(); ++e) dense[x.feature[e]] = static_cast<double>(x.value[e]);
  return dense;
}

std::vector<double> SharingLearner::centred(std::vector<double> x, Index cls) const {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= model_->mean(static_cast<Index>(i), cls);
  return x;
}

// phi(x, cls): over the nonzeros of x, or over all features where the map is not sparse.
std::vector<double> SharingLearner::mapped(const ExampleView& x, Index cls) const {
  const FeatureMap& map = model_->options.map;
  std::vector<double> phi;
  if (map.sparse()) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      phi.push_back(map(static_cast<double>(x.value[e]), model_->mean(x.feature[e], cls)));
    }
    return phi;
  }
  const std::vector<double> dense = densify(x);
  for (std::size_t i = 0; i < dense.size(); ++i)
    phi.push_back(map(dense[i], model_->mean(static_cast<Index>(i), cls)));
  return phi;
}

}  // namespace sharelearn
