#include "sharelearn/pool/factory.hpp"

#include <algorithm>
#include <variant>

#include "pool/pool_checks.hpp"
#include "sharelearn/pool/formula.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

TEST(Factory, every_named_pool_is_made_and_keeps_the_contract_of_pools) {
  ThreadPool threads(2);
  const testing::Scaled data(Matrix(testing::random_matrix(60, 4, 1)));
  std::vector<std::int32_t> label;
  for (Index r = 0; r < 60; ++r) label.push_back(static_cast<std::int32_t>(r % 3));
  for (const std::string& name : pool_names()) {
    if (name == "patches") continue;  // needs images: patches_test.cpp
    PoolOptions options{.name = name, .support = 10, .centres = 4, .radii = 3};
    for (const char* by : {"perceptron", "kmeans", "sample"}) {
      options.support_by = by;
      const auto pool = make_pool({data.x, label, 3}, options, 1, threads);
      EXPECT_EQ(pool->name(), name);
      testing::check_pool(*pool, data.raw, data.scaling, 2);
      if (name != "kernel") break;
    }
  }
}

// A Gaussian of width 6 is below one half 7.06 pixels from its centre: 15 positions of a 28-pixel image
// remain.
TEST(Factory, masks_of_image_templates_are_cut_at_one_half) {
  ThreadPool threads(1);
  const Matrix images(testing::random_matrix(20, 28 * 28, 1));
  const auto pool = make_pool({images}, {.name = "patches", .templates = "7:4"}, 1, threads);
  for (Index candidate = 0; candidate < pool->candidates(); ++candidate) {
    const formula::Formula whole = pool->feature(candidate)->formula();
    const auto& feature = std::get<formula::TemplateMaximum>(*whole);
    for (const auto& mask : {feature.row_mask, feature.column_mask}) {
      EXPECT_EQ(mask.size(), 22U);
      const auto under = std::count_if(mask.begin(), mask.end(), [](std::int16_t v) { return v > 0; });
      EXPECT_LE(under, 15);
      EXPECT_TRUE(std::all_of(mask.begin(), mask.end(), [](int v) { return v == 0 || v >= 16383; }));
    }
  }
}

TEST(Factory, names_what_it_does_not_know) {
  ThreadPool threads(1);
  const Matrix x(testing::random_matrix(5, 2, 1));
  EXPECT_THROW(make_pool({x}, {.name = "patch"}, 1, threads), InputError);
  EXPECT_THROW(make_pool({x}, {.name = "kernel"}, 1, threads), InputError) << "no classes";
}

}  // namespace
}  // namespace sharelearn
