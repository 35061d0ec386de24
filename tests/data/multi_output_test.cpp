#include "sharelearn/data/multi_output.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "learn/cascade_problem.hpp"
#include "learn/online_run.hpp"
#include "learn/output_tree.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

TEST(multi_output_data, errors_count_rows_by_their_weights) {
  MultiOutputData data = testing::random_classes({.rows = 4, .columns = 1, .outputs = 2}, 1);
  data.label = {0, 0, 0, 1};
  data.weights = {0.125, 0.125, 0.25, 0.5};
  const Grid<double> scores(4, 2);  // all ties: class 0
  EXPECT_DOUBLE_EQ(accuracy(data, scores), 0.5);
  EXPECT_DOUBLE_EQ(pair_error(data, scores), 0.5);
  data.label = {};
  data.sign = {-1, -1, -1, -1, -1, -1, -1, 1};  // a score of 0 is negative: the last sign is wrong
  EXPECT_DOUBLE_EQ(pair_error(data, scores), 0.25);
  EXPECT_DOUBLE_EQ(accuracy(data, scores), 0.75);
  EXPECT_DOUBLE_EQ(task_accuracies(data, scores)[1], 0.5);
}

TEST(multi_output_data, errors_are_rounded_once) {
  Dataset rows;
  rows.x = DenseMatrix(20, 1);
  rows.label = {{"a", "b"}, std::vector<std::int32_t>(20, 0)};
  std::fill_n(rows.label.id.begin(), 9, 1);
  const Grid<double> scores(20, 2);  // all ties: class a
  EXPECT_EQ(pair_error(multi_output_data(rows, true), scores), 0.45);
  rows.weight.assign(20, 0.3);
  rows.weight[19] = 0.7;
  double wrong = 0, all = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    all += rows.weight[i];
    if (i < 9) wrong += rows.weight[i];
  }
  EXPECT_EQ(pair_error(multi_output_data(rows, true), scores), wrong / all);
}

Dataset four_rows_of_tasks(std::vector<std::int32_t> task) {
  Dataset rows;
  DenseMatrix x(4, 1);
  for (Index i = 0; i < 4; ++i) x(i, 0) = static_cast<float>(i);
  rows.x = std::move(x);
  rows.label = {{"1", "-1"}, {0, 1, 0, 1}};
  rows.task = {{"a", "b", "c"}, std::move(task)};
  rows.weight = {1, 2, 3, 4};
  return rows;
}

