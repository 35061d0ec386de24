// The synthetic tasks of section 4.1 of [ZweigWeinshall13]: tasks are the leaves of a binary tree, a feature
// belongs to a node, and a task depends on the features of the nodes between the root and itself. So the
// root's features are shared by all tasks, a leaf's by one.
//
// The paper gives no more than that (its appendix is not at hand); our reading: every value is -1 or 1. A
// feature on the task's path is 1 with probability `signal` in a positive example and 1 - signal in a
// negative one; all others, and the irrelevant features behind the tree's, are -1 or 1 alike.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct TaskTreeOptions {
  Index tasks = 100;
  Index positives = 20;  ///< positive examples a task; as many negative ones
  Index features_per_node = 1;
  Index irrelevant = 0;  ///< further columns without meaning
  double signal = 0.8;
  std::uint64_t seed = 1;
};

/// Nodes of the tree: leaves 0 .. tasks - 1 in order, then inner nodes; a parent has a higher number than its
/// children, the root the highest. The set of leaves is halved at every node.
struct TaskTreeShape {
  std::vector<Index> parent;  ///< -1 for the root
  std::vector<Index> depth;   ///< 0 for the root
  Index nodes() const { return static_cast<Index>(parent.size()); }
};
TaskTreeShape task_tree_shape(Index tasks);

/// Rows with labels 1 and -1, `task` set, tasks taking turns, so that the rows are a stream with one example
/// a task a step. Column v * features_per_node + f is feature f of node v.
Dataset task_tree(const TaskTreeOptions& options);

}  // namespace sharelearn
