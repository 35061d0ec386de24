#include "pool/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/row_copies.hpp"
#include "data/to_size.hpp"
#include "kernels/outer_sums.hpp"
#include "pool/distances.hpp"
#include "pool/kmeans.hpp"
#include "pool/points.hpp"
#include "pool/row_major.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using kernels::kTileLeft;
constexpr Index kRowPanel = kernels::kTileRightFloat;
/// Rows added up in float32 before the sum is carried on in double.
constexpr Index kChunkRows = 256;
/// Centres whose distances to all rows are held at once.
constexpr Index kCentresAtOnce = 48;
/// Rows whose distances give the quantiles.
constexpr Index kQuantileRows = 8192;

Grid<double> distances_to(const ColumnView& v, std::span<const float> centre) {
  Grid<float> point(std::ssize(centre), 1);
  std::copy(centre.begin(), centre.end(), point.column(0));
  ThreadPool alone(1);
  return Distances(point).all(v, alone);
}

/// The squared radius of a ball that holds `part` of `parts` equal parts of the sorted sample: between the
/// last distance inside and the first outside.
double radius_that_holds(Index part, Index parts, std::span<const double> sample) {
  const std::size_t inside = to_size(part * std::ssize(sample) / parts);
  return 0.5 * ((inside > 0 ? sample[inside - 1] : 0.0) + sample[inside]);
}

void write_pca(ByteWriter& out, const Pca& pca) {
  out.doubles(pca.mean);
  out.doubles(pca.variance);
  for (Index n = 0; n < pca.components(); ++n) out.floats(pca.directions.column_span(n));
}

Pca read_pca(ByteReader& in, Index columns) {
  Pca pca;
  pca.mean = in.doubles();
  pca.variance = in.doubles();
  if (std::ssize(pca.mean) != columns) in.damaged("its principal components do not fit its columns");
  if (pca.variance.empty() || std::ssize(pca.variance) > columns)
    in.damaged("its principal components are odd");
  pca.directions = Grid<float>(columns, std::ssize(pca.variance));
  for (Index n = 0; n < pca.components(); ++n) {
    const std::vector<float> direction = in.floats();
    if (std::ssize(direction) != columns) in.damaged("a principal component has the wrong length");
    std::copy(direction.begin(), direction.end(), pca.directions.column(n));
  }
  return pca;
}

}  // namespace

PieceFeature::PieceFeature(std::vector<float> centre, double squared_radius, std::shared_ptr<const Pca> pca,
                           Index number)
    : centre_(std::move(centre)), squared_radius_(squared_radius), pca_(std::move(pca)), number_(number) {}

void PieceFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  std::shared_ptr<const Matrix> projected;
  if (pca_) {
    projected = x.shared<Matrix>(pca_.get(), [&] {
      ThreadPool alone(1);
      return Matrix(pca_->apply(x, alone));
    });
  }
  const ColumnView v = projected ? ColumnView(*projected) : x;
  const Grid<double> squared = distances_to(v, centre_);
  // [v, 1] inside the ball, zeros outside.
  for (Index j = 0; j < width(); ++j) {
    float* to = out.column(first_column + j);
    if (j < v.cols()) {
      v.column(j, to);
    } else {
      std::fill_n(to, v.rows(), 1.0F);
    }
    for (Index r = 0; r < v.rows(); ++r) to[r] = squared(r, 0) < squared_radius_ ? to[r] : 0.0F;
  }
}

nlohmann::json PieceFeature::describe(const std::vector<std::string>&) const {
  return {{"pool", "pieces"}, {"centre", number_}, {"radius", std::sqrt(squared_radius_)}};
}

formula::Formula PieceFeature::formula() const {
  using formula::make;
  auto v = make(formula::AllColumns{std::ssize(inputs())});
  if (pca_) {
    formula::Projection projection{.of = v, .centre = pca_->mean, .rounded = true, .identity = pca_.get()};
    for (Index n = 0; n < pca_->components(); ++n) {
      const auto direction = pca_->directions.column_span(n);
      projection.directions.emplace_back(direction.begin(), direction.end());
    }
    v = make(std::move(projection));
  }
  const auto inside = make(formula::LessThan{make(formula::SquaredDistance{v, centre_}), squared_radius_});
  const auto with_one = make(formula::Concatenation{{v, make(formula::Constant{1})}});
  return make(formula::Product{{inside, with_one}});
}

