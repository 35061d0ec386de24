// Pools over a scaled view of raw, perhaps borrowed, columns equal pools over an explicitly scaled copy.
#include "sharelearn/transform/column_view.hpp"

#include <memory>

#include "pool/induced_products.hpp"
#include "pool/kernel.hpp"
#include "pool/kmeans.hpp"
#include "pool/pieces.hpp"
#include "pool/pool_checks.hpp"
#include "pool/row_major.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/pool/ranking.hpp"
#include "sharelearn/pool/stumps.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::all_sums;
using testing::random_matrix;
using testing::Scaled;

/// Columns of different offsets and ranges. 2100 rows make several leaves, with an incomplete last one.
constexpr Index kRows = 2100;
constexpr Index kColumns = 16;

DenseMatrix shifted_matrix(bool nonnegative) {
  DenseMatrix x = testing::level_matrix(kRows, kColumns, 256, 3);
  for (Index j = 0; j < kColumns; ++j) {
    for (Index r = 0; r < kRows; ++r) {
      const float value = x(r, j) * static_cast<float>(1 + j) + static_cast<float>(200 * j);
      x(r, j) = nonnegative ? std::max(0.0F, value) : value;
    }
  }
  return x;
}

struct Variant {
  std::string name;
  PoolOptions options;
  double tolerance = 3e-6;  ///< of the sum of magnitudes
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const auto add = [&](const std::string& name, const std::string& pool, double tolerance, auto change) {
    Variant variant{name, {}, tolerance};
    variant.options.name = pool;
    variant.options.centres = 5;
    variant.options.radii = 4;
    variant.options.support = 9;
    change(variant.options);
    all.push_back(variant);
  };
  const auto as_is = [](PoolOptions&) {};
  add("columns", "columns", 2e-5, as_is);  // scaled after the float32 products
  add("exact stumps", "stumps", 3e-6, as_is);
  add("binned stumps", "stumps", 3e-6, [](PoolOptions& o) { o.bins = 16; });
  add("products", "products", 3e-6, [](PoolOptions& o) { o.with_columns = true; });
  add("kernel by sample", "kernel", 3e-6, [](PoolOptions& o) { o.support_by = "sample"; });
  add("kernel by kmeans", "kernel", 3e-6, [](PoolOptions& o) { o.support_by = "kmeans"; });
  add("kernel by perceptron", "kernel", 3e-6, as_is);
  add("pieces", "pieces", 3e-6, as_is);
  add("pieces of components", "pieces", 3e-6, [](PoolOptions& o) { o.pca = 3; });
  add("patches", "patches", 2e-3, [](PoolOptions& o) { o.templates = "3:4"; });  // 15 bits
  return all;
}

std::vector<std::int32_t> labels() {
  std::vector<std::int32_t> label(static_cast<std::size_t>(kRows));
  for (Index r = 0; r < kRows; ++r) label[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r * r % 3);
  return label;
}

/// A sample of candidates: all if there are few, else evenly spaced ones.
std::vector<Index> some_candidates(const Pool& pool) {
  std::vector<Index> some;
  for (Index j = 0; j < pool.candidates(); j += 1 + pool.candidates() / 60) some.push_back(j);
  return some;
}

std::vector<float> values_of(const Pool& pool, Index candidate) {
  Grid<float> values(pool.rows(), pool.width());
  pool.values(candidate, values, 0);
  std::vector<float> all;
  for (Index w = 0; w < pool.width(); ++w) {
    const auto column = values.column_span(w);
    all.insert(all.end(), column.begin(), column.end());
  }
  return all;
}

/// The same candidates with the same values, to the bit; and sums that agree with the values' sums in double.
void expect_same_pool(const Pool& view, const Pool& copy, double tolerance) {
  constexpr Index kOutputs = 3;
  ASSERT_EQ(view.candidates(), copy.candidates());
  const Grid<float> residual = random_matrix(kRows, kOutputs, 99);
  const std::vector<double> sums = all_sums(view, residual, 1);
  for (const int threads : {2, 3, 7, 16}) EXPECT_EQ(sums, all_sums(view, residual, threads)) << threads;
  for (const Index candidate : some_candidates(view)) {
    const std::vector<float> values = values_of(view, candidate);
    ASSERT_EQ(values, values_of(copy, candidate)) << candidate;
    for (Index w = 0; w < view.width(); ++w) {
      const float* column = values.data() + w * kRows;
      if (view.width() == 1 && std::all_of(column, column + kRows, [&](float v) { return v == *column; }))
        continue;
      for (Index c = 0; c < kOutputs; ++c) {
        double expected = 0, size = 0;
        for (Index r = 0; r < kRows; ++r) {
          const double term = static_cast<double>(column[r]) * static_cast<double>(residual(r, c));
          expected += term;
          size += std::abs(term);
        }
        const auto at = static_cast<std::size_t>((candidate * view.width() + w) * kOutputs + c);
        ASSERT_NEAR(sums[at], expected, tolerance * size) << candidate << " " << w << " " << c;
      }
    }
  }
}

