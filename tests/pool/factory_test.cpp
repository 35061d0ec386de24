#include "sharelearn/pool/factory.hpp"

#include "pool/pool_checks.hpp"
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

TEST(Factory, names_what_it_does_not_know) {
  ThreadPool threads(1);
  const Matrix x(testing::random_matrix(5, 2, 1));
  EXPECT_THROW(make_pool({x}, {.name = "patch"}, 1, threads), InputError);
  EXPECT_THROW(make_pool({x}, {.name = "kernel"}, 1, threads), InputError) << "no classes";
}

}  // namespace
}  // namespace sharelearn
