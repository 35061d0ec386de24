// Knowledge transfer to new tasks (section 5 of [ZweigWeinshall13]; its appendix D is not available, so this
// is our reading).
//
// Batch: given the increments {W^l} of a cascade, P^l holds the first z left singular vectors of the
// cumulative weights up to level l (one row per feature). Level l of the new tasks learns z numbers per task
// on the projected rows,
//
//   V^l = argmin_V  loss(X P^l V + scores so far) + phi^l (group and l1 norms of V as on level l)
//
// and its increment in the space of the features is P^l V^l, which is passed to the next level. Section 5
// regularises nothing beyond the projection, so phi is 0 unless given. The bias is free.
//
// Online: Algorithm 2 for the new tasks alone, with the known tasks as further members of every feature's
// group (OnlineCascade::set_known_group): a feature that the known tasks use is hardly shrunk, any other
// feature is shrunk as before. The averages of the new tasks run over their own steps.
#pragma once

#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/online_cascade.hpp"

namespace sharelearn {

struct TransferOptions {
  Index components = 5;         ///< z; fewer if the known weights have a lower rank
  bool cumulative = true;       ///< project onto the sum of the levels so far; false: onto each level's own
  CascadeOptions cascade = {};  ///< loss, smoothing, tolerance; phi: empty for none, else one value per level
};

/// Orthonormal columns (features x at most z), by columns.
struct Subspace {
  std::vector<std::vector<double>> vectors;
};
Subspace leading_subspace(const std::vector<double>& weights, Index features, Index outputs,
                          Index components);

/// Increments for the tasks of `data`, one level per level of `known`; the rows of `known` are the features
/// of `data`.
Cascade transfer_batch(const MultiOutputData& data, const std::vector<CompositePoint>& known,
                       const TransferOptions& options, Context& context);

/// A learner for `outputs` new tasks next to the tasks that `known` has learned.
OnlineCascade transfer_online(const OnlineCascade& known, Index outputs, bool own_rows);

}  // namespace sharelearn
