// Properties that every pool must have, whatever its candidates are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "sharelearn/pool/pool.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::testing {

inline DenseMatrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < rows; ++r) x(r, j) = static_cast<float>(random.normal());
  }
  return x;
}

/// Values on a few levels, so that columns have ties.
inline DenseMatrix level_matrix(Index rows, Index columns, std::int64_t levels, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index r = 0; r < rows; ++r) x(r, j) = static_cast<float>(random.below(levels) - levels / 2);
  }
  return x;
}

inline SparseMatrix sparse_copy(const DenseMatrix& x) {
  SparseMatrix out;
  out.rows = x.rows();
  out.cols = x.cols();
  out.start = {0};
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index r = 0; r < x.rows(); ++r) {
      if (x(r, j) == 0) continue;
      out.row.push_back(static_cast<std::uint32_t>(r));
      out.value.push_back(x(r, j));
    }
    out.start.push_back(out.nonzeros());
  }
  return out;
}

/// Raw data, its scaling, and the scaled copy that a pool is built over.
struct Scaled {
  explicit Scaled(Matrix data, ScalingKind kind = ScalingKind::minmax) : raw(std::move(data)), x(raw) {
    ThreadPool threads(1);
    scaling = Scaling::fit(raw, kind, threads);
    scaling.apply(x, threads);
  }
  Matrix raw;
  Matrix x;
  Scaling scaling;
};

/// All sums of the pool, [candidate][column of the group][output]. Checks that blocks cover each candidate
/// once and are numbered in order.
inline std::vector<double> all_sums(const Pool& pool, const Grid<float>& residual, int threads_count) {
  ThreadPool threads(threads_count);
  const Index each = pool.width() * residual.cols();
  std::vector<double> sums(static_cast<std::size_t>(pool.candidates() * each), NAN);
  std::vector<Index> first(static_cast<std::size_t>(pool.blocks()), -1);
  pool.correlate(residual, threads, [&](const CandidateBlock& block, int worker) {
    EXPECT_GE(worker, 0);
    EXPECT_LT(worker, threads.size());
    std::copy(block.sums, block.sums + block.count * each, sums.begin() + block.first * each);
    first.at(static_cast<std::size_t>(block.block)) = block.first;
  });
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  EXPECT_TRUE(std::none_of(sums.begin(), sums.end(), [](double v) { return std::isnan(v); }));
  return sums;
}

/// Checks three properties: the sums equal those of the candidates' own columns; sums of constant candidates
/// are zero; the stored and reloaded feature of every candidate computes the same columns from the raw data.
inline void check_pool(const Pool& pool, const Matrix& raw, const Scaling& scaling, Index outputs = 5) {
  const Grid<float> residual = random_matrix(pool.rows(), outputs, 99);
  const std::vector<double> sums = all_sums(pool, residual, 1);
  for (const int count : {2, 3, 7, 16})
    EXPECT_EQ(sums, all_sums(pool, residual, count)) << "sums depend on the number of threads: " << count;
  const Index width = pool.width();
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
    Grid<float> values(pool.rows(), width + 1);
    pool.values(candidate, values, 1);
    bool constant = true;
    for (Index w = 0; w < width; ++w) {
      const auto column = values.column_span(w + 1);
      constant =
          constant && std::all_of(column.begin(), column.end(), [&](float v) { return v == column[0]; });
    }
    for (Index w = 0; w < width; ++w) {
      for (Index c = 0; c < outputs; ++c) {
        double expected = 0, size = 0;
        for (Index r = 0; r < pool.rows() && !constant; ++r) {
          const double term = static_cast<double>(values(r, w + 1)) * static_cast<double>(residual(r, c));
          expected += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(sums[static_cast<std::size_t>((candidate * width + w) * outputs + c)], expected,
                    3e-6 * size)
            << "candidate " << candidate << " column " << w << " output " << c;
      }
    }
    ByteWriter out;
    write_feature(out, *pool.feature(candidate));
    ByteReader in(out.bytes(), "memory");
    const FeaturePtr feature = read_feature(in, raw.cols());
    in.expect_end();
    ASSERT_EQ(feature->width(), width);
    Grid<float> again(raw.rows(), width);
    feature->evaluate(ColumnView(raw, scaling), again, 0);
    for (Index w = 0; w < width; ++w) {
      for (Index r = 0; r < pool.rows(); ++r) {
        ASSERT_EQ(again(r, w), values(r, w + 1)) << "candidate " << candidate << " row " << r;
      }
    }
  }
}

}  // namespace sharelearn::testing
