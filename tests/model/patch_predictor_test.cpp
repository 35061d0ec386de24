#include "sharelearn/model/patch_predictor.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/patches.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

struct Fixture {
  ThreadPool threads{2};
  Dataset data;
  LinearModel model;

  Fixture() {
    Random random(3);
    DenseMatrix x(120, 196);
    for (Index j = 0; j < 196; ++j) {
      for (Index i = 0; i < 120; ++i)
        x(i, j) = random.uniform() < 0.3 ? static_cast<float>(random.below(256)) : 0.0f;
    }
    x(0, 0) = 255;
    x(1, 0) = 0;
    data.x = std::move(x);
    const PatchPool pool(data.x,
                         {.templates = {{7, 10}, {4, 5}},
                          .masks = {{.grid = 3, .support = 0.5}},
                          .samples = 500,
                          .least_contrast = 0.1},
                         threads);
    model.names = {"a", "b", "c"};
    model.input_columns = 196;
    Stage stage;
    for (Index j = 0; j < pool.candidates(); j += 3) {
      stage.columns.push_back(static_cast<Index>(model.features.size()));
      model.features.push_back(pool.feature(j));
      for (int c = 0; c < 3; ++c) stage.weights.push_back(random.normal());
    }
    stage.bias = {0.5, -1, 2};
    stage.features = static_cast<Index>(model.features.size());
    model.stages.push_back(stage);
  }
};

TEST(PatchPredictor, scores_equal_the_features_computed_one_by_one) {
  Fixture f;
  const auto predictor = PatchPredictor::of(f.model);
  ASSERT_NE(predictor, nullptr);
  const Grid<double> scores = predictor->scores(f.data.x, f.threads);
  const Scaling none;
  Grid<float> value(f.data.rows(), 1);
  Grid<double> expected(f.data.rows(), 3);
  const Stage& stage = f.model.stages.front();
  for (Index c = 0; c < 3; ++c) {
    std::fill_n(expected.column(c), f.data.rows(), stage.bias[static_cast<std::size_t>(c)]);
  }
  for (std::size_t a = 0; a < f.model.features.size(); ++a) {
    f.model.features[a]->evaluate(ScaledColumns(f.data.x, none), value, 0);
    for (Index i = 0; i < f.data.rows(); ++i) {
      for (Index c = 0; c < 3; ++c) {
        expected(i, c) +=
            static_cast<double>(value(i, 0)) * stage.weights[3 * a + static_cast<std::size_t>(c)];
      }
    }
  }
  const Grid<double> of_model = f.model.scores(f.data, f.threads);
  for (Index i = 0; i < f.data.rows(); ++i) {
    for (Index c = 0; c < 3; ++c) {
      EXPECT_NEAR(scores(i, c), expected(i, c), 1e-6);
      EXPECT_EQ(of_model(i, c), scores(i, c));
    }
  }
}

TEST(PatchPredictor, a_saved_model_scores_the_same) {
  Fixture f;
  const ModelPtr copy = LinearModel::read(f.model.payload(), "test");
  const Grid<double> a = f.model.scores(f.data, f.threads), b = copy->scores(f.data, f.threads);
  for (Index i = 0; i < f.data.rows(); ++i) {
    for (Index c = 0; c < 3; ++c) EXPECT_EQ(a(i, c), b(i, c));
  }
}

TEST(PatchPredictor, bytes_and_floats_give_the_same_scores) {
  Fixture f;
  const auto predictor = PatchPredictor::of(f.model);
  PatchPredictor::Workspace workspace(*predictor);
  std::vector<float> row(196);
  std::vector<std::uint8_t> bytes(196);
  std::vector<double> a(3), b(3);
  for (Index i = 0; i < f.data.rows(); ++i) {
    gather_rows(f.data.x.dense(), {i, i + 1}, row.data());
    for (std::size_t j = 0; j < 196; ++j) bytes[j] = static_cast<std::uint8_t>(row[j]);
    predictor->scores(std::span<const float>(row), workspace, a);
    predictor->scores(std::span<const std::uint8_t>(bytes), workspace, b);
    EXPECT_EQ(a, b);
  }
}

TEST(PatchPredictor, counts_only_positions_under_the_masks) {
  Fixture f;
  const auto predictor = PatchPredictor::of(f.model);
  Index count = static_cast<Index>(3 * f.model.features.size());
  for (const FeaturePtr& feature : f.model.features) {
    const auto& parts = dynamic_cast<const PatchFeature&>(*feature).parts();
    for (const auto y : parts.row_profile) {
      for (const auto x : parts.column_profile) count += y != 0 && x != 0 ? parts.size * parts.size : 0;
    }
  }
  EXPECT_EQ(predictor->multiply_adds(), count);
}

TEST(PatchPredictor, is_not_for_models_with_other_features) {
  Fixture f;
  f.model.features.back() = std::make_shared<ColumnFeature>(3);
  EXPECT_EQ(PatchPredictor::of(f.model), nullptr);
}

}  // namespace
}  // namespace sharelearn
