// The covariance in double precision, one block of rows at a time, then Eigen's self-adjoint solver.
#include "sharelearn/transform/pca.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "kernels/outer_sums.hpp"
#include "run/ranks.hpp"
#include "run/serial_sum.hpp"
#include "sharelearn/run/error.hpp"
#include "transform/column_sums.hpp"
#include "transform/row_products.hpp"
#include "transform/symmetric_eigen.hpp"

namespace sharelearn {
namespace {

using kernels::kTileLeft;
constexpr Index kTileRight = kernels::kTileRightDouble;

Index tiles_of(Index count, Index tile) {
  return (count + tile - 1) / tile;
}

std::vector<double> means_of(const ColumnView& x, const RowWeights& weights, double total,
                             ThreadPool& threads) {
  std::vector<double> mean(static_cast<std::size_t>(x.cols()));
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    std::vector<float> column(static_cast<std::size_t>(x.rows()));
    x.column(j, column.data());
    double sum = 0;
    serial_sum(x.rows(), {&sum, 1}, [&](RowRange rows, std::span<double> to) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        const auto row = static_cast<std::size_t>(i);
        to[0] += weights[row] * static_cast<double>(column[row]);
      }
    });
    mean[static_cast<std::size_t>(j)] = sum / total;
  });
  return mean;
}

/// A centred block of rows, packed twice: weighted, in panels of kTileLeft columns; and in panels of
/// kTileRight columns.
struct CentredBlock {
  CentredBlock(Index columns)
      : left(static_cast<std::size_t>(tiles_of(columns, kTileLeft) * kTileLeft * kBlockRows)),
        right(static_cast<std::size_t>(tiles_of(columns, kTileRight) * kTileRight * kBlockRows)) {
    std::fill(left.begin(), left.end(), 0.0);
    std::fill(right.begin(), right.end(), 0.0);
  }

  void pack(const ColumnView& x, Index j, double mean, RowRange rows, const RowWeights& weights) {
    std::vector<float> column(static_cast<std::size_t>(rows.size()));
    x.column(j, rows, column.data());
    double* to_left = left.data() + j / kTileLeft * kTileLeft * kBlockRows + j % kTileLeft;
    double* to_right = right.data() + j / kTileRight * kTileRight * kBlockRows + j % kTileRight;
    for (Index r = 0; r < rows.size(); ++r) {
      const double v = static_cast<double>(column[static_cast<std::size_t>(r)]) - mean;
      to_left[r * kTileLeft] = weights[static_cast<std::size_t>(rows.begin + r)] * v;
      to_right[r * kTileRight] = v;
    }
  }

  AlignedVector<double> left, right;
};

/// The tiles on and above the diagonal, one row of tiles after another: about d^2 / 2 numbers.
class UpperTiles {
 public:
  explicit UpperTiles(Index columns) : columns_(columns), start_{0} {
    for (Index row = 0; row < rows(); ++row) {
      start_.push_back(start_.back() + kTileLeft * (columns_ - first_column(row)));
    }
  }
  Index rows() const { return tiles_of(columns_, kTileLeft); }
  std::size_t size() const { return static_cast<std::size_t>(start_.back()); }
  Index first_column(Index tile_row) const { return tile_row * kTileLeft / kTileRight * kTileRight; }
  /// Position of the entry in matrix row `tile_row` * kTileLeft + a and matrix column `column`.
  std::size_t at(Index tile_row, Index a, Index column) const {
    const Index first = first_column(tile_row);
    return static_cast<std::size_t>(start_[static_cast<std::size_t>(tile_row)] + a * (columns_ - first) +
                                    column - first);
  }

 private:
  Index columns_;
  std::vector<Index> start_;
};

/// Adds the block's outer products to one row of tiles.
void add_tile_row(const CentredBlock& block, const UpperTiles& tiles, Index tile_row, Index columns,
                  Index rows, std::span<double> sums) {
  alignas(64) double out[kTileLeft * kTileRight];
  const double* left = block.left.data() + tile_row * kTileLeft * kBlockRows;
  for (Index first = tiles.first_column(tile_row); first < columns; first += kTileRight) {
    kernels::outer_sums(left, block.right.data() + first * kBlockRows, rows, out);
    for (Index a = 0; a < kTileLeft; ++a) {
      double* to = sums.data() + tiles.at(tile_row, a, first);
      for (Index b = 0; b < std::min(kTileRight, columns - first); ++b) to[b] += out[a * kTileRight + b];
    }
  }
}

/// Upper triangle of the covariance matrix. Blocks of rows are processed one after another, tiles in
/// parallel.
Eigen::MatrixXd covariance(const ColumnView& x, const std::vector<double>& mean, const RowWeights& weights,
                           double total, ThreadPool& threads) {
  const Index d = x.cols();
  const UpperTiles tiles(d);
  std::vector<double> sums(tiles.size());
  CentredBlock block(d);
  serial_sum(x.rows(), sums, [&](RowRange rows, std::span<double> to) {
    threads.for_each(
        d, [&](std::int64_t j, int) { block.pack(x, j, mean[static_cast<std::size_t>(j)], rows, weights); });
    threads.for_each(tiles.rows(),
                     [&](std::int64_t row, int) { add_tile_row(block, tiles, row, d, rows.size(), to); });
  });
  Eigen::MatrixXd upper = Eigen::MatrixXd::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = i; j < d; ++j) upper(i, j) = sums[tiles.at(i / kTileLeft, i % kTileLeft, j)] / total;
  }
  return upper;
}

/// The sign of an eigenvector is arbitrary. The entry of largest magnitude (the first of equal ones) is made
/// positive.
double sign_of(const Eigen::VectorXd& direction) {
  Index at = 0;
  direction.cwiseAbs().maxCoeff(&at);
  return direction(at) < 0 ? -1.0 : 1.0;
}

}  // namespace

Pca Pca::fit(const ColumnView& x, Index components, ThreadPool& threads,
             std::span<const double> row_weights) {
  if (components < 1 || components > x.cols()) {
    throw InputError(
        fmt::format("principal components: asked for {}, the data has {} columns", components, x.cols()));
  }
  if (x.rows() < 1) throw InputError("principal components: the data has no rows");
  const RowWeights weights(row_weights, x.rows());
  const double total = weights.total();
  Pca pca;
  pca.mean = means_of(x, weights, total, threads);
  const Eigen::MatrixXd upper = covariance(x, pca.mean, weights, total, threads);
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

Grid<float> Pca::apply(const ColumnView& x, ThreadPool& threads) const {
  if (x.cols() != directions.rows()) {
    throw InputError(fmt::format("principal components of {} columns applied to data of {} columns",
                                 directions.rows(), x.cols()));
  }
  const RowProducts projection(directions, mean);
  constexpr Index kRows = RowProducts::kRows;
  Grid<float> out(x.rows(), components());
  const Alone alone(threads);
  for_each_row_block(x.rows(), threads, [&](RowRange block, int) {
    std::vector<double> products(static_cast<std::size_t>(components() * kRows));
    for (Index begin = block.begin; begin < block.end; begin += kRows) {
      const RowRange rows{begin, std::min(begin + kRows, block.end)};
      projection.compute(x, rows, products.data());
      for (Index n = 0; n < components(); ++n) {
        const double* from = products.data() + n * kRows;
        std::transform(from, from + rows.size(), out.column(n) + rows.begin,
                       [](double v) { return static_cast<float>(v); });
      }
    }
  });
  return out;
}

}  // namespace sharelearn
