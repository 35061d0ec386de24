// Weighted rows are drawn as copies of them are, and split by their weight.
#include "data/row_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "sharelearn/data/split.hpp"

namespace sharelearn {
namespace {

TEST(row_copies, whole_weights_are_numbers_of_copies) {
  const RowCopies copies(std::vector<double>{2, 0, 1, 3}, 4);
  EXPECT_EQ(copies.all(), (std::vector<Index>{0, 0, 2, 3, 3, 3}));
  EXPECT_EQ(copies.weight(), 1);
  EXPECT_EQ(RowCopies({}, 3).all(), (std::vector<Index>{0, 1, 2}));
  Random a(5), b(5);
  std::vector<Index> drawn = a.sample(6, 4);
  for (Index& copy : drawn) copy = copies.row(copy);
  EXPECT_EQ(copies.sample(4, b), drawn);
}

TEST(row_copies, other_weights_give_each_row_its_share) {
  Random random(1);
  std::vector<double> weights;
  double total = 0;
  for (int i = 0; i < 500; ++i) {
    weights.push_back(i % 7 == 0 ? 0.0 : random.uniform(0, 3));
    total += weights.back();
  }
  const RowCopies copies(weights, 500);
  const std::vector<Index> rows = copies.all();
  EXPECT_EQ(std::ssize(rows), std::ranges::count_if(weights, [](double w) { return w > 0; }));
  for (Index i = 0; i < 500; ++i) {
    const double share = weights[to_size(i)] / total * static_cast<double>(rows.size());
    EXPECT_LT(std::abs(static_cast<double>(std::ranges::count(rows, i)) - share), 1 + 1e-9);
  }
  EXPECT_EQ(RowCopies(std::vector<double>(9, 0.3), 9).all(), RowCopies({}, 9).all());
}

TEST(split, parts_are_measured_by_weight) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    std::vector<std::int32_t> label, task;
    std::vector<double> weight, ones(90, 1.0);
    for (int i = 0; i < 90; ++i) {
      label.push_back(static_cast<std::int32_t>(random.below(3)));
      task.push_back(static_cast<std::int32_t>(random.below(2)));
      weight.push_back(random.uniform(0.5, 4));
    }
    const auto weight_in = [&](const std::vector<Index>& rows, std::int32_t c) {
      double sum = 0;
      for (const Index i : rows) sum += c < 0 || label[to_size(i)] == c ? weight[to_size(i)] : 0;
      return sum;
    };
    const Split held = stratified_holdout(label, 0.3, seed, weight);
    for (std::int32_t c = 0; c < 3; ++c) {
      const double all = weight_in(held.test, c) + weight_in(held.train, c);
      EXPECT_NEAR(weight_in(held.test, c), 0.3 * all, 2);  // half a row of weight 4
    }
    const Split of_tasks = task_holdout(task, label, 0.3, seed, weight);
    EXPECT_NEAR(weight_in(of_tasks.test, -1), 0.3 * (weight_in(held.test, -1) + weight_in(held.train, -1)),
                2);
    const auto folds = stratified_folds(label, 4, seed, weight);
    for (const Split& a : folds) {
      for (const Split& b : folds) {
        for (std::int32_t c = 0; c < 3; ++c)
          EXPECT_LE(std::abs(weight_in(a.test, c) - weight_in(b.test, c)), 4);
      }
    }
    EXPECT_EQ(stratified_holdout(label, 0.3, seed, ones).test, stratified_holdout(label, 0.3, seed).test);
    EXPECT_EQ(stratified_folds(label, 4, seed, ones)[2].test, stratified_folds(label, 4, seed)[2].test);
  }
}

}  // namespace
}  // namespace sharelearn
