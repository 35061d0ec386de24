// A balanced binary tree over tasks.
#pragma once

#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Nodes of the tree: leaves 0 .. tasks - 1 in order, then inner nodes. A parent has a higher number than its
/// children; the root has the highest. Every node halves its set of leaves.
struct TaskTreeShape {
  std::vector<Index> parent;  ///< -1 for the root
  std::vector<Index> depth;   ///< 0 for the root
  Index nodes() const { return static_cast<Index>(parent.size()); }
};
TaskTreeShape task_tree_shape(Index tasks);

}  // namespace sharelearn