std::vector<Index> PieceFeature::inputs() const {
  std::vector<Index> all(pca_ ? pca_->mean.size() : centre_.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

void PieceFeature::write(ByteWriter& out) const {
  out.u8(pca_ ? 1 : 0);
  if (pca_ && out.share(pca_.get()).is_new) write_pca(out, *pca_);
  out.floats(centre_);
  out.f64(squared_radius_);
  out.index(number_);
}

FeaturePtr PieceFeature::read(ByteReader& in, Index columns) {
  std::shared_ptr<const Pca> pca;
  if (in.u8() != 0) pca = in.shared<Pca>([&] { return read_pca(in, columns); });
  std::vector<float> centre = in.floats();
  if (std::ssize(centre) != (pca ? pca->components() : columns))
    in.damaged("a piece's centre has the wrong length");
  const double squared_radius = in.f64();
  return std::make_shared<PieceFeature>(std::move(centre), squared_radius, std::move(pca),
                                        in.index(0, Index{1} << 40));
}

PiecePool::PiecePool(const ColumnView& x, const PieceOptions& options, ThreadPool& threads,
                     std::span<const double> weights)
    : rows_(x.rows()), radii_(options.radii) {
  if (const Index most = RowCopies(weights, x.rows()).count();
      options.centres < 1 || options.centres > most) {
    throw InputError(
        fmt::format("pieces: {} centres were asked for; the data has {} rows", options.centres, most));
  }
  if (options.radii < 1 || options.radii > 255) {
    throw InputError(fmt::format("pieces: radii must be 1 to 255, not {}", options.radii));
  }
  if (options.pca == 0) {
    build(x, options, weights, threads);
    return;
  }
  pca_ = std::make_shared<const Pca>(Pca::fit(x, options.pca, threads, weights));
  build(Matrix(pca_->apply(x, threads)), options, weights, threads);
}

void PiecePool::build(const ColumnView& v, const PieceOptions& options, std::span<const double> weights,
                      ThreadPool& threads) {
  const Index p = v.cols();
  row_stride_ = (p + 1 + kRowPanel - 1) / kRowPanel * kRowPanel;
  by_rows_.assign(to_size(rows() * row_stride_), 0.0F);
  {
    const std::vector<float> points = rows_of(v, threads);
    centres_ = kmeans({points.data(), rows(), p, weights}, {.centres = options.centres, .seed = options.seed},
                      threads)
                   .centres;
    for_each_row_block(rows(), threads, [&](RowRange range, int) {
      for (Index r = range.begin; r < range.end; ++r) {
        std::copy_n(points.data() + r * p, p, by_rows_.data() + r * row_stride_);
        by_rows_[to_size(r * row_stride_ + p)] = 1.0F;
      }
    });
  }
  squared_radius_.resize(to_size(candidates()));
  shell_.resize(to_size(centres_.cols() * rows()));
  for (Index first = 0; first < centres_.cols(); first += kCentresAtOnce) {
    Grid<float> some(p, std::min(kCentresAtOnce, centres_.cols() - first));
    for (Index n = 0; n < some.cols(); ++n) std::copy_n(centres_.column(first + n), p, some.column(n));
    choose_radii(first, Distances(some).all(v, threads), weights, threads);
  }
}

/// Radii lie between neighbouring distances of an even sample of the rows' copies; the largest holds every
/// row.
void PiecePool::choose_radii(Index first_centre, const Grid<double>& squared, std::span<const double> weights,
                             ThreadPool& threads) {
  const RowCopies copies(weights, rows());
  const Index step = (copies.count() + kQuantileRows - 1) / kQuantileRows;
  std::vector<Index> sampled;
  for (Index copy = 0; copy < copies.count(); copy += step) sampled.push_back(copies.row(copy));
  threads.for_each(squared.cols(), [&](std::int64_t n, int) {
    const double* of_row = squared.column(n);
    std::vector<double> sample;
    for (const Index r : sampled) sample.push_back(of_row[r]);
    std::ranges::sort(sample);
    double* radius = squared_radius_.data() + (first_centre + n) * radii_;
    for (Index q = 0; q + 1 < radii_; ++q) radius[q] = radius_that_holds(q + 1, radii_, sample);
    const double largest = *std::max_element(of_row, of_row + rows());
    radius[radii_ - 1] = largest > 0 ? largest * (1 + 1e-6) : 1.0;
    std::uint8_t* shell = shell_.data() + (first_centre + n) * rows();
    for (Index r = 0; r < rows(); ++r) {
      shell[r] = static_cast<std::uint8_t>(std::upper_bound(radius, radius + radii_, of_row[r]) - radius);
    }
  });
}

std::vector<std::uint32_t> PiecePool::rows_by_shell(Index centre, RowRange rows,
                                                    std::vector<Index>& start) const {
  const std::uint8_t* shell = shell_.data() + centre * rows_;
  start.assign(to_size(radii_ + 1), 0);
  for (Index r = rows.begin; r < rows.end; ++r) ++start[to_size(shell[r] + 1)];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Index> next(start.begin(), start.end() - 1);
  std::vector<std::uint32_t> order(to_size(rows.size()));
  for (Index r = rows.begin; r < rows.end; ++r)
    order[to_size(next[shell[r]]++)] = static_cast<std::uint32_t>(r);
  return order;
}

/// Sums of [v, 1] r_c over the rows of each shell: [shell][panel of columns][output, padded][column].
std::vector<double> PiecePool::shell_sums(Index centre, const RowMajor& residual) const {
  std::vector<double> sums(to_size(radii_ * row_stride_ * residual.stride));
  TreeSum sum(sums.size());
  const RowTree tree(rows());
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    const RowRange of_leaf = tree.leaf(leaf);
    for (Index begin = of_leaf.begin; begin < of_leaf.end; begin += kBlockRows)
      add_shells(centre, {begin, std::min(begin + kBlockRows, of_leaf.end)}, residual, sum.leaf().data());
    sum.close_leaf();
  }
  sum.finish(sums);
  return sums;
}

void PiecePool::add_shells(Index centre, RowRange rows, const RowMajor& residual, double* sums) const {
  std::vector<Index> start;
  const std::vector<std::uint32_t> order = rows_by_shell(centre, rows, start);
  alignas(64) float tile[kTileLeft * kRowPanel];
  for (Index s = 0; s < radii_; ++s) {
    for (Index begin = start[to_size(s)]; begin < start[to_size(s + 1)]; begin += kChunkRows) {
      const Index count = std::min(kChunkRows, start[to_size(s + 1)] - begin);
      double* to = sums + s * row_stride_ * residual.stride;
      for (Index panel = 0; panel < row_stride_; panel += kRowPanel) {
        for (Index c = 0; c < residual.stride; c += kTileLeft, to += kTileLeft * kRowPanel) {
          kernels::outer_sums_at(residual.row(0) + c, residual.stride, by_rows_.data() + panel, row_stride_,
                                 order.data() + begin, count, tile);
          for (Index e = 0; e < kTileLeft * kRowPanel; ++e) to[e] += static_cast<double>(tile[e]);
        }
      }
    }
  }
}

void PiecePool::correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const {
  std::vector<Index> all(to_size(blocks()));
  std::iota(all.begin(), all.end(), Index{0});
  correlate_some(residual, all, threads, visit);
}

void PiecePool::correlate_some(const Grid<float>& residual, std::span<const Index> blocks,
                               ThreadPool& threads, const BlockVisitor& visit) const {
  const RowMajor by_rows(residual, kTileLeft, threads);
  const Index k = residual.cols();
  for_each_own(std::ssize(blocks), threads, [&](std::int64_t which, int worker) {
    const Index centre = blocks[to_size(which)];
    const std::vector<double> sums = shell_sums(centre, by_rows);
    std::vector<double> balls(to_size(radii_ * width() * k));
    for (Index s = 0; s < radii_; ++s) {
      for (Index w = 0; w < width(); ++w) {
        const double* from =
            sums.data() + (s * row_stride_ + w / kRowPanel * kRowPanel) * by_rows.stride + w % kRowPanel;
        for (Index c = 0; c < k; ++c) {
          const std::size_t to = to_size((s * width() + w) * k + c);
          balls[to] = from[c * kRowPanel] + (s > 0 ? balls[to - to_size(width() * k)] : 0.0);
        }
      }
    }
    visit({centre, centre * radii_, radii_, balls.data()}, worker);
  });
}

void PiecePool::values(Index candidate, Grid<float>& out, Index first_column) const {
  const std::vector<std::uint32_t> inside = rows_inside(candidate);
  for (Index w = 0; w < width(); ++w) {
    float* to = out.column(first_column + w);
    std::fill_n(to, rows(), 0.0F);
    for (const std::uint32_t r : inside) to[r] = by_rows_[to_size(static_cast<Index>(r) * row_stride_ + w)];
  }
}

std::vector<std::uint32_t> PiecePool::rows_inside(Index candidate) const {
  const std::uint8_t* shell = shell_.data() + candidate / radii_ * rows();
  std::vector<std::uint32_t> inside;
  for (Index r = 0; r < rows(); ++r) {
    if (shell[r] <= candidate % radii_) inside.push_back(static_cast<std::uint32_t>(r));
  }
  return inside;
}

FeaturePtr PiecePool::feature(Index candidate) const {
  const auto centre = centres_.column_span(candidate / radii_);
  return std::make_shared<PieceFeature>(std::vector<float>(centre.begin(), centre.end()),
                                        squared_radius_[to_size(candidate)], pca_, candidate / radii_);
}

}  // namespace sharelearn
