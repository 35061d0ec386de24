#include "generate/generate.hpp"

#include <gtest/gtest.h>

#include <set>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/data/write.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

int label(const Dataset& data, Index row) {
  return std::stoi(data.label.names[static_cast<std::size_t>(data.label.id[static_cast<std::size_t>(row)])]);
}

/// The binary number in four columns from `first` on; +1 stands for 1.
int nibble(const Dataset& data, Index row, Index first) {
  int number = 0;
  for (Index b = 0; b < 4; ++b) number = 2 * number + (data.x.dense()(row, first + b) > 0 ? 1 : 0);
  return number;
}

TEST(generate, binary_code_is_the_papers_example_for_four_classes) {
  const Dataset data = generate("binary-code", {.classes = 4});
  ASSERT_EQ(data.rows(), 4);
  ASSERT_EQ(data.columns(), 6);
  const float code[4][2] = {{-1, 1}, {1, -1}, {1, 1}, {-1, -1}};  // bin(1) to bin(4), section 6
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(label(data, i), i + 1);
    for (Index b = 0; b < 2; ++b) EXPECT_EQ(data.x.dense()(i, b), code[i][b]);
    for (Index y = 0; y < 4; ++y) EXPECT_EQ(data.x.dense()(i, 2 + y), y == i ? 4 : 0);
  }
}

TEST(generate, blocks_zeroes_one_block_in_the_promised_number_of_rows) {
  const Dataset data = generate("blocks", {.rows = 200, .classes = 8, .blocks = 5, .noise = 0.25});
  ASSERT_EQ(data.columns(), 15);
  int noisy = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    std::set<Index> zeroed;
    for (Index j = 0; j < 15; ++j) {
      const float value = data.x.dense()(i, j);
      const int bit = (label(data, i) >> (2 - j % 3)) & 1;
      if (value == 0) {
        zeroed.insert(j / 3);
      } else {
        EXPECT_EQ(value, bit != 0 ? 1 : -1);
      }
    }
    EXPECT_LE(zeroed.size(), 1U);
    noisy += zeroed.empty() ? 0 : 1;
  }
  EXPECT_EQ(noisy, 50);
}

TEST(generate, sharing_common_spells_its_class_in_the_first_four_columns) {
  const Dataset data = generate("sharing-common", {});
  ASSERT_EQ(data.rows(), 8000);
  ASSERT_EQ(data.columns(), 64);
  EXPECT_EQ(data.label.names.size(), 16U);
  for (Index i = 0; i < data.rows(); ++i) EXPECT_EQ(nibble(data, i, 0), label(data, i));
}

TEST(generate, sharing_disjoint_has_exactly_one_block_of_ones) {
  const Dataset data = generate("sharing-disjoint", {.seed = 7});
  for (Index i = 0; i < data.rows(); ++i) {
    for (int r = 0; r < 16; ++r) EXPECT_EQ(nibble(data, i, 4 * r) == 15, r == label(data, i));
  }
}

TEST(generate, sharing_mixed_sets_the_last_class_apart) {
  const Dataset data = generate("sharing-mixed", {});
  std::set<int> first_of_last_class;
  for (Index i = 0; i < data.rows(); ++i) {
    EXPECT_EQ(nibble(data, i, 60) == 15, label(data, i) == 15);
    if (label(data, i) < 15) {
      EXPECT_EQ(nibble(data, i, 0), label(data, i));
    } else {
      first_of_last_class.insert(nibble(data, i, 0));
    }
  }
  EXPECT_EQ(first_of_last_class.size(), 16U);
}

TEST(generate, depends_on_the_seed_alone) {
  for (const Generator& generator : all_generators()) {
    const std::string name(generator.name);
    EXPECT_EQ(to_csv(generate(name, {.seed = 3})), to_csv(generate(name, {.seed = 3})));
  }
  EXPECT_NE(to_csv(generate("sharing-common", {.seed = 3})), to_csv(generate("sharing-common", {.seed = 4})));
}

TEST(generate, refuses_what_makes_no_sense) {
  EXPECT_THROW(generate("no-such-set", {}), InputError);
  EXPECT_THROW(generate("binary-code", {.classes = 12}), InputError);
  EXPECT_THROW(generate("binary-code", {.classes = 1}), InputError);
  EXPECT_THROW(generate("blocks", {.blocks = 0}), InputError);
  EXPECT_THROW(generate("blocks", {.noise = 1.5}), InputError);
  EXPECT_THROW(generate("blocks", {.rows = -1}), InputError);
  EXPECT_THROW(generate("task-tree", {.rows = 13, .tasks = 3}), InputError);
  EXPECT_EQ(generate("task-tree", {.rows = 12, .tasks = 3}).rows(), 12);
}

TEST(write, round_trips_through_both_formats) {
  const test::TemporaryFolder folder;
  ThreadPool threads(1);
  Dataset data = generate("blocks", {.rows = 30, .classes = 4});
  const Dataset sparse = read_dataset(folder.file("a.svm", to_svmlight(data)), {}, threads);
  EXPECT_EQ(to_svmlight(sparse), to_svmlight(data));
  EXPECT_EQ(to_csv(sparse), to_csv(data));
  data.column_names = {"a", "b,c", "d\"e", "f", "g", "h", "i", "j"};
  data.label.names[0] = "x,\"y";
  const Dataset dense = read_dataset(folder.file("a.csv", to_csv(data)), {}, threads);
  EXPECT_EQ(dense.column_names, data.column_names);
  EXPECT_EQ(to_csv(dense), to_csv(data));
}

TEST(write, csv_keeps_the_tasks) {
  const test::TemporaryFolder folder;
  ThreadPool threads(1);
  const Dataset data = generate("task-tree", {.tasks = 3, .positives = 1});
  const Dataset back = read_dataset(folder.file("a.csv", to_csv(data)),
                                    {.label_column = "label", .task_column = "task"}, threads);
  EXPECT_EQ(to_svmlight(back), to_svmlight(data));
}

TEST(write, refuses_labels_that_svmlight_cannot_hold) {
  Dataset data = generate("binary-code", {.classes = 2});
  data.label.names[0] = "a b";
  EXPECT_THROW(to_svmlight(data), InputError);
}

}  // namespace
}  // namespace sharelearn
