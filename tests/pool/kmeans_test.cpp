#include "pool/kmeans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

std::vector<float> random_points(Index rows, Index dims, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> points(static_cast<std::size_t>(rows * dims));
  for (auto& p : points) p = static_cast<float>(random.normal());
  return points;
}

double distance(const float* point, const Grid<float>& centres, Index c) {
  double sum = 0;
  for (Index t = 0; t < centres.rows(); ++t) {
    const double step = static_cast<double>(point[t]) - static_cast<double>(centres(t, c));
    sum += step * step;
  }
  return sum;
}

TEST(KMeans, assignment_equals_brute_force_for_odd_sizes) {
  ThreadPool threads(2);
  for (const Index dims : {1, 5, 49}) {
    for (const Index count : {1, 15, 16, 37}) {
      const auto data = random_points(1101, dims, 7);
      const auto other = random_points(count, dims, 8);
      Grid<float> centres(dims, count);
      for (Index c = 0; c < count; ++c) std::copy_n(other.data() + c * dims, dims, centres.column(c));
      std::vector<std::int32_t> nearest(1101);
      std::vector<float> gap(1101);
      const PointView points{data.data(), 1101, dims};
      assign_nearest(points, centres, nearest.data(), gap.data(), threads);
      for (Index i = 0; i < points.rows; ++i) {
        double least = std::numeric_limits<double>::max();
        for (Index c = 0; c < count; ++c) least = std::min(least, distance(points.row(i), centres, c));
        ASSERT_NEAR(distance(points.row(i), centres, nearest[static_cast<std::size_t>(i)]), least, 1e-4);
        ASSERT_NEAR(gap[static_cast<std::size_t>(i)], least, 1e-3);
      }
    }
  }
}

TEST(KMeans, of_equal_centres_the_lowest_wins) {
  ThreadPool threads(1);
  Grid<float> centres(2, 40);
  const std::vector<float> data{1, 1};
  std::int32_t nearest = -1;
  assign_nearest({data.data(), 1, 2}, centres, &nearest, nullptr, threads);
  EXPECT_EQ(nearest, 0);
}

TEST(KMeans, finds_well_separated_clusters) {
  Random random(3);
  std::vector<float> data;
  for (int i = 0; i < 3000; ++i) {
    for (int t = 0; t < 3; ++t) {
      data.push_back(static_cast<float>(0.1 * random.normal() + (t == i % 3 ? 10 : 0)));
    }
  }
  ThreadPool threads(2);
  const auto result = kmeans({data.data(), 3000, 3}, {.centres = 3}, threads);
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.mean_squared_distance, 0.03, 0.003);
  for (int i = 3; i < 3000; ++i) {
    ASSERT_EQ(result.nearest[static_cast<std::size_t>(i)], result.nearest[static_cast<std::size_t>(i % 3)]);
  }
}

TEST(KMeans, is_the_same_for_any_number_of_threads) {
  const auto data = random_points(5000, 10, 11);
  for (const Index batch : {0, 700}) {
    const KMeansOptions options{.centres = 33, .passes = 8, .batch = batch, .seed = 5};
    ThreadPool one(1), three(3);
    const auto a = kmeans({data.data(), 5000, 10}, options, one);
    const auto b = kmeans({data.data(), 5000, 10}, options, three);
    EXPECT_EQ(a.nearest, b.nearest);
    EXPECT_EQ(a.mean_squared_distance, b.mean_squared_distance);
    for (Index c = 0; c < 33; ++c) {
      EXPECT_TRUE(std::ranges::equal(a.centres.column_span(c), b.centres.column_span(c)));
    }
  }
}

TEST(KMeans, passes_never_raise_the_distance_and_mini_batches_come_close) {
  const auto data = random_points(4000, 6, 21);
  ThreadPool threads(2);
  double before = std::numeric_limits<double>::max();
  for (int passes = 0; passes < 12; ++passes) {
    const auto result =
        kmeans({data.data(), 4000, 6}, {.centres = 20, .passes = passes, .tolerance = 0}, threads);
    EXPECT_LE(result.mean_squared_distance, before * (1 + 1e-6));
    before = result.mean_squared_distance;
  }
  const auto batches = kmeans({data.data(), 4000, 6}, {.centres = 20, .passes = 60, .batch = 500}, threads);
  EXPECT_LT(batches.mean_squared_distance, 1.1 * before);
}

TEST(KMeans, an_empty_cluster_moves_to_a_far_row) {
  std::vector<float> data(300, 0.0f);
  data[299] = 5;
  data[298] = 7;
  ThreadPool threads(1);
  const auto result = kmeans({data.data(), 300, 1}, {.centres = 3, .tolerance = 0}, threads);
  EXPECT_EQ(result.mean_squared_distance, 0);
}

TEST(KMeans, refuses_more_centres_than_points) {
  const auto data = random_points(3, 2, 1);
  ThreadPool threads(1);
  EXPECT_THROW(kmeans({data.data(), 3, 2}, {.centres = 4}, threads), InputError);
  EXPECT_THROW(kmeans({data.data(), 3, 2}, {.centres = 0}, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
