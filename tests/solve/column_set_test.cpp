#include "solve/column_set.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support.hpp"

namespace sharelearn {
namespace {

struct Both {
  DenseMatrix dense;
  SparseMatrix sparse;
};

/// The same matrix as dense and as sparse, with half of the entries zero.
Both random_both(Index rows, Index cols) {
  Both both{test::random_dense(rows, cols, 5), {}};
  both.sparse.rows = rows;
  both.sparse.cols = cols;
  both.sparse.start.push_back(0);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) {
      if ((i * 7 + j * 3) % 5 < 3) both.dense(i, j) = 0;
      if (both.dense(i, j) == 0) continue;
      both.sparse.row.push_back(static_cast<std::uint32_t>(i));
      both.sparse.value.push_back(both.dense(i, j));
    }
    both.sparse.start.push_back(both.sparse.nonzeros());
  }
  return both;
}

TEST(column_set, products_are_those_of_plain_loops_dense_and_sparse) {
  ThreadPool threads(2);
  for (const Index rows : {7, 513, 9001, 70001}) {
    const Index cols = 5, outputs = 7;
    const Both both = random_both(rows, cols);
    ColumnSet dense(rows), sparse(rows), mixed(rows);
    for (Index j = 0; j < cols; ++j) {
      dense.add(both.dense.column(j));
      sparse.add(both.sparse.column_rows(j), both.sparse.column_values(j));
      if (j % 3 == 1) {
        mixed.add(both.sparse.column_rows(j), both.sparse.column_values(j));
      } else {
        mixed.add(both.dense.column(j));
      }
    }
    const Grid<double> residual = test::random_scores(rows, outputs, 6);
    for (const ColumnSet* set : {&dense, &sparse, &mixed}) {
      std::vector<double> sums(static_cast<std::size_t>(cols * outputs)),
          one(static_cast<std::size_t>(outputs));
      set->transposed_product(residual, sums, threads);
      Grid<double> scores(rows, outputs);
      std::vector<double> weights(static_cast<std::size_t>(cols * outputs));
      for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = std::sin(static_cast<double>(at));
      set->add_product(weights, scores, threads);
      for (Index j = 0; j < cols; ++j) {
        set->dots_of(j, residual, one, threads);
        for (Index c = 0; c < outputs; ++c) {
          double expected = 0;
          for (Index i = 0; i < rows; ++i) expected += static_cast<double>(both.dense(i, j)) * residual(i, c);
          EXPECT_NEAR(sums[static_cast<std::size_t>(j * outputs + c)], expected, 1e-9);
          EXPECT_NEAR(one[static_cast<std::size_t>(c)], expected, 1e-9);
        }
      }
      for (Index i = 0; i < rows; i += 97) {
        for (Index c = 0; c < outputs; ++c) {
          double expected = 0;
          for (Index j = 0; j < cols; ++j) {
            expected +=
                static_cast<double>(both.dense(i, j)) * weights[static_cast<std::size_t>(j * outputs + c)];
          }
          EXPECT_NEAR(scores(i, c), expected, 1e-12);
        }
      }
    }
  }
}

TEST(column_set, weighted_grams_are_those_of_plain_loops_whole_and_extended) {
  ThreadPool threads(2);
  const Index rows = 3700, cols = 41, stride = 64;
  const Both both = random_both(rows, cols);
  ColumnSet dense(rows), sparse(rows), mixed(rows);
  for (Index j = 0; j < cols; ++j) {
    dense.add(both.dense.column(j));
    sparse.add(both.sparse.column_rows(j), both.sparse.column_values(j));
    if (j % 3 == 1) {
      mixed.add(both.sparse.column_rows(j), both.sparse.column_values(j));
    } else {
      mixed.add(both.dense.column(j));
    }
  }
  std::vector<ColumnSet::WeightedRows> pairs(2);
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t p = 0; p < 2; ++p) {
      if (i % (3 + static_cast<Index>(p)) == 0) continue;
      pairs[p].rows.push_back(static_cast<std::uint32_t>(i));
      pairs[p].weights.push_back(static_cast<float>(std::cos(static_cast<double>(i))));
    }
  }
  for (const ColumnSet* set : {&dense, &sparse, &mixed}) {
    for (const Index first : {0, 17}) {
      std::vector<float> a((stride + 6) * stride, 0.0F), b(a.size(), 0.0F);
      set->weighted_grams(pairs, first, std::vector<float*>{a.data(), b.data()}, stride, threads);
      for (std::size_t p = 0; p < 2; ++p) {
        const std::vector<float>& gram = p == 0 ? a : b;
        for (Index j = first; j < cols; ++j) {
          for (Index l = 0; l <= j; ++l) {
            double expected = 0, size = 0;
            for (std::size_t r = 0; r < pairs[p].rows.size(); ++r) {
              const Index i = pairs[p].rows[r];
              const double term = static_cast<double>(pairs[p].weights[r]) *
                                  static_cast<double>(both.dense(i, j)) *
                                  static_cast<double>(both.dense(i, l));
              expected += term;
              size += std::abs(term);
            }
            EXPECT_NEAR(static_cast<double>(gram[static_cast<std::size_t>(j * stride + l)]), expected,
                        1e-5 * size);
          }
        }
      }
    }
  }
}

