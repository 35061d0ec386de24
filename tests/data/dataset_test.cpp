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

Dataset with_columns(std::vector<std::string> names) {
  Dataset data;
  DenseMatrix x(1, static_cast<Index>(names.size()));
  for (Index j = 0; j < x.cols(); ++j) x(0, j) = static_cast<float>(j);
  data.x = std::move(x);
  data.column_names = std::move(names);
  data.source = "set";
  return data;
}

std::vector<float> first_row(const Dataset& data) {
  std::vector<float> row;
  for (Index j = 0; j < data.columns(); ++j) row.push_back(data.x.dense()(0, j));
  return row;
}

TEST(order_columns, takes_columns_by_name) {
  Dataset data = with_columns({"a", "b", "c"});
  order_columns(data, {"c", "a", "b"}, "the model");
  EXPECT_EQ(first_row(data), (std::vector<float>{2, 0, 1}));
  EXPECT_EQ(data.column_names, (std::vector<std::string>{"c", "a", "b"}));
}

TEST(order_columns, leaves_columns_alone_that_are_in_order_or_without_names) {
  Dataset same = with_columns({"a", "a"});
  order_columns(same, {"a", "a"}, "the model");
  EXPECT_EQ(first_row(same), (std::vector<float>{0, 1}));
  order_columns(same, {}, "the model");
  Dataset unnamed = with_columns({});
  order_columns(unnamed, {"a"}, "the model");
}

TEST(order_columns, names_what_is_missing_or_cannot_be_told_apart) {
  const auto message = [](std::vector<std::string> columns, const std::vector<std::string>& names) {
    Dataset data = with_columns(std::move(columns));
    try {
      order_columns(data, names, "the model");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message({"a", "y"}, {"a", "b"}).find("set: has no column 'b', which the model has"),
            std::string::npos);
  EXPECT_NE(message({"a", "b", "a"}, {"a", "a", "b"}).find("more than one column is called 'a'"),
            std::string::npos);
  EXPECT_NE(message({"a", "b"}, {"a", "a"}).find("the model: more than one column is called 'a'"),
            std::string::npos);
  EXPECT_NE(
      message({"a"}, {"a", "b", "c"}).find("set: has no columns 'b', 'c', which the model has; the last"),
      std::string::npos);
  EXPECT_NE(
      message({"a", "x"}, {"a", "b"}).find("has no column 'b', which the model has, but the column 'x'"),
      std::string::npos);
  EXPECT_NE(
      message({"a", "b"}, {"a"}).find("set: has the column 'b', which the model has not; `ignore-columns`"),
      std::string::npos);
}

TEST(require_columns, says_how_many_there_are_and_should_be) {
  const Dataset data = with_columns({"a", "b"});
  require_columns(data, 2, "the model has");
  try {
    require_columns(data, 3, "the model has");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("set: the data has 2 columns, but the model has 3 (CSV: `ignore-columns`"),
              std::string::npos)
        << error.what();
  }
}

