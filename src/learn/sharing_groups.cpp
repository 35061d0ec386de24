// Learned sharing (the paper leaves learning T to future work): a class that is worse off in the shared set
// leaves it.
//
// At first every class is in a set of its own and in the set "shared" of all classes: the hybrid. On every
// example of a class seen before, the prediction is compared with the one the own sets would have given
// alone:
//   harmed   the own sets are right, the whole score is wrong
//   helped   the other way round
// Once harmed - helped exceeds two standard deviations of a fair coin's difference, sqrt(harmed + helped),
// the class leaves with a copy of the shared weights: no score changes at that moment, from then on both
// learn for themselves. Old votes fade, so that a class is judged by its recent examples. O(k) a trial,
// O(features) a leaving.
#include <cmath>

#include "sharelearn/learn/sharing.hpp"

namespace sharelearn {
namespace {

constexpr double kFewestTrials = 20;  // votes before a class may leave
constexpr double kManyTrials = 160;   // votes after which old ones are halved
constexpr double kDeviations = 2;
constexpr Index kShared = 0;  // group of all classes that have not left

bool is_in_shared_set(const ClassSets& sets, Index cls) {
  const auto& groups = sets.groups_of(cls);
  return !groups.empty() && groups.front() == kShared;
}

void copy_group(ClassTable& table, Index from, Index to) {
  table.grow_classes(to + 1);
  for (Index f = 0; f < table.features(); ++f) {
    const double weight = table.value(f, from);
    if (weight != 0) table.at(f, to) = weight;
  }
}

void leave_shared_set(SharingState& state, Index cls) {
  state.sets.leave(kShared, static_cast<std::uint32_t>(cls));
  state.sets.add_group(state.classes[static_cast<std::size_t>(cls)], {static_cast<std::uint32_t>(cls)});
  const auto fresh = static_cast<Index>(state.sets.groups().size()) - 1;
  for (SharingWeights* weights : {&state.weights, &state.weighted})
    copy_group(weights->group, kShared, fresh);
}

}  // namespace

void revise_sets(SharingState& state, const SetVote& vote) {
  if (!is_in_shared_set(state.sets, vote.actual)) return;
  state.votes.resize(static_cast<std::size_t>(state.class_count()));
  SetVotes& votes = state.votes[static_cast<std::size_t>(vote.actual)];
  votes.trials += 1;
  votes.harmed += vote.own_right && !vote.right ? 1 : 0;
  votes.helped += !vote.own_right && vote.right ? 1 : 0;
  if (votes.trials < kFewestTrials) return;
  if (votes.harmed - votes.helped > kDeviations * std::sqrt(votes.harmed + votes.helped)) {
    leave_shared_set(state, vote.actual);
  }
  if (votes.trials >= kManyTrials) votes = {votes.trials / 2, votes.helped / 2, votes.harmed / 2};
}

}  // namespace sharelearn
