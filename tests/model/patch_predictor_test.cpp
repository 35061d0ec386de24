#include "model/patch_predictor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pool/patches.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// The value of a feature in 255ths, step by step as docs/model-json.md defines template_maximum, with plain
/// loops and without tiles, tables, panels or vectors.
class Reference {
 public:
  Reference(const PatchFeature::Parts& parts, std::span<const float> image)
      : parts_(parts), height_(parts.frame.shape.height), width_(parts.frame.shape.width) {
    const PixelRange range = parts.frame.range;
    const float factor = 127.0f / (range.high - range.low);
    for (const float v : image) {
      pixels_.push_back(static_cast<int>(std::clamp((v - range.low) * factor + 0.5f, 0.0f, 127.0f)));
    }
    if (parts.frame.deskew) deskew();
  }

  int value() const {
    int best = 0;
    for (Index y = 0; y + parts_.size <= height_; ++y) {
      for (Index x = 0; x + parts_.size <= width_; ++x) {
        const int row = fixed(contrast(y, x), parts_.row_profile[static_cast<std::size_t>(y)]);
        const int along = std::max(0, fixed(response(y, x), row));
        best = std::max(best, fixed(along, parts_.column_profile[static_cast<std::size_t>(x)]));
      }
    }
    return std::min(255, (best * static_cast<int>(parts_.multiplier)) >> 16);
  }

 private:
  static int fixed(int a, int b) { return (a * b + 16384) >> 15; }
  int pixel(Index y, Index x) const {
    return x < 0 || x >= width_ ? 0 : pixels_[static_cast<std::size_t>(y * width_ + x)];
  }
  int response(Index y, Index x) const {
    int sum = 0;
    for (Index tap = 0; tap < parts_.size * parts_.size; ++tap) {
      sum +=
          pixel(y + tap / parts_.size, x + tap % parts_.size) * parts_.weights[static_cast<std::size_t>(tap)];
    }
    return sum;
  }
  int contrast(Index y, Index x) const {
    int sum = 0, squares = 0;
    const auto area = static_cast<int>(parts_.size * parts_.size);
    for (Index tap = 0; tap < area; ++tap) {
      const int p = pixel(y + tap / parts_.size, x + tap % parts_.size);
      sum += p;
      squares += p * p;
    }
    const auto spread = static_cast<float>(area * squares - sum * sum);
    const auto epsilon = static_cast<float>(parts_.frame.epsilon);
    const float unit =
        epsilon > 0 ? 1.0f / (static_cast<float>(area) * 127.0f * 127.0f * epsilon * epsilon) : 0.0f;
    const float scaled = spread * unit;  // a separate statement: prevents a fused multiply-add
    return static_cast<int>(32767.0f / std::sqrt(scaled + 1.0f) + 0.5f);
  }
  void deskew() {
    double ink = 0, sx = 0, sy = 0, sxy = 0, syy = 0;  // exact: small integers
    for (Index y = 0; y < height_; ++y) {
      for (Index x = 0; x < width_; ++x) {
        const double p = pixel(y, x), row = static_cast<double>(y), column = static_cast<double>(x);
        ink += p, sx += column * p, sy += row * p, sxy += row * column * p, syy += row * row * p;
      }
    }
    double middle = ink > 0 ? sy / ink : 0, slope = 0;
    const double spread = syy - middle * sy;
    if (ink > 0 && spread > 0) {
      slope = std::clamp((sxy - middle * sx) / spread, -1.0, 1.0);
    } else {
      middle = 0;
    }
    const std::vector<int> before = pixels_;
    const auto at = [&](Index y, Index x) {
      return x < 0 || x >= width_ ? 0 : before[static_cast<std::size_t>(y * width_ + x)];
    };
    for (Index y = 0; y < height_; ++y) {
      const double shift = slope * (static_cast<double>(y) - middle);
      const auto steps = static_cast<Index>(std::floor(shift * 128 + 0.5));
      const auto whole = static_cast<Index>(std::floor(static_cast<double>(steps) / 128));
      const int part = static_cast<int>(steps - 128 * whole);
      for (Index x = 0; x < width_; ++x) {
        pixels_[static_cast<std::size_t>(y * width_ + x)] =
            (at(y, x + whole) * (128 - part) + at(y, x + whole + 1) * part + 64) / 128;
      }
    }
  }

  const PatchFeature::Parts& parts_;
  Index height_, width_;
  std::vector<int> pixels_;
};

struct Fixture {
  ThreadPool threads{2};
  Dataset data;
  LinearModel model;

  explicit Fixture(double contrast = 1, bool deskew = false) {
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
                          .epsilon = contrast,
                          .deskew = deskew,
                          .samples = 500,
                          .least_contrast = 0.1},
                         threads);
    model.names = {"a", "b", "c"};
    model.preprocessing.columns = 196;
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

TEST(PatchPredictor, scores_are_those_of_the_definition_computed_plainly) {
  for (const bool deskew : {false, true}) {
    for (const double contrast : {1.0, 0.1, 0.0}) {
      Fixture f(contrast, deskew);
      const auto predictor = PatchPredictor::of(f.model);
      ASSERT_NE(predictor, nullptr);
      const Grid<double> scores = predictor->scores(f.data.x, f.threads);
      const Grid<double> of_model = f.model.scores(f.data, f.threads);
      const Stage& stage = f.model.stages.front();
      const Scaling none;
      const ColumnView columns(f.data.x, none);
      std::vector<float> image(196);
      Grid<float> value(f.data.rows(), std::ssize(f.model.features));
      for (std::size_t a = 0; a < f.model.features.size(); ++a) {
        f.model.features[a]->evaluate(columns, value, static_cast<Index>(a));
      }
      int nonzero = 0;
      for (Index i = 0; i < f.data.rows(); i += 5) {
        gather_rows(f.data.x.dense(), {i, i + 1}, image.data());
        std::vector<double> expected = stage.bias;
        for (std::size_t a = 0; a < f.model.features.size(); ++a) {
          const auto& feature = dynamic_cast<const PatchFeature&>(*f.model.features[a]);
          const int in_255ths = Reference(feature.parts(), image).value();
          EXPECT_EQ(std::lround(255 * value(i, static_cast<Index>(a))), in_255ths);
          nonzero += in_255ths > 0 ? 1 : 0;
          for (std::size_t c = 0; c < 3; ++c) expected[c] += in_255ths / 255.0 * stage.weights[3 * a + c];
        }
        for (Index c = 0; c < 3; ++c) {
          EXPECT_NEAR(scores(i, c), expected[static_cast<std::size_t>(c)], 1e-11);
          EXPECT_EQ(of_model(i, c), scores(i, c));
        }
      }
      EXPECT_GT(nonzero, 100);
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