TEST(multi_output_data, rows_of_unknown_tasks_are_left_out) {
  const std::vector<std::string> known{"b", "a"};
  const MultiOutputData data = multi_output_data(four_rows_of_tasks({0, 2, 0, 1}), false, &known);
  EXPECT_EQ(data.unknown_tasks, std::vector<std::string>{"c"});
  EXPECT_EQ(data.order, (std::vector<Index>{3, 0, 2}));
  EXPECT_EQ(data.task_begin, (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(data.sign, (std::vector<std::int8_t>{-1, 1, 1}));
  EXPECT_EQ(data.counts, (std::vector<double>{4, 1, 3}));
  EXPECT_NEAR(data.weights[0], 0.5, 1e-15);
  EXPECT_EQ(data.x.to_dense()(0, 0), 3);
  const Grid<double> negative(3, 1);  // a score of 0 is negative
  EXPECT_EQ(pair_error(data, negative), 0.5);
}

TEST(multi_output_data, tasks_without_rows_do_not_count_in_the_mean_accuracy) {
  const std::vector<std::string> known{"a", "b", "c"};
  const MultiOutputData data = multi_output_data(four_rows_of_tasks({0, 1, 0, 1}), false, &known);
  EXPECT_EQ(accuracy(data, Grid<double>(4, 1)), 0.5);  // all rows of b are right, none of a
}

TEST(multi_output_data, folds_leave_rows_of_every_task_to_learn_from) {
  const MultiOutputData data = testing::random_tasks({.rows = 45, .columns = 2, .outputs = 20}, true, 5);
  for (const int folds : {2, 3, 5}) {
    for (const Split& split : stratified_folds(strata(data), folds, 1)) {
      const MultiOutputData train = select_rows(data, split.train);
      for (std::size_t t = 0; t < 20; ++t) EXPECT_LT(train.task_begin[t], train.task_begin[t + 1]);
    }
  }
}

TEST(multi_output_data, one_against_rest_draws_copies_of_the_rows) {
  Dataset data;
  data.x = DenseMatrix(3, 1);
  data.label = {{"a", "b"}, {0, 1, 1}};
  data.weight = {4, 1, 1};
  const MultiOutputData tasks = one_against_rest(data, 1, 1);
  // Task a: the four copies of row 0 and one row of b, task b: one copy of row 0 and both rows of b.
  std::vector<double> weights = tasks.weights;
  std::sort(weights.begin(), weights.end());
  ASSERT_EQ(weights.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(weights[i], (i < 4 ? 1.0 : 4.0) / 8, 1e-15);
}

TEST(online_run, steps_take_the_next_row_of_every_task) {
  // The tasks have 4 and 5 rows.
  MultiOutputData data = testing::random_tasks({.rows = 9, .columns = 3, .outputs = 2}, true, 4);
  OnlineSource source(data);
  EXPECT_EQ(source.steps(), 5);
  EXPECT_EQ(source.step(0).size(), 2U);
  ASSERT_EQ(source.step(4).size(), 1U);
  EXPECT_EQ(source.step(4)[0].output, 1);
}

TEST(output_tree, clustering_joins_tasks_of_one_kind_first) {
  // Column 0 determines the labels of tasks 0 and 2, column 1 those of tasks 1 and 3.
  Random random(6);
  DenseMatrix x(400, 2);
  MultiOutputData data;
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < 2; ++j) x(i, j) = static_cast<float>(random.normal());
    for (Index t = 0; t < 4; ++t) data.sign.push_back(x(i, t % 2) + 0.1 * random.normal() > 0 ? 1 : -1);
  }
  data.names = {"a", "b", "c", "d"};
  data.weights.assign(400, 1.0 / 400);
  data.x = std::move(x);
  const OutputTree tree = clustered_tree(data);
  EXPECT_EQ(tree.parent[0], tree.parent[2]);
  EXPECT_EQ(tree.parent[1], tree.parent[3]);
  EXPECT_NE(tree.parent[0], tree.parent[1]);
  EXPECT_EQ(tree.height.back(), 1);
  const OutputTree random_one = random_tree(4, 1);
  EXPECT_EQ(random_one.parent.size(), 7U);
  TreeGroup check(random_one);  // does not throw
}

/// Average linkage as it is defined: signatures from all pairs of output and row, distances of clusters as
/// means over pairs of members; the first of equal pairs merges. O(k^5).
OutputTree slow_tree(const DenseMatrix& x, const std::vector<std::int32_t>& label, Index k) {
  const Index m = x.rows(), d = x.cols();
  Grid<double> signature(d, k);
  for (Index j = 0; j < d; ++j) {
    for (Index c = 0; c < k; ++c) {
      double sum[2] = {0, 0}, count[2] = {0, 0};
      for (Index i = 0; i < m; ++i) {
        const int own = label[static_cast<std::size_t>(i)] == c ? 1 : 0;
        sum[own] += static_cast<double>(x(i, j));
        count[own] += 1;
      }
      signature(j, c) = sum[1] / count[1] - sum[0] / count[0];
    }
  }
  const auto product = [&](Index a, Index b) {
    double sum = 0;
    for (Index j = 0; j < d; ++j) sum += signature(j, a) * signature(j, b);
    return sum;
  };
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(k));
  std::vector<Index> node(static_cast<std::size_t>(k));
  for (Index c = 0; c < k; ++c)
    members[static_cast<std::size_t>(c)] = {node[static_cast<std::size_t>(c)] = c};
  const auto distance = [&](const std::vector<Index>& one, const std::vector<Index>& other) {
    double sum = 0;
    for (const Index a : one) {
      for (const Index b : other) sum += 0.5 * (1 - product(a, b) / std::sqrt(product(a, a) * product(b, b)));
    }
    return sum / static_cast<double>(one.size() * other.size());
  };
  OutputTree tree{.leaves = k,
                  .parent = std::vector<Index>(static_cast<std::size_t>(k), -1),
                  .height = std::vector<double>(static_cast<std::size_t>(k), 0.0)};
  while (members.size() > 1) {
    std::size_t first = 0, second = 1;
    double least = distance(members[0], members[1]);
    for (std::size_t a = 0; a < members.size(); ++a) {
      for (std::size_t b = a + 1; b < members.size(); ++b) {
        const double here = distance(members[a], members[b]);
        if (here < least - 1e-9) least = here, first = a, second = b;
      }
    }
    tree.parent[static_cast<std::size_t>(node[first])] = tree.parent[static_cast<std::size_t>(node[second])] =
        std::ssize(tree.parent);
    node[first] = std::ssize(tree.parent);
    tree.parent.push_back(-1);
    tree.height.push_back(least);
    members[first].insert(members[first].end(), members[second].begin(), members[second].end());
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(second));
    node.erase(node.begin() + static_cast<std::ptrdiff_t>(second));
  }
  const double largest = *std::max_element(tree.height.begin(), tree.height.end());
  for (double& height : tree.height) height /= largest;
  return tree;
}