std::unique_ptr<Pool> pool_over(const ColumnView& x, const PoolOptions& options,
                                const std::vector<std::int32_t>& label) {
  ThreadPool threads(2);
  return make_pool({x, label, 3}, options, 7, threads);
}

TEST(ColumnView, every_pool_over_a_scaled_view_is_the_pool_over_a_scaled_copy) {
  const std::vector<std::int32_t> label = labels();
  for (const bool sparse : {false, true}) {
    for (const ScalingKind kind : {ScalingKind::minmax, ScalingKind::standard}) {
      const DenseMatrix x = shifted_matrix(sparse);
      const Scaled data(sparse ? Matrix(testing::sparse_copy(x)) : Matrix(x), kind);
      for (const Variant& variant : variants()) {
        SCOPED_TRACE(variant.name + (sparse ? ", sparse" : ", dense"));
        expect_same_pool(*pool_over({data.raw, data.scaling}, variant.options, label),
                         *pool_over(data.x, variant.options, label), variant.tolerance);
      }
    }
  }
}

TEST(ColumnView, induced_products_of_a_scaled_view_are_those_of_a_scaled_copy) {
  const Scaled data{Matrix(shifted_matrix(false))};
  InducedProductPool view({data.raw, data.scaling}), copy(data.x);
  for (const Index candidate : {2, 9, 20}) {
    view.chosen(candidate);
    copy.chosen(candidate);
  }
  expect_same_pool(view, copy, 3e-6);
}

TEST(ColumnView, features_of_a_view_are_its_columns_again) {
  const std::vector<std::int32_t> label = labels();
  const Scaled data{Matrix(shifted_matrix(false))};
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const auto pool = pool_over({data.raw, data.scaling}, variant.options, label);
    const ColumnView columns(data.raw, data.scaling);
    for (const Index candidate : {Index{0}, pool->candidates() - 1}) {
      Grid<float> values(kRows, pool->width()), again(kRows, pool->width());
      pool->values(candidate, values, 0);
      pool->feature(candidate)->evaluate(columns, again, 0);
      for (Index w = 0; w < pool->width(); ++w)
        EXPECT_TRUE(std::ranges::equal(values.column_span(w), again.column_span(w)));
    }
  }
}

Grid<double> test_residual(Index rows) {
  Grid<double> residual(rows, 2);
  Random random(5);
  for (Index r = 0; r < rows; ++r) residual(r, 0) = random.normal(), residual(r, 1) = random.normal();
  return residual;
}

/// A heap buffer of exactly the size of the values, so that an address sanitizer detects a read beyond them.
TEST(ColumnView, borrowed_columns_without_padding_give_the_bits_of_owned_ones) {
  const std::vector<std::int32_t> label = labels();
  const DenseMatrix x = testing::level_matrix(kRows, kColumns, 256, 3);
  constexpr Index kOdd = kRows - 7;
  const auto buffer = std::make_unique<float[]>(static_cast<std::size_t>(kOdd * kColumns));
  DenseMatrix owned(kOdd, kColumns);
  for (Index j = 0; j < kColumns; ++j) {
    std::copy_n(x.column(j), kOdd, buffer.get() + j * kOdd);
    std::copy_n(x.column(j), kOdd, owned.column(j));
  }
  const Matrix ours(std::move(owned));
  const Matrix borrowed = Matrix::borrow({buffer.get(), kOdd, kColumns, kOdd});
  ThreadPool threads(2);
  const Grid<float> residual = random_matrix(kOdd, 5, 4);
  for (const ScalingKind kind : {ScalingKind::none, ScalingKind::minmax}) {
    const Scaling scaling = Scaling::fit(borrowed, kind, threads);
    for (const Variant& variant : variants()) {
      SCOPED_TRACE(variant.name);
      const std::span<const std::int32_t> known(label.data(), static_cast<std::size_t>(kOdd));
      const auto a = make_pool({{borrowed, scaling}, known, 3}, variant.options, 7, threads);
      const auto b = make_pool({{ours, scaling}, known, 3}, variant.options, 7, threads);
      EXPECT_EQ(all_sums(*a, residual, 2), all_sums(*b, residual, 1));
      for (const Index candidate : some_candidates(*a)) {
        EXPECT_EQ(values_of(*a, candidate), values_of(*b, candidate));
        EXPECT_EQ(exact_sums(*a, {&candidate, 1}, test_residual(kOdd), threads),
                  exact_sums(*b, {&candidate, 1}, test_residual(kOdd), threads));
      }
      EXPECT_TRUE(variant.name != "columns" || a->stored(0).dense == nullptr) << "solvers need padding";
    }
  }
}