TEST(Classes, numbers_are_ordered_as_numbers) {
  const Classes classes = classes_of(with_labels({"10", "9", "-1"}, {0, 1, 2, 0}));
  EXPECT_EQ(classes.names, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(classes.of_row, (std::vector<std::int32_t>{2, 1, 0, 2}));
}

TEST(Classes, labels_are_ordered_as_text_as_soon_as_one_is_not_a_number) {
  const Classes classes = classes_of(with_labels({"10", "9", "b"}, {0, 1, 2}));
  EXPECT_EQ(classes.names, (std::vector<std::string>{"10", "9", "b"}));
}

TEST(Classes, labels_that_no_row_has_are_not_classes) {
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

TEST(Tasks, per_task_rows_leave_the_other_tasks_unlabelled) {
  Dataset data = with_labels({"0", "1"}, {0, 1, 1});
  data.task = {{"b", "a"}, {0, 1, 0}};
  const Tasks tasks = tasks_of(data);
  EXPECT_EQ(tasks.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tasks.sign, (std::vector<std::int8_t>{0, -1, 1, 0, 0, 1}));
}

Dataset with_tasks(std::vector<std::string> names, std::vector<std::int32_t> id) {
  Dataset data = with_labels(std::move(names), std::move(id));
  data.task = {{"a"}, std::vector<std::int32_t>(data.label.id.size(), 0)};
  return data;
}

TEST(Tasks, a_model_remembers_which_label_is_positive) {
  const std::vector<std::string> known{"a"};
  const TaskLabels learned = tasks_of(with_tasks({"2", "1"}, {0, 1})).labels;
  EXPECT_EQ(learned.positive, "2");
  EXPECT_EQ(learned.negative, "1");
  EXPECT_EQ(tasks_of(with_tasks({"1"}, {0, 0}), &known, learned).sign, (std::vector<std::int8_t>{-1, -1}));
  EXPECT_EQ(tasks_of(with_tasks({"2"}, {0}), &known, learned).sign, (std::vector<std::int8_t>{1}));
  EXPECT_EQ(tasks_of(with_tasks({"0", "1"}, {0, 1}), &known, {"-1", "1"}).sign,
            (std::vector<std::int8_t>{-1, 1}));
  try {
    tasks_of(with_tasks({"1", "-1"}, {0, 1}), &known, learned);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("set: row 2 has the label '-1'"), std::string::npos)
        << error.what();
  }
}

TEST(Tasks, a_label_met_later_completes_the_pair_or_is_refused) {
  const std::vector<std::string> known{"a"};
  const TaskLabels ones = tasks_of(with_tasks({"1"}, {0})).labels;  // a single value is positive
  EXPECT_EQ(ones.negative, "");
  const TaskLabels both = tasks_of(with_tasks({"-1"}, {0}), &known, ones).labels;
  EXPECT_EQ(both.negative, "-1");
  EXPECT_EQ(both.positive, "1");
  // With 2 as the positive label, 1 would have to be negative.
  EXPECT_THROW(tasks_of(with_tasks({"2"}, {0}), &known, ones), InputError);
}

TEST(Tasks, lists_name_the_tasks_a_model_does_not_know) {
  const std::vector<std::string> known{"1", "3"};
  const Tasks tasks = tasks_of(with_labels({"1,8", "7"}, {0, 1}), &known);
  EXPECT_EQ(tasks.unknown, (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(tasks.sign, (std::vector<std::int8_t>{1, -1, -1, -1}));
}

TEST(Tasks, per_task_rows_of_unknown_tasks_have_no_sign_and_are_named) {
  const std::vector<std::string> known{"a"};
  Dataset data = with_tasks({"1", "-1"}, {0, 1, 1});
  data.task = {{"b", "a", "10"}, {0, 1, 2}};
  const Tasks tasks = tasks_of(data, &known);
  EXPECT_EQ(tasks.unknown, (std::vector<std::string>{"10", "b"}));
  EXPECT_EQ(tasks.sign, (std::vector<std::int8_t>{0, -1, 0}));
  data.task.id = {0, 0, 2};
  EXPECT_THROW(tasks_of(data, &known), InputError);  // no row is left to evaluate
  data.task.id = {1, 1, -1};
  EXPECT_THROW(tasks_of(data, &known), InputError);
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

TEST(Weights, that_are_far_apart_balance_classes) {
  Dataset data = with_labels({"a", "b"}, {0, 0, 1});
  data.weight = {1e90, 3e90, 1e-300};
  const Classes classes = classes_of(data);
  const auto balanced = normalised_weights(data, &classes);
  EXPECT_DOUBLE_EQ(balanced[0], 0.125);
  EXPECT_DOUBLE_EQ(balanced[1], 0.375);
  EXPECT_DOUBLE_EQ(balanced[2], 0.5);
}

TEST(Weights, that_would_overflow_are_an_error) {
  Dataset data = with_labels({"a", "b"}, {0, 1});
  const Classes classes = classes_of(data);
  for (const double large : {1e308, 1e150}) {
    data.weight = {large, large};
    EXPECT_THROW(normalised_weights(data), InputError);
    EXPECT_THROW(normalised_weights(data, &classes), InputError);
  }
}

TEST(Weights, a_negative_weight_is_an_error_that_names_the_row) {
  Dataset data = with_labels({"a", "b"}, {0, 1});
  data.weight = {1, -2};
  EXPECT_THROW(normalised_weights(data), InputError);
}

TEST(Values, a_label_that_is_not_a_number_is_an_error) {
  EXPECT_THROW(values_of(with_labels({"1", "x"}, {0, 1})), InputError);
  EXPECT_EQ(values_of(with_labels({"1.5", "-2"}, {1, 0})), (std::vector<double>{-2, 1.5}));
}

}  // namespace
}  // namespace sharelearn
