// Covariance in double precision, a block of rows at a time, then Eigen's self-adjoint solver.
#include "sharelearn/transform/pca.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "data/copy_rows.hpp"
#include "kernels/outer_sums.hpp"
#include "sharelearn/run/error.hpp"
#include "transform/row_products.hpp"
#include "transform/symmetric_eigen.hpp"

namespace sharelearn {
namespace {

using kernels::kTileLeft;
constexpr Index kTileRight = kernels::kTileRightDouble;

Index tiles_of(Index count, Index tile) {
  return (count + tile - 1) / tile;
}

std::vector<double> column_means(const Matrix& x, ThreadPool& threads) {
  std::vector<double> mean(static_cast<std::size_t>(x.cols()));
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    std::vector<float> column(static_cast<std::size_t>(x.rows()));
    x.copy_column(j, column.data());
    double sum = 0;
    for (const float v : column) sum += static_cast<double>(v);
    mean[static_cast<std::size_t>(j)] = sum / static_cast<double>(x.rows());
  });
  return mean;
}

/// A block of rows, centred, packed twice: by kTileLeft and by kTileRight columns at a time.
struct CentredBlock {
  CentredBlock(Index columns)
      : left(static_cast<std::size_t>(tiles_of(columns, kTileLeft) * kTileLeft * kBlockRows)),
        right(static_cast<std::size_t>(tiles_of(columns, kTileRight) * kTileRight * kBlockRows)) {
    std::fill(left.begin(), left.end(), 0.0);
    std::fill(right.begin(), right.end(), 0.0);
  }

  void pack(const Matrix& x, Index j, double mean, RowRange rows) {
    std::vector<float> column(static_cast<std::size_t>(rows.size()));
    copy_rows(x, j, rows, column.data());
    double* to_left = left.data() + j / kTileLeft * kTileLeft * kBlockRows + j % kTileLeft;
    double* to_right = right.data() + j / kTileRight * kTileRight * kBlockRows + j % kTileRight;
    for (Index r = 0; r < rows.size(); ++r) {
      const double v = static_cast<double>(column[static_cast<std::size_t>(r)]) - mean;
      to_left[r * kTileLeft] = v;
      to_right[r * kTileRight] = v;
    }
  }

  AlignedVector<double> left, right;
};

/// Adds the block's outer products to the tiles at and above the diagonal of one row of tiles.
void add_tile_row(const CentredBlock& block, Index tile_row, Index rows, Eigen::MatrixXd& sums) {
  const Index d = sums.cols();
  alignas(64) double out[kTileLeft * kTileRight];
  const Index first = tile_row * kTileLeft;
  const double* left = block.left.data() + first * kBlockRows;
  for (Index t = first / kTileRight; t < tiles_of(d, kTileRight); ++t) {
    kernels::outer_sums(left, block.right.data() + t * kTileRight * kBlockRows, rows, out);
    for (Index b = 0; b < std::min(kTileRight, d - t * kTileRight); ++b) {
      for (Index a = 0; a < std::min(kTileLeft, d - first); ++a) {
        sums(first + a, t * kTileRight + b) += out[a * kTileRight + b];
      }
    }
  }
}

/// Upper triangle of the covariance matrix: each entry is added up in the order of the blocks.
Eigen::MatrixXd covariance(const Matrix& x, const std::vector<double>& mean, ThreadPool& threads) {
  const Index d = x.cols();
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(d, d);
  CentredBlock block(d);
  for (Index b = 0; b < blocks_of(x.rows()); ++b) {
    const RowRange rows = block_range(b, x.rows());
    threads.for_each(d,
                     [&](std::int64_t j, int) { block.pack(x, j, mean[static_cast<std::size_t>(j)], rows); });
    threads.for_each(tiles_of(d, kTileLeft),
                     [&](std::int64_t tile, int) { add_tile_row(block, tile, rows.size(), sums); });
  }
  return sums / static_cast<double>(x.rows());
}

/// The sign of an eigenvector is free; the entry of largest magnitude (the first of equals) is made positive.
double sign_of(const Eigen::VectorXd& direction) {
  Index at = 0;
  direction.cwiseAbs().maxCoeff(&at);
  return direction(at) < 0 ? -1.0 : 1.0;
}

}  // namespace

Pca Pca::fit(const Matrix& x, Index components, ThreadPool& threads) {
  if (components < 1 || components > x.cols()) {
    throw InputError(
        fmt::format("principal components: asked for {}, the data has {} columns", components, x.cols()));
  }
  if (x.rows() < 1) throw InputError("principal components: the data has no rows");
  Pca pca;
  pca.mean = column_means(x, threads);
  const Eigen::MatrixXd upper = covariance(x, pca.mean, threads);
  const EigenPairs pairs = symmetric_eigen(upper.transpose(), "principal components");
  pca.directions = Grid<float>(x.cols(), components);
  for (Index n = 0; n < components; ++n) {
    const Eigen::VectorXd direction = pairs.vectors.col(n);
    const double sign = sign_of(direction);
    for (Index j = 0; j < x.cols(); ++j) pca.directions(j, n) = static_cast<float>(sign * direction(j));
    pca.variance.push_back(std::max(pairs.values(n), 0.0));
  }
  return pca;
}

Grid<float> Pca::apply(const Matrix& x, ThreadPool& threads) const {
  if (x.cols() != directions.rows()) {
    throw InputError(fmt::format("principal components of {} columns applied to data of {} columns",
                                 directions.rows(), x.cols()));
  }
  const RowProducts projection(directions, mean);
  constexpr Index kRows = RowProducts::kRows;
  Grid<float> out(x.rows(), components());
  threads.for_each(tiles_of(x.rows(), kRows), [&](std::int64_t piece, int) {
    const RowRange rows{piece * kRows, std::min((piece + 1) * kRows, x.rows())};
    std::vector<double> products(static_cast<std::size_t>(components() * kRows));
    projection.compute(x, rows, products.data());
    for (Index n = 0; n < components(); ++n) {
      const double* from = products.data() + n * kRows;
      std::transform(from, from + rows.size(), out.column(n) + rows.begin,
                     [](double v) { return static_cast<float>(v); });
    }
  });
  return out;
}

}  // namespace sharelearn