TEST(ColumnView, a_column_far_from_zero_is_scaled_before_it_is_multiplied) {
  DenseMatrix x = random_matrix(5000, 6, 8);
  const double centre[] = {0, 40, 1000, 1e5, 10, 3e4};
  for (Index j = 0; j < 6; ++j) {
    for (Index r = 0; r < 5000; ++r) x(r, j) = static_cast<float>(x(r, j) + centre[j]);
  }
  const Scaled data(Matrix(x), ScalingKind::standard);
  const ColumnPool pool(ColumnView(data.raw, data.scaling));
  const Grid<float> residual = random_matrix(5000, 2, 9);
  const std::vector<double> sums = all_sums(pool, residual, 1);
  for (Index j = 0; j < 6; ++j) {
    for (Index c = 0; c < 2; ++c) {
      double expected = 0, size = 0;
      for (Index r = 0; r < 5000; ++r) {
        expected += static_cast<double>(data.x.dense()(r, j)) * static_cast<double>(residual(r, c));
        size += std::abs(static_cast<double>(data.x.dense()(r, j)) * static_cast<double>(residual(r, c)));
      }
      EXPECT_NEAR(sums[static_cast<std::size_t>(j * 2 + c)], expected, (j == 4 ? 5e-6 : 1e-6) * size) << j;
    }
  }
}

TEST(ColumnView, a_column_that_scaling_makes_constant_is_never_offered) {
  DenseMatrix x = random_matrix(50, 2, 1);
  Scaling scaling{ScalingKind::standard, {0, 0}, {1, 0}};
  const Matrix raw(x);
  const ColumnView view(raw, scaling);
  EXPECT_FALSE(view.is_constant(0));
  EXPECT_TRUE(view.is_constant(1));
  EXPECT_THROW(ColumnView(raw, Scaling{ScalingKind::minmax, {0}, {1}}), InputError);
}

TEST(ColumnView, a_scaled_sparse_column_is_stored_with_its_scaled_entries) {
  const Scaled data(Matrix(testing::sparse_copy(testing::level_matrix(120, 4, 5, 8))));
  const ColumnPool pool(ColumnView(data.raw, data.scaling));
  const StoredColumn stored = pool.stored(2), again = pool.stored(2);
  ASSERT_TRUE(stored.sparse);
  EXPECT_EQ(stored.values.data(), again.values.data());
  EXPECT_TRUE(std::ranges::equal(stored.values, data.x.sparse().column_values(2)));
  EXPECT_TRUE(std::ranges::equal(stored.rows, data.x.sparse().column_rows(2)));
}

TEST(RowMajor, exact_sums_do_not_depend_on_the_order_of_the_rows) {
  Grid<float> residual(3000, 3);
  Random random(4);
  for (Index c = 0; c < 3; ++c) {
    for (Index r = 0; r < 3000; ++r)
      residual(r, c) = static_cast<float>(random.normal() * std::exp(9 * random.normal()));
  }
  ThreadPool threads(2);
  const RowMajor rows(residual, 4, threads, true);
  std::vector<Index> order(3000);
  for (Index r = 0; r < 3000; ++r) order[static_cast<std::size_t>(r)] = r;
  for (Index c = 0; c < 3; ++c) {
    float largest = 0;
    for (const float v : residual.column_span(c)) largest = std::max(largest, std::abs(v));
    double forward = 0;
    for (Index r = 0; r < 3000; ++r) {
      forward += static_cast<double>(rows.row(r)[c]);
      EXPECT_NEAR(rows.row(r)[c], residual(r, c), 1e-12 * largest);
    }
    for (int turn = 0; turn < 5; ++turn) {
      random.shuffle(order);
      double shuffled = 0;
      for (const Index r : order) shuffled += static_cast<double>(rows.row(r)[c]);
      EXPECT_EQ(shuffled, forward);
    }
  }
}

/// Rows with integer weights, and the same rows repeated as often as their weights say.
struct Copies {
  explicit Copies(const DenseMatrix& once) {
    std::vector<Index> rows;
    for (Index r = 0; r < once.rows(); ++r) {
      weight.push_back(static_cast<double>(r * 5 % 4));
      for (Index copy = 0; copy < r * 5 % 4; ++copy) rows.push_back(r);
    }
    weighted = Matrix(once);
    copied = weighted.select_rows(rows);
  }
  std::vector<double> weight;
  Matrix weighted, copied;
};

