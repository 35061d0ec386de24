// The data matrix as gradient methods use it: from weights to scores, from residuals to gradients.
//
// With an unpenalised bias every column is centred implicitly (x_j - mean_j). This change of variables leaves
// the problem as it is and makes it far better conditioned, and sparse data stays sparse. `true_bias` undoes
// it.
//
// Outputs come in two forms. Shared rows: every row has a score for each of the k outputs (classes, or tasks
// that label all rows), scores are rows x k. Own rows: each row belongs to one task only and has that task's
// score only, scores are rows x 1; rows are sorted by task. The cost of a pass is then m n instead of m n k.
//
// The weights of one column are adjacent: weights[a * outputs + c].
#pragma once

#include <span>
#include <vector>

#include "solve/column_set.hpp"

namespace sharelearn {

class Design {
 public:
  /// Shared rows. `x` must outlive the design; row_weights sum to 1.
  Design(const Matrix& x, Index outputs, std::span<const double> row_weights, bool bias, ThreadPool& threads);
  /// Own rows: rows [task_begin[t], task_begin[t + 1]) belong to task t.
  Design(const Matrix& x, std::vector<Index> task_begin, std::span<const double> row_weights, bool bias,
         ThreadPool& threads);

  const Matrix& matrix() const { return x_; }
  Index rows() const { return x_.rows(); }
  Index columns() const { return x_.cols(); }
  Index outputs() const { return outputs_; }
  Index score_columns() const { return own_rows() ? 1 : outputs_; }
  bool own_rows() const { return !task_begin_.empty(); }
  bool has_bias() const { return bias_; }

  /// Weighted mean square of column j after centring (own rows: the largest of the tasks').
  double scale(Index j) const { return scale_[static_cast<std::size_t>(j)]; }
  /// Sum of the weights of the rows that carry output c.
  double share(Index c) const { return own_rows() ? share_[static_cast<std::size_t>(c)] : 1.0; }

  /// Bias of the uncentred columns, from the bias of the centred ones and all weights (columns x outputs);
  /// centred_bias() is the inverse.
  std::vector<double> true_bias(std::span<const double> bias, std::span<const double> weights) const;
  std::vector<double> centred_bias(std::span<const double> bias, std::span<const double> weights) const;

 private:
  friend class ActiveColumns;
  struct Moments;
  void centre(std::span<const double> row_weights, ThreadPool& threads);
  std::vector<Moments> moments_of(Index j, std::span<const double> row_weights) const;
  std::vector<double> shifted_bias(std::span<const double> bias, std::span<const double> weights,
                                   double sign) const;
  /// Mean of column j over the rows that carry output c.
  double mean(Index j, Index c) const {
    return mean_[static_cast<std::size_t>(own_rows() ? j * outputs_ + c : j)];
  }
  const Matrix& x_;
  Index outputs_;
  bool bias_;
  std::vector<Index> task_begin_;
  std::vector<double> mean_;  ///< columns (own rows: columns x outputs); empty without a bias
  std::vector<double> scale_;
  std::vector<double> share_;
};

/// Some columns of a design, centred, and the bias: the working set of a solver.
class ActiveColumns {
 public:
  ActiveColumns(const Design& design, std::vector<Index> columns);
  /// All columns.
  explicit ActiveColumns(const Design& design);
  const std::vector<Index>& columns() const { return columns_; }
  Index count() const { return static_cast<Index>(columns_.size()); }

  /// scores = offset + X weights + bias. weights: count x outputs; offset may be null; bias may be empty.
  void scores(std::span<const double> weights, std::span<const double> bias, const Grid<double>* offset,
              Grid<double>& scores, ThreadPool& threads) const;
  /// gradient: count x outputs. Returns the bias's gradient, the sums of the residuals; empty without a bias.
  std::vector<double> gradient(const Grid<double>& residual, std::span<double> gradient,
                               ThreadPool& threads) const;

 private:
  const ColumnOperator& product() const;
  const Design& design_;
  std::vector<Index> columns_;
  std::vector<float> ones_;  ///< the bias's column
  ColumnSet set_;            ///< the columns, then that of the bias
  TaskRows tasks_;           ///< the same for own rows
};

}  // namespace sharelearn
