#include "sharelearn/solve/column_set.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support.hpp"

namespace sharelearn {
namespace {

struct Both {
  DenseMatrix dense;
  SparseMatrix sparse;
};

/// The same matrix twice, half of it zeros.
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
  for (const Index rows : {7, 513, 9001}) {
    const Index cols = 5, outputs = 7;
    const Both both = random_both(rows, cols);
    ColumnSet dense(rows, threads), sparse(rows, threads);
    for (Index j = 0; j < cols; ++j) {
      dense.add(both.dense.column(j));
      sparse.add(both.sparse.column_rows(j), both.sparse.column_values(j));
    }
    const Grid<double> residual = test::random_scores(rows, outputs, 6);
    for (const ColumnSet* set : {&dense, &sparse}) {
      std::vector<double> sums, one(static_cast<std::size_t>(outputs));
      set->dots(residual, sums);
      Grid<double> scores(rows, outputs);
      std::vector<double> weights(static_cast<std::size_t>(cols * outputs));
      for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = std::sin(static_cast<double>(at));
      set->combine(weights, scores);
      for (Index j = 0; j < cols; ++j) {
        set->dots_of(j, residual, one);
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
  const Index rows = 700, cols = 41, stride = 64;
  const Both both = random_both(rows, cols);
  ColumnSet dense(rows, threads), sparse(rows, threads);
  for (Index j = 0; j < cols; ++j) {
    dense.add(both.dense.column(j));
    sparse.add(both.sparse.column_rows(j), both.sparse.column_values(j));
  }
  std::vector<ColumnSet::WeightedRows> pairs(2);
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t p = 0; p < 2; ++p) {
      if (i % (3 + static_cast<Index>(p)) == 0) continue;
      pairs[p].rows.push_back(static_cast<std::uint32_t>(i));
      pairs[p].weights.push_back(static_cast<float>(std::cos(static_cast<double>(i))));
    }
  }
  for (const ColumnSet* set : {&dense, &sparse}) {
    for (const Index first : {0, 17}) {
      std::vector<float> a((stride + 6) * stride, 0.0F), b(a.size(), 0.0F);
      set->weighted_grams(pairs, first, std::vector<float*>{a.data(), b.data()}, stride);
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

}  // namespace
}  // namespace sharelearn
