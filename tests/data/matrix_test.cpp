#include "sharelearn/data/matrix.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "sharelearn/data/split.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {
namespace {

SparseMatrix random_sparse(Index rows, Index cols, double density, std::uint64_t seed) {
  Random random(seed);
  SparseMatrix x{rows, cols, {0}, {}, {}};
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) {
      if (random.uniform() >= density) continue;
      x.row.push_back(static_cast<std::uint32_t>(i));
      x.value.push_back(static_cast<float>(random.normal()));
    }
    x.start.push_back(static_cast<Index>(x.value.size()));
  }
  return x;
}

TEST(Matrix, sparse_and_dense_select_the_same_rows_repeated_ones_too) {
  const Matrix sparse(random_sparse(40, 7, 0.3, 1));
  const Matrix dense(sparse.to_dense());
  const std::vector<Index> rows{5, 0, 39, 5, 12};
  const DenseMatrix a = sparse.select_rows(rows).to_dense();
  const DenseMatrix b = dense.select_rows(rows).to_dense();
  for (Index j = 0; j < 7; ++j) {
    for (Index i = 0; i < 5; ++i) EXPECT_EQ(a(i, j), b(i, j));
  }
}

TEST(Matrix, borrowed_values_are_read_where_they_are_and_never_written) {
  const std::vector<float> values{1, 2,  3, -1, 4, 5,
                                  6, -1, 7, 8,  9};  // three columns of three values, stride four
  Matrix x = Matrix::borrow({values.data(), 3, 3, 4});
  EXPECT_TRUE(x.is_borrowed());
  EXPECT_EQ(x.rows(), 3);
  EXPECT_EQ(x.cols(), 3);
  EXPECT_EQ(x.bytes(), 0);
  EXPECT_EQ(x.dense().column(2), values.data() + 8);
  EXPECT_EQ(x.dense()(1, 1), 5);
  EXPECT_THROW(x.owned_dense(), InputError);
  EXPECT_THROW(Matrix::borrow({values.data(), 3, 3, 2}), InputError);
  Matrix copy(x.to_dense());
  copy.owned_dense()(0, 0) = 10;
  EXPECT_EQ(x.dense()(0, 0), 1);
  const std::vector<Index> rows{2, 0};
  EXPECT_EQ(x.select_rows(rows).dense()(0, 2), 9);
}

TEST(Matrix, some_rows_of_a_column_are_those_of_the_whole_column) {
  const Matrix sparse(random_sparse(50, 4, 0.3, 3));
  const Matrix dense(sparse.to_dense());
  for (const Matrix& x : {sparse, dense}) {
    for (const RowRange rows : {RowRange{0, 50}, RowRange{7, 8}, RowRange{30, 50}, RowRange{12, 12}}) {
      std::vector<float> some(static_cast<std::size_t>(rows.size()), -1.0F);
      x.copy_column(2, rows, some.data());
      for (Index r = rows.begin; r < rows.end; ++r)
        EXPECT_EQ(some[static_cast<std::size_t>(r - rows.begin)], dense.dense()(r, 2));
    }
  }
}

TEST(Matrix, rows_hold_the_same_entries_as_columns) {
  const Matrix x(random_sparse(30, 9, 0.4, 2));
  for (const RowMatrix& rows : {to_rows(x), to_rows(Matrix(x.to_dense()))}) {
    const DenseMatrix dense = x.to_dense();
    Index seen = 0;
    for (Index i = 0; i < 30; ++i) {
      for (Index e = rows.start[static_cast<std::size_t>(i)]; e < rows.start[static_cast<std::size_t>(i) + 1];
           ++e) {
        EXPECT_EQ(rows.value[static_cast<std::size_t>(e)],
                  dense(i, rows.column[static_cast<std::size_t>(e)]));
        ++seen;
      }
    }
    EXPECT_EQ(seen, x.sparse().nonzeros());
  }
}

TEST(Scaling, minmax_maps_dense_columns_onto_minus_one_to_one_and_constants_to_zero) {
  ThreadPool threads(1);
  DenseMatrix x(3, 2);
  x(0, 0) = 2, x(1, 0) = 4, x(2, 0) = 10;
  x(0, 1) = x(1, 1) = x(2, 1) = 5;
  Matrix matrix(x);
  const Scaling scaling = Scaling::fit(matrix, ScalingKind::minmax, threads);
  scaling.apply(matrix, threads);
  EXPECT_FLOAT_EQ(matrix.dense()(0, 0), -1);
  EXPECT_FLOAT_EQ(matrix.dense()(1, 0), -0.5);
  EXPECT_FLOAT_EQ(matrix.dense()(2, 0), 1);
  EXPECT_EQ(matrix.dense()(1, 1), 0);
}