/// Every product of a set of mixed columns, one after the other.
std::vector<double> all_products(const ColumnSet& set, const Grid<double>& residual, ThreadPool& threads) {
  const auto numbers = static_cast<std::size_t>(set.columns() * residual.cols());
  std::vector<double> out(numbers), squares;
  set.transposed_product(residual, out, threads);
  Grid<double> scores(set.rows(), residual.cols());
  set.add_product(std::vector<double>(out), scores, threads);
  for (Index c = 0; c < scores.cols(); ++c) {
    const auto column = scores.column_span(c);
    out.insert(out.end(), column.begin(), column.end());
  }
  squares = set.squares(residual.column_span(0), threads);
  out.insert(out.end(), squares.begin(), squares.end());
  std::vector<ColumnSet::WeightedRows> pairs(3);
  for (Index i = 0; i < set.rows(); ++i) {
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (i % (2 + static_cast<Index>(p)) != 0) continue;
      pairs[p].rows.push_back(static_cast<std::uint32_t>(i));
      pairs[p].weights.push_back(static_cast<float>(residual(i, 0)));
    }
  }
  std::vector<std::vector<float>> gram(pairs.size(), std::vector<float>(38 * 32, 0.0F));
  set.weighted_grams(pairs, 0, std::vector<float*>{gram[0].data(), gram[1].data(), gram[2].data()}, 32,
                     threads);
  for (const auto& one : gram) out.insert(out.end(), one.begin(), one.end());
  return out;
}

TEST(column_set, the_bits_do_not_depend_on_the_threads) {
  const Index rows = 5003, cols = 9;
  const Both both = random_both(rows, cols);
  ColumnSet set(rows);
  for (Index j = 0; j < cols; ++j) {
    if (j % 2 == 0) set.add(both.dense.column(j));
    if (j % 2 == 1) set.add(both.sparse.column_rows(j), both.sparse.column_values(j));
  }
  const Grid<double> residual = test::random_scores(rows, 5, 6);
  ThreadPool one(1);
  const std::vector<double> expected = all_products(set, residual, one);
  for (const int count : {2, 3, 7, 16}) {
    ThreadPool threads(count);
    EXPECT_EQ(all_products(set, residual, threads), expected) << count;
  }
}

TEST(column_set, columns_need_neither_padding_nor_alignment) {
  ThreadPool threads(2);
  const Index rows = 1037, cols = 5, outputs = 4;
  const DenseMatrix x = test::random_dense(rows, cols, 5);
  const Grid<double> residual = test::random_scores(rows, outputs, 6);
  // Columns side by side from an odd position on. A read beyond the end of a column would meet the next
  // column, or NaN.
  std::vector<float> packed{NAN};
  for (Index j = 0; j < cols; ++j) packed.insert(packed.end(), x.column(j), x.column(j) + rows);
  packed.push_back(NAN);
  ColumnSet padded(x, cols), bare(rows);
  for (Index j = 0; j < cols; ++j) bare.add(packed.data() + 1 + j * rows);
  EXPECT_EQ(all_products(padded, residual, threads), all_products(bare, residual, threads));
}

TEST(column_set, tasks_with_per_task_rows_are_columns_that_are_zero_elsewhere) {
  ThreadPool threads(3);
  const Index rows = 2500, cols = 4;
  const std::vector<Index> begin{0, 700, 700, 1500, 2500};  // the second task has no rows
  const Index tasks = std::ssize(begin) - 1;
  const Both both = random_both(rows, cols);
  ColumnSet set(rows);
  for (Index j = 0; j < cols; ++j) {
    if (j % 2 == 0) set.add(both.dense.column(j));
    if (j % 2 == 1) set.add(both.sparse.column_rows(j), both.sparse.column_values(j));
  }
  const TaskRows own(set, begin);
  std::vector<double> weights(static_cast<std::size_t>(cols * tasks)), sums(weights.size());
  for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = std::cos(static_cast<double>(at));
  const Grid<double> residual = test::random_scores(rows, 1, 6);
  Grid<double> scores(rows, 1);
  own.add_product(weights, scores, threads);
  own.transposed_product(residual, sums, threads);
  std::vector<double> expected(sums.size(), 0.0);
  for (Index t = 0; t < tasks; ++t) {
    for (Index i = begin[static_cast<std::size_t>(t)]; i < begin[static_cast<std::size_t>(t + 1)]; ++i) {
      double score = 0;
      for (Index j = 0; j < cols; ++j) {
        const auto at = static_cast<std::size_t>(j * tasks + t);
        score += static_cast<double>(both.dense(i, j)) * weights[at];
        expected[at] += static_cast<double>(both.dense(i, j)) * residual(i, 0);
      }
      ASSERT_NEAR(scores(i, 0), score, 1e-12);
    }
  }
  for (std::size_t at = 0; at < sums.size(); ++at) EXPECT_NEAR(sums[at], expected[at], 1e-10);
}

}  // namespace
}  // namespace sharelearn
