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

#include "data/task_tree_shape.hpp"
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

/// Rows with labels 1 and -1 and `task` set. The tasks take turns, so that the rows are a stream with one
/// example per task and step. Column v * features_per_node + f is feature f of node v.
Dataset task_tree(const TaskTreeOptions& options);

}  // namespace sharelearn