TEST(Scaling, sparse_zero_stays_zero) {
  ThreadPool threads(2);
  Matrix matrix(random_sparse(50, 6, 0.2, 3));
  for (const ScalingKind kind : {ScalingKind::minmax, ScalingKind::standard}) {
    const Scaling scaling = Scaling::fit(matrix, kind, threads);
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(scaling.apply(0.0F, j), 0.0F);
  }
  const Scaling scaling = Scaling::fit(matrix, ScalingKind::minmax, threads);
  scaling.apply(matrix, threads);
  for (const float v : matrix.sparse().value) EXPECT_LE(std::abs(v), 1.0F);
}

TEST(Scaling, standard_gives_mean_zero_and_variance_one) {
  ThreadPool threads(1);
  Random random(4);
  DenseMatrix x(1000, 1);
  for (Index i = 0; i < 1000; ++i) x(i, 0) = static_cast<float>(5 + 3 * random.normal());
  Matrix matrix(x);
  Scaling::fit(matrix, ScalingKind::standard, threads).apply(matrix, threads);
  double mean = 0, square = 0;
  for (const float v : matrix.dense().column_span(0)) mean += v, square += v * v;
  EXPECT_NEAR(mean / 1000, 0, 1e-6);
  EXPECT_NEAR(square / 1000, 1, 1e-6);
}

RC_GTEST_PROP(Split, holdout_takes_its_share_of_every_class, ()) {
  const auto classes = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(0, 4));
  const Split split = stratified_holdout(classes, 0.3, 1);
  RC_ASSERT(split.train.size() + split.test.size() == classes.size());
  for (std::int32_t c = 0; c < 4; ++c) {
    const auto total = std::count(classes.begin(), classes.end(), c);
    const auto held = std::count_if(split.test.begin(), split.test.end(),
                                    [&](Index row) { return classes[static_cast<std::size_t>(row)] == c; });
    RC_ASSERT(held == std::llround(0.3 * static_cast<double>(total)));
  }
}

RC_GTEST_PROP(Split, holdout_of_tasks_leaves_a_row_of_every_task, (std::uint32_t seed)) {
  const auto tasks = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(-1, 6));
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < tasks.size(); ++i) labels.push_back(*rc::gen::inRange(0, 2));
  const double fraction = *rc::gen::inRange(0, 1000) / 1000.0;
  const Split split = task_holdout(tasks, labels, fraction, seed);
  RC_ASSERT(split.train.size() + split.test.size() == tasks.size());
  std::set<std::int32_t> learned;
  for (const Index row : split.train) learned.insert(tasks[static_cast<std::size_t>(row)]);
  RC_ASSERT(learned == std::set<std::int32_t>(tasks.begin(), tasks.end()));
  RC_ASSERT(std::ssize(split.test) <= std::llround(fraction * static_cast<double>(tasks.size())));
}

TEST(Split, holdout_of_tasks_is_spread_over_tasks_and_labels) {
  std::vector<std::int32_t> tasks, labels;
  for (std::int32_t row = 0; row < 80; ++row) tasks.push_back(row / 4), labels.push_back(row % 2);
  const auto most_of_a_stratum = [&](const Split& split) {
    std::map<std::pair<std::int32_t, std::int32_t>, int> held;
    for (const Index row : split.test) {
      ++held[{tasks[static_cast<std::size_t>(row)], labels[static_cast<std::size_t>(row)]}];
    }
    int most = 0;
    for (const auto& [stratum, count] : held) most = std::max(most, count);
    return most;
  };
  for (const double fraction : {0.05, 0.2, 0.25, 0.5}) {  // of strata of two rows
    const Split split = task_holdout(tasks, labels, fraction, 3);
    EXPECT_EQ(std::ssize(split.test), std::lround(80 * fraction));
    EXPECT_EQ(most_of_a_stratum(split), 1);
  }
}

RC_GTEST_PROP(Split, folds_partition_the_rows_evenly, ()) {
  const auto classes = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(0, 4));
  const auto folds = stratified_folds(classes, 5, 2);
  std::vector<int> seen(classes.size(), 0);
  std::size_t least = classes.size(), most = 0;
  for (const Split& fold : folds) {
    RC_ASSERT(fold.train.size() + fold.test.size() == classes.size());
    least = std::min(least, fold.test.size());
    most = std::max(most, fold.test.size());
    for (const Index row : fold.test) ++seen[static_cast<std::size_t>(row)];
  }
  RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  RC_ASSERT(most - least <= 1);
}

}  // namespace
}  // namespace sharelearn