TEST(RowWeights, bins_of_stumps_are_those_of_copied_rows) {
  ThreadPool threads(2);
  for (const bool sparse : {false, true}) {
    const DenseMatrix x = testing::level_matrix(400, 3, 90, 6);
    const Copies data(x);
    const Matrix weighted = sparse ? Matrix(testing::sparse_copy(x)) : data.weighted;
    for (const Index bins : {0, 2, 7, 40}) {
      const StumpPool a(weighted, bins, threads, data.weight), b(data.copied, bins, threads);
      ASSERT_EQ(a.candidates(), b.candidates());
      for (Index t = 0; t < a.candidates(); ++t) EXPECT_EQ(a.threshold_of(t), b.threshold_of(t));
    }
  }
}

TEST(RowWeights, means_and_radii_are_those_of_copied_rows) {
  ThreadPool threads(2);
  const Copies data(random_matrix(500, 3, 2));
  const PieceOptions options{.centres = 1, .radii = 9};
  const PiecePool a(data.weighted, options, threads, data.weight), b(data.copied, options, threads);
  for (Index q = 0; q < 8; ++q) {  // the last ball holds all rows, including those of weight 0
    const double radius = b.feature(q)->describe({})["radius"].get<double>();
    EXPECT_NEAR(a.feature(q)->describe({})["radius"].get<double>(), radius, 1e-5 * radius) << q;
  }
}

TEST(RowWeights, support_sets_are_those_of_copied_rows) {
  ThreadPool threads(2);
  const Copies data(random_matrix(300, 3, 4));
  std::vector<std::int32_t> label(300), copied_label;
  for (std::size_t r = 0; r < 300; ++r) {
    label[r] = static_cast<std::int32_t>(r * 7 % 3);
    copied_label.insert(copied_label.end(), static_cast<std::size_t>(data.weight[r]), label[r]);
  }
  const double sigma = typical_sigma(data.copied, 1);
  EXPECT_EQ(typical_sigma(data.weighted, 1, data.weight), sigma);
  const auto expect_same = [](const Grid<float>& a, const Grid<float>& b) {
    ASSERT_EQ(a.cols(), b.cols());
    for (Index n = 0; n < a.cols(); ++n) {
      for (Index j = 0; j < a.rows(); ++j) EXPECT_FLOAT_EQ(a(j, n), b(j, n));
    }
  };
  expect_same(sampled_support(data.weighted, 400, 1, data.weight), sampled_support(data.copied, 400, 1));
  expect_same(clustered_support(data.weighted, 9, 1, threads, data.weight),
              clustered_support(data.copied, 9, 1, threads));
  expect_same(perceptron_support(data.weighted, label, 3, 100, sigma, 1, data.weight),
              perceptron_support(data.copied, copied_label, 3, 100, sigma, 1));
}

TEST(RowWeights, rows_of_weight_zero_are_no_points_and_no_centres) {
  ThreadPool threads(2);
  DenseMatrix x = random_matrix(300, 2, 3);
  std::vector<double> weight(300, 2.0);
  for (Index r = 0; r < 300; r += 3) {
    x(r, 0) = 1000;
    weight[static_cast<std::size_t>(r)] = 0;
  }
  weight[1] = 3;
  const Matrix matrix(x);
  std::vector<std::int32_t> label(300);
  for (Index r = 0; r < 300; ++r) label[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r % 2);
  for (const Grid<float>& points :
       {sampled_support(matrix, 200, 1, weight), clustered_support(matrix, 20, 1, threads, weight),
        perceptron_support(matrix, label, 2, 100, 1.0, 1, weight)}) {
    for (Index n = 0; n < points.cols(); ++n) EXPECT_LT(points(0, n), 100);
  }
  EXPECT_THROW(sampled_support(matrix, 402, 1, weight), InputError);  // 401 copies
  EXPECT_LT(typical_sigma(matrix, 1, weight), 100);
  const std::vector<float> points{0, 1, 100, 110};
  const std::vector<double> weights{1, 3, 2, 2};
  const auto result = kmeans({points.data(), 4, 1, weights}, {.centres = 2, .tolerance = 0}, threads);
  const float low = std::min(result.centres(0, 0), result.centres(0, 1));
  const float high = std::max(result.centres(0, 0), result.centres(0, 1));
  EXPECT_FLOAT_EQ(low, 0.75F);
  EXPECT_FLOAT_EQ(high, 105.0F);
  EXPECT_NEAR(result.mean_squared_distance, (0.75 * 0.75 + 3 * 0.0625 + 4 * 25) / 8, 1e-4);
}

}  // namespace
}  // namespace sharelearn
