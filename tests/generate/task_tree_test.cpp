#include "generate/task_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

TEST(task_tree, shape_has_one_leaf_per_task_and_parents_above_their_children) {
  for (const Index tasks : {1, 2, 7, 100}) {
    const TaskTreeShape shape = task_tree_shape(tasks);
    EXPECT_EQ(shape.nodes(), 2 * tasks - 1);
    for (Index v = 0; v + 1 < shape.nodes(); ++v) EXPECT_GT(shape.parent[static_cast<std::size_t>(v)], v);
    EXPECT_EQ(shape.parent.back(), -1);
    for (const Index depth : shape.depth) EXPECT_LE(depth, std::ceil(std::log2(tasks)));
  }
}

TEST(task_tree, features_of_a_task_s_path_and_no_others_tell_its_labels) {
  const TaskTreeOptions options{.tasks = 4, .positives = 3000, .irrelevant = 2, .signal = 0.8, .seed = 3};
  const Dataset data = task_tree(options);
  const TaskTreeShape shape = task_tree_shape(4);
  ASSERT_EQ(data.columns(), 9);
  for (Index task = 0; task < 4; ++task) {
    std::vector<char> on_path(9, 0);
    for (Index v = task; v >= 0; v = shape.parent[static_cast<std::size_t>(v)])
      on_path[static_cast<std::size_t>(v)] = 1;
    for (Index j = 0; j < 9; ++j) {
      double mean = 0;  // mean of x y; its deviation is 1 / sqrt(6000)
      for (Index i = task; i < data.rows(); i += 4) {
        mean += data.x.dense()(i, j) * (data.label.id[static_cast<std::size_t>(i)] == 0 ? 1 : -1) / 6000.0;
      }
      EXPECT_NEAR(mean, on_path[static_cast<std::size_t>(j)] ? 0.6 : 0.0, 0.06);
    }
  }
}

TEST(task_tree, rows_take_turns_and_depend_on_the_seed_alone) {
  const Dataset a = task_tree({.tasks = 5, .positives = 2, .seed = 9}),
                b = task_tree({.tasks = 5, .positives = 2, .seed = 9});
  ASSERT_EQ(a.rows(), 20);
  for (Index i = 0; i < 20; ++i) {
    EXPECT_EQ(a.task.id[static_cast<std::size_t>(i)], i % 5);
    for (Index j = 0; j < a.columns(); ++j) EXPECT_EQ(a.x.dense()(i, j), b.x.dense()(i, j));
  }
  EXPECT_THROW(task_tree({.tasks = 0}), InputError);
  EXPECT_THROW(task_tree({.signal = 0.2}), InputError);
}

}  // namespace
}  // namespace sharelearn
