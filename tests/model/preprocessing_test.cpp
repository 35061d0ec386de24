#include "sharelearn/model/preprocessing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Scores: x_a + 10 x_b + 100 x_c, without scaling.
LinearModel digits_model() {
  LinearModel model;
  for (Index j = 0; j < 3; ++j) model.features.push_back(std::make_shared<ColumnFeature>(j));
  model.names = {"sum"};
  model.kind_of_output = OutputKind::value;
  model.preprocessing.columns = 3;
  model.preprocessing.names = {"a", "b", "c"};
  model.stages = {{{0, 1, 2}, {1, 10, 100}, {}, 3, 3}};
  return model;
}

Dataset one_row(std::vector<float> values, std::vector<std::string> names = {}) {
  Dataset data;
  DenseMatrix x(1, std::ssize(values));
  for (Index j = 0; j < x.cols(); ++j) x(0, j) = values[static_cast<std::size_t>(j)];
  data.x = std::move(x);
  data.column_names = std::move(names);
  data.source = "rows.csv";
  return data;
}

SparseMatrix sparse_row(const std::vector<float>& values) {
  SparseMatrix x;
  x.rows = 1;
  x.cols = std::ssize(values);
  x.start = {0};
  for (const float value : values) {
    if (value != 0) x.row.push_back(0), x.value.push_back(value);
    x.start.push_back(std::ssize(x.value));
  }
  return x;
}

class Preprocess : public ::testing::Test {
 protected:
  double score(const LinearModel& model, const Dataset& data) { return model.scores(data, threads_)(0, 0); }
  double sparse_score(const LinearModel& model, const std::vector<float>& values) {
    Dataset data;
    data.x = sparse_row(values);
    return score(model, data);
  }
  ThreadPool threads_{1};
};

TEST_F(Preprocess, columns_are_taken_by_name_and_the_data_stays_as_it_is) {
  const LinearModel model = digits_model();
  const Dataset turned = one_row({3, 1, 2}, {"c", "a", "b"});
  EXPECT_EQ(score(model, turned), 321);
  EXPECT_EQ(turned.x.dense()(0, 0), 3);
  EXPECT_EQ(score(model, one_row({1, 2, 3})), 321);
  EXPECT_THROW(score(model, one_row({1, 2, 3}, {"a", "b", "d"})), InputError);
  EXPECT_THROW(score(model, one_row({1, 2})), InputError);
}

TEST_F(Preprocess, missing_values_get_the_means_of_their_own_columns) {
  LinearModel model = digits_model();
  const Dataset data = one_row({3, kMissing, 2}, {"c", "a", "b"});
  try {
    score(model, data);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("rows.csv: values are missing"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("--"), std::string::npos);
  }
  model.preprocessing.means = {7, 8, 9};
  EXPECT_EQ(score(model, data), 327);
  EXPECT_TRUE(std::isnan(data.x.dense()(0, 1)));
  EXPECT_EQ(sparse_score(model, {kMissing, 2, 0}), 27);
}

TEST_F(Preprocess, sparse_rows_may_lack_columns_or_have_more) {
  const LinearModel model = digits_model();
  EXPECT_EQ(sparse_score(model, {1, 2}), 21);
  EXPECT_EQ(sparse_score(model, {0, 2, 3, 4, 5}), 320);
}

TEST_F(Preprocess, a_model_predicts_what_its_outputs_are) {
  LinearModel model = digits_model();
  EXPECT_EQ(model.predict(one_row({1, 2, 3}), threads_).values, std::vector<double>{321});
  EXPECT_EQ(model.link(), Link::identity);
  EXPECT_THROW(model.proba(one_row({1, 2, 3}), threads_), InputError);
  model.names = {"p", "q", "r"};
  model.stages = {{{0, 1}, {1, 0, 0, 0, 1, 1}, {}, 2, 2}};
  model.kind_of_output = OutputKind::tasks;
  const Grid<std::int8_t> signs = model.predict(one_row({0, 2, 3}), threads_).signs;
  EXPECT_EQ(signs(0, 0), -1);  // a score of 0 is negative
  EXPECT_EQ(signs(0, 1), 1);
  EXPECT_NEAR(model.proba(one_row({0, 2, 3}), threads_)(0, 1), 1 / (1 + std::exp(-2)), 1e-15);
  model.kind_of_output = OutputKind::classes;
  EXPECT_EQ(model.predict(one_row({0, 2, 3}), threads_).classes, std::vector<std::int32_t>{1});  // a tie
  model.set_link(Link::softmax_of_twice);
  EXPECT_NEAR(model.proba(one_row({0, 2, 3}), threads_)(0, 0), 1 / (1 + 2 * std::exp(4)), 1e-15);
}

TEST_F(Preprocess, only_columns_that_are_read_are_asked_for) {
  LinearModel model = digits_model();
  model.stages = {{{0, 2}, {1, 100}, {}, 2, 2}};
  EXPECT_EQ(model.columns_read(), 2);
  EXPECT_EQ(score(model, one_row({3, 1}, {"c", "a"})), 301);
  EXPECT_EQ(score(model, one_row({3, 5, 1, kMissing}, {"c", "z", "a", "b"})), 301);
  EXPECT_EQ(score(model, one_row({1, kMissing, 3})), 301);
  EXPECT_EQ(score(model, one_row({1, 3})), 301);  // by position, in the model's order
  EXPECT_EQ(sparse_score(model, {1, kMissing, 3}), 301);
  EXPECT_THROW(score(model, one_row({1, 2}, {"a", "b"})), InputError);
  EXPECT_THROW(score(model, one_row({1})), InputError);
  EXPECT_THROW(score(model, one_row({1, 2, 3, 4})), InputError);
}

TEST_F(Preprocess, indicators_follow_the_columns_of_the_data) {
  LinearModel model = digits_model();
  model.features.push_back(std::make_shared<ColumnFeature>(3));
  Preprocessing& input = model.preprocessing;
  input.columns = 4;
  input.names = {"a", "b", "c", "b=missing"};
  input.means = {7, 8, 9, 0};
  input.indicators = {1};
  model.stages = {{{0, 1, 2, 3}, {1, 10, 100, 1000}, {}, 4, 4}};
  EXPECT_EQ(score(model, one_row({1, kMissing, 3})), 1381);
  EXPECT_EQ(score(model, one_row({3, 2, 1}, {"c", "b", "a"})), 321);
  EXPECT_EQ(sparse_score(model, {1, kMissing}), 1081);
  model.stages = {{{3}, {1000}, {}, 1, 1}};
  EXPECT_EQ(input.needed_in_data(model.columns_needed()), (std::vector<char>{0, 1, 0}));
}

TEST_F(Preprocess, counts_are_transformed_before_features_read_them) {
  LinearModel model = digits_model();
  model.preprocessing.transform.kind = CountTransformKind::binary;
  EXPECT_EQ(score(model, one_row({5, 0, 3})), 101);
  model.preprocessing.transform = {CountTransformKind::tfidf, {1, 1, 1}};
  EXPECT_FLOAT_EQ(static_cast<float>(score(model, one_row({3, 0, 4}))), 0.6f + 80);
  EXPECT_TRUE(model.columns_needed().empty());  // the length of a row needs all of it
  EXPECT_THROW(score(model, one_row({-1, 0, 0})), InputError);
}

}  // namespace
}  // namespace sharelearn