TEST(output_tree, clustering_merges_what_average_linkage_by_definition_merges) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    constexpr Index k = 24, m = 80, d = 40;  // several tiles' worth of columns
    DenseMatrix x(m, d);
    MultiOutputData data;
    for (Index i = 0; i < m; ++i) {
      data.label.push_back(static_cast<std::int32_t>(i < k ? i : random.below(k)));
      for (Index j = 0; j < d; ++j) x(i, j) = static_cast<float>(random.normal());
    }
    for (Index c = 0; c < k; ++c) data.names.push_back(std::to_string(c));
    data.weights.assign(m, 1.0 / m);
    const OutputTree slow = slow_tree(x, data.label, k);
    data.x = std::move(x);
    const OutputTree tree = clustered_tree(data);
    EXPECT_EQ(tree.parent, slow.parent);
    for (std::size_t v = 0; v < slow.height.size(); ++v) EXPECT_NEAR(tree.height[v], slow.height[v], 1e-12);
  }
}

/// Classes in pairs and pairs of pairs, all at the same distances.
TEST(output_tree, clustering_takes_the_first_of_equal_pairs_with_thousands_of_classes_too) {
  constexpr Index k = 2048;
  DenseMatrix x(k, 2);
  MultiOutputData data;
  for (Index c = 0; c < k; ++c) {
    data.label.push_back(static_cast<std::int32_t>(c));
    data.names.push_back(std::to_string(c));
    x(c, 0) = c % 2 == 0 ? 1.0F : -1.0F;
  }
  data.weights.assign(to_size(k), 1.0 / static_cast<double>(k));
  data.x = std::move(x);
  const OutputTree tree = clustered_tree(data);
  ASSERT_EQ(std::ssize(tree.parent), 2 * k - 1);
  // Classes of one parity are at distance 0: 0 and 2 merge first, then 4 joins them, and so on; then the odd
  // ones.
  EXPECT_EQ(tree.parent[0], k);
  EXPECT_EQ(tree.parent[2], k);
  EXPECT_EQ(tree.parent[4], k + 1);
  EXPECT_EQ(tree.parent[1], tree.parent[3]);
  EXPECT_EQ(tree.height.back(), 1);
  EXPECT_EQ(tree.height[to_size(2 * k - 3)], 0);
}

TEST(output_tree, a_deep_tree_whose_lines_stand_upside_down_is_read_in_linear_time) {
  constexpr Index depth = 50000;
  std::string text;
  for (Index node = depth; node >= 1; --node) {
    text +=
        "n" + std::to_string(node) + " 0.5 " + (node == 1 ? "a b" : "n" + std::to_string(node - 1)) + "\n";
  }
  const OutputTree tree = parse_output_tree(text, {"a", "b"});
  ASSERT_EQ(std::ssize(tree.parent), depth + 2);
  EXPECT_EQ(tree.parent[0], 2);
  EXPECT_EQ(tree.parent[1], 2);
  for (Index node = 2; node < depth + 1; ++node)
    ASSERT_EQ(tree.parent[static_cast<std::size_t>(node)], node + 1);
  EXPECT_EQ(tree.parent.back(), -1);
}

TEST(output_tree, reads_a_tree_and_names_what_is_wrong_with_one) {
  const std::vector<std::string> outputs{"a", "b", "c", "d"};
  const OutputTree tree = parse_output_tree("# two pairs\nroot 1 ab c\nab 0.25 a b\n", outputs);
  EXPECT_EQ(tree.parent, (std::vector<Index>{4, 4, 5, -1, 5, -1}));
  EXPECT_EQ(tree.height[4], 0.25);
  EXPECT_THROW(parse_output_tree("r 1 a x\n", outputs), InputError);
  EXPECT_THROW(parse_output_tree("r 1 a\ns 1 a\n", outputs), InputError);
  EXPECT_THROW(parse_output_tree("r a b\n", outputs), InputError);
  const auto refusal = [&](const std::string& text) {
    try {
      parse_output_tree(text, outputs);
    } catch (const OptionError& error) {
      return fmt::format("{}:{}", *error.entry() + 1, error.what());
    }
    return std::string();
  };
  EXPECT_NE(
      refusal("r 1 a b\ns 1.5 c d\n").find("2:`tree`: the height of 's' must be from 0 to 1, found 1.5"),
      std::string::npos);
  EXPECT_NE(refusal("r 1 a x\n").find("1:`tree`: the child 'x' of 'r'"), std::string::npos);
  const std::vector<std::string> numbers{"1", "2"};
  EXPECT_EQ(parse_output_tree("r 0.5 1.0 02\n", numbers).parent, (std::vector<Index>{2, 2, -1}));
  EXPECT_EQ(parse_output_tree("r 1 1 02\n02 0.5 2\n", numbers).parent, (std::vector<Index>{3, 2, 3, -1}));
}

}  // namespace
}  // namespace sharelearn
