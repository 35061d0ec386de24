#include "data/task_tree_shape.hpp"

#include "data/to_size.hpp"

namespace sharelearn {

namespace {

/// Creates the node above leaves [begin, end).
Index build(Index begin, Index end, TaskTreeShape& shape) {
  if (end - begin == 1) return begin;
  const Index middle = begin + (end - begin) / 2;
  const Index left = build(begin, middle, shape), right = build(middle, end, shape);
  const Index node = shape.nodes();
  shape.parent.push_back(-1);
  shape.parent[to_size(left)] = shape.parent[to_size(right)] = node;
  return node;
}

}  // namespace

TaskTreeShape task_tree_shape(Index tasks) {
  TaskTreeShape shape;
  shape.parent.assign(to_size(tasks), -1);
  build(0, tasks, shape);
  shape.depth.assign(shape.parent.size(), 0);
  for (Index v = shape.nodes() - 2; v >= 0; --v)
    shape.depth[to_size(v)] = shape.depth[to_size(shape.parent[to_size(v)])] + 1;
  return shape;
}

}  // namespace sharelearn
