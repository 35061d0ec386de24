#include "sharelearn/data/dataset.hpp"

#include <gtest/gtest.h>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

Dataset with_labels(std::vector<std::string> names, std::vector<std::int32_t> id) {
  Dataset data;
  data.x = DenseMatrix(static_cast<Index>(id.size()), 1);
  data.label = {std::move(names), std::move(id)};
  data.source = "set";
  return data;
}

TEST(Classes, numbers_are_ordered_as_numbers) {
  const Classes classes = classes_of(with_labels({"10", "9", "-1"}, {0, 1, 2, 0}));
  EXPECT_EQ(classes.names, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(classes.of_row, (std::vector<std::int32_t>{2, 1, 0, 2}));
}

TEST(Classes, text_is_ordered_as_text_as_soon_as_one_label_is_no_number) {
  const Classes classes = classes_of(with_labels({"10", "9", "b"}, {0, 1, 2}));
  EXPECT_EQ(classes.names, (std::vector<std::string>{"10", "9", "b"}));
}

TEST(Classes, labels_that_no_row_has_are_no_classes) {
  EXPECT_EQ(classes_of(with_labels({"a", "b", "c"}, {0, 2})).names, (std::vector<std::string>{"a", "c"}));
}

TEST(Classes, one_class_only_is_an_error_that_names_it) {
  try {
    classes_of(with_labels({"a"}, {0, 0}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("only 1 class, a"), std::string::npos) << error.what();
  }
}

TEST(Classes, a_row_without_label_is_an_error_that_names_the_row) {
  try {
    classes_of(with_labels({"a", "b"}, {0, -1, 1}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("row 2"), std::string::npos);
  }
}

TEST(Classes, labels_unknown_to_the_model_become_minus_one) {
  EXPECT_EQ(classes_of(with_labels({"b", "z"}, {0, 1}), {"a", "b"}).of_row,
            (std::vector<std::int32_t>{1, -1}));
}

TEST(Tasks, comma_lists_name_the_positive_tasks) {
  const Tasks tasks = tasks_of(with_labels({"1,3", "2", ""}, {0, 1, 2}));
  EXPECT_EQ(tasks.names, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(tasks.sign, (std::vector<std::int8_t>{1, -1, 1, -1, 1, -1, -1, -1, -1}));
}

TEST(Tasks, rows_of_their_own_leave_the_other_tasks_unlabelled) {
  Dataset data = with_labels({"0", "1"}, {0, 1, 1});
  data.task = {{"b", "a"}, {0, 1, 0}};
  const Tasks tasks = tasks_of(data);
  EXPECT_EQ(tasks.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tasks.sign, (std::vector<std::int8_t>{0, -1, 1, 0, 0, 1}));
}

TEST(Weights, sum_to_one_and_balance_classes) {
  const Dataset data = with_labels({"a", "b"}, {0, 0, 0, 1});
  const Classes classes = classes_of(data);
  const auto plain = normalised_weights(data);
  EXPECT_DOUBLE_EQ(plain[0], 0.25);
  const auto balanced = normalised_weights(data, &classes);
  EXPECT_DOUBLE_EQ(balanced[0], 0.5 / 3);
  EXPECT_DOUBLE_EQ(balanced[3], 0.5);
}

TEST(Weights, a_negative_weight_is_an_error_that_names_the_row) {
  Dataset data = with_labels({"a", "b"}, {0, 1});
  data.weight = {1, -2};
  EXPECT_THROW(normalised_weights(data), InputError);
}

TEST(Values, a_label_that_is_no_number_is_an_error) {
  EXPECT_THROW(values_of(with_labels({"1", "x"}, {0, 1})), InputError);
  EXPECT_EQ(values_of(with_labels({"1.5", "-2"}, {1, 0})), (std::vector<double>{-2, 1.5}));
}

}  // namespace
}  // namespace sharelearn
