// The quadratic model of an active-set solver and its minimisation.
//
//   min over U   g . (U - W) + (damping/2) sum_cd (U - W)_c' H_cd (U - W)_d + sum_j lambda_j value(U_j)
//
// H_cd = X' diag(second derivatives by scores c and d) X over the active columns. Rows whose derivative is
// negligible are left out: once a model has learned, few classes are plausible for a row, and the Hessian of
// 26 classes costs less than its diagonal blocks over all rows. Leaving out terms off the diagonal only makes
// H larger (the derivatives of a row are diagonally dominant). Only Gram matrices are needed, so a pass of
// block coordinate descent costs columns^2 * pairs, whatever the number of rows.
#pragma once

#include <span>
#include <vector>

#include "kernels/panel.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/bytes.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

/// The matrices H_cd, grown as columns come.
class HessianBlocks {
 public:
  explicit HessianBlocks(Index outputs) : outputs_(outputs) {}
  /// Sets new second derivatives: `curvature` (rows x outputs) by one score, `factor` as given by
  /// Loss::coupling (no columns: outputs do not interact). extend() then computes all matrices again.
  void reset(const Grid<double>& curvature, const Grid<double>& factor);
  bool empty() const { return pairs_.empty(); }
  /// Computes missing entries: (rows that count) * (columns^2 - known^2) / 2 multiply-adds per pair.
  void extend(const ColumnSet& columns, ThreadPool& threads);
  /// Keeps only the columns named, in that order.
  void keep(std::span<const Index> columns);
  /// For a checkpoint.
  void save(ByteWriter& out) const;
  /// `columns`: of the solver, at least those known here.
  void restore(ByteReader& in, const ColumnSet& columns);
  Index size() const { return size_; }
  Index outputs() const { return outputs_; }
  Index stride() const { return stride_; }
  double diagonal(Index j, Index c) const { return entry(own_[static_cast<std::size_t>(c)], j); }
  /// Entry (j, l), l <= j, of output c's own matrix.
  double own(Index c, Index j, Index l) const {
    return static_cast<double>(
        pairs_[own_[static_cast<std::size_t>(c)]].gram[static_cast<std::size_t>(j * stride_ + l)]);
  }
  /// The smallest s (nearly) for which the outputs' block of column j <= s * its diagonal.
  double coupling_factor(Index j) const { return coupling_factor_[static_cast<std::size_t>(j)]; }
  /// slope[d * stride() ..] += H_dc[j, ..] step[c] for all c and d.
  void add_row(Index j, std::span<const double> step, double* slope) const;

 private:
  struct Pair {
    Index first, second;  ///< outputs c <= d
    ColumnSet::WeightedRows rows;
    AlignedVector<float> gram;
  };
  double entry(std::size_t pair, Index j) const {
    return static_cast<double>(pairs_[pair].gram[static_cast<std::size_t>(j * stride_ + j)]);
  }
  void reserve(Index columns);
  void add_grams(const ColumnSet& columns, std::span<const ColumnSet::WeightedRows> rows,
                 std::span<float* const> gram, ThreadPool& threads) const;
  void add_diagonal_pairs(const Grid<double>& curvature);
  void add_coupled_pairs(const Grid<double>& factor);
  double coupling_factor_of(Index j) const;
  Index outputs_;
  Index size_ = 0;
  Index stride_ = 0;
  std::vector<Pair> pairs_;
  std::vector<std::size_t> own_;  ///< output -> its pair (c, c)
  std::vector<double> mass_;      ///< output -> sum of its curvatures
  std::vector<double> coupling_factor_;
  mutable std::vector<kernels::Axpy> tasks_;  ///< scratch memory of add_row
};

struct ModelProblem {
  const HessianBlocks& metric;
  const Penalty& penalty;
  std::span<const double> lambda;    ///< of each column; 0: unpenalised
  std::span<const double> gradient;  ///< [column][output] at `start`
  std::span<const double> start;     ///< W
  double damping = 1;
};

struct ModelOptions {
  double accuracy = 1e-3;  ///< stop when a pass gains less than this fraction of what the first one did
  int max_passes = 400;
};

/// Minimises starting from `u` (which allows warm starts), by block coordinate descent over the columns' rows
/// with Anderson acceleration. Returns the number of passes.
int minimise_model(const ModelProblem& problem, const ModelOptions& options, std::vector<double>& u);

}  // namespace sharelearn
