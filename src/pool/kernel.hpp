// Gaussian kernels K(x_j, x) = exp(-||x_j - x||^2 / (2 sigma)) around the points x_j of a support set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

class KernelFeature : public Feature {
 public:
  /// `point` in scaled units; `number`: its position in the support set, for the report.
  KernelFeature(std::vector<float> point, double sigma, Index number)
      : point_(std::move(point)), sigma_(sigma), number_(number) {}
  std::string_view pool() const override { return "kernel"; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);

 private:
  std::vector<float> point_;
  double sigma_;
  Index number_;
};

class KernelPool : public Pool {
 public:
  /// `support` is d x n: each column is a point. Keeps the m x n kernel matrix (4 bytes per value).
  KernelPool(const ColumnView& x, Grid<float> support, double sigma, ThreadPool& threads);
  std::string_view name() const override { return "kernel"; }
  Index rows() const override { return columns_.rows(); }
  Index candidates() const override { return columns_.candidates(); }
  Index blocks() const override { return columns_.blocks(); }
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  StoredColumn stored(Index candidate) const override { return columns_.stored(candidate); }
  FeaturePtr feature(Index candidate) const override;

 private:
  Grid<float> support_;
  double sigma_;
  Matrix kernel_;  ///< m x n
  ColumnPool columns_;
};

/// Support sets, d x n, a column is a point, in scaled units. All throw InputError unless 1 <= count <= rows.
/// `weights`: of each row, or none: 1. A row of weight 3 is three rows, one after the other
/// (data/row_copies.hpp).
/// Rows by chance.
Grid<float> sampled_support(const ColumnView& x, Index count, std::uint64_t seed,
                            std::span<const double> weights = {});
/// The centres of K-means.
Grid<float> clustered_support(const ColumnView& x, Index count, std::uint64_t seed, ThreadPool& threads,
                              std::span<const double> weights = {});
/// The rows on which a multiclass kernel perceptron errs in one pass in random order, at most `count`.
/// `threads`, if given, say when the run is cancelled; the work is done in the caller.
Grid<float> perceptron_support(const ColumnView& x, std::span<const std::int32_t> class_of_row, Index classes,
                               Index count, double sigma, std::uint64_t seed,
                               std::span<const double> weights = {}, ThreadPool* threads = nullptr);

/// Half the median squared distance between rows paired by chance (1 if the rows are all alike).
double typical_sigma(const ColumnView& x, std::uint64_t seed, std::span<const double> weights = {});

}  // namespace sharelearn
