#include "generate/task_tree.hpp"

#include <fmt/format.h>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

Dataset task_tree(const TaskTreeOptions& options) {
  if (options.tasks < 1 || options.positives < 1 || options.features_per_node < 1 || options.irrelevant < 0 ||
      !(options.signal >= 0.5 && options.signal <= 1)) {
    throw InputError(
        "task-tree needs at least 1 task, 1 positive and 1 feature a node, and a signal in [0.5, 1]");
  }
  const TaskTreeShape shape = task_tree_shape(options.tasks);
  const Index per_node = options.features_per_node;
  const Index rows = 2 * options.positives * options.tasks;
  DenseMatrix x(rows, shape.nodes() * per_node + options.irrelevant);
  Dataset data;
  data.source = "task-tree";
  data.label.names = {"1", "-1"};
  for (Index t = 0; t < options.tasks; ++t) data.task.names.push_back(fmt::format("{}", t + 1));
  Random random(options.seed);
  for (Index i = 0; i < rows; ++i) {
    const Index task = i % options.tasks;
    const bool positive = (i / options.tasks) % 2 == 0;
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = random.coin() ? 1.0F : -1.0F;
    const double high = positive ? options.signal : 1 - options.signal;
    for (Index v = task; v >= 0; v = shape.parent[to_size(v)]) {
      for (Index f = 0; f < per_node; ++f) x(i, v * per_node + f) = random.uniform() < high ? 1.0F : -1.0F;
    }
    data.label.id.push_back(positive ? 0 : 1);
    data.task.id.push_back(static_cast<std::int32_t>(task));
  }
  data.x = std::move(x);
  return data;
}

}  // namespace sharelearn
