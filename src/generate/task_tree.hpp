// The synthetic tasks of section 4.1 of [ZweigWeinshall13]. Tasks are the leaves of a binary tree. A feature
// belongs to a node, and a task depends on the features of all nodes between the root and itself. So the
// root's features are shared by all tasks, and a leaf's features belong to one task.
//
// The paper says no more than this (its appendix is not available). We choose: every value is -1 or 1. A
// feature on the task's path is 1 with probability `signal` in a positive example and 1 - signal in a
// negative one. All other features of the tree, and the irrelevant features after them, are -1 or 1 with
// equal probability.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct TaskTreeOptions {
  Index tasks = 100;
  Index positives = 20;  ///< positive examples per task; there are as many negative ones
  Index features_per_node = 1;
  Index irrelevant = 0;  ///< further columns without information
  double signal = 0.8;
  std::uint64_t seed = 1;
};

/// Nodes of the tree: leaves 0 .. tasks - 1 in order, then inner nodes. A parent has a higher number than its
/// children; the root has the highest. Every node halves its set of leaves.
struct TaskTreeShape {
  std::vector<Index> parent;  ///< -1 for the root
  std::vector<Index> depth;   ///< 0 for the root
  Index nodes() const { return static_cast<Index>(parent.size()); }
};
TaskTreeShape task_tree_shape(Index tasks);

/// Rows with labels 1 and -1 and `task` set. The tasks take turns, so that the rows are a stream with one
/// example per task and step. Column v * features_per_node + f is feature f of node v.
Dataset task_tree(const TaskTreeOptions& options);

}  // namespace sharelearn
