// A loss: from scores and labels to a value and the derivative by score.
//
// Scores are rows x outputs (classes, tasks, or one), column-major. Every loss is a weighted mean over the
// rows: the weights sum to 1, and value and residual include them. The gradient by the weights of a feature x
// is therefore sum_i x_i residual_ic. A loss does not depend on features.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view name() const = 0;
  virtual Index rows() const = 0;
  /// Columns of the score matrix.
  virtual Index outputs() const = 0;

  /// Sum over `rows` of weight_i * loss_i. If `residual` is given, writes d/dscore of it for these rows.
  /// Serial: callers split the rows into blocks (as evaluate() below does).
  virtual double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const = 0;

  /// Diagonal second derivatives by score for these rows, including the row weights.
  virtual void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const = 0;

  /// The state that hessian_times needs for these rows at these scores; by default the diagonal second
  /// derivatives.
  virtual void hessian(RowRange rows, const Grid<double>& scores, Grid<double>& state) const {
    curvature(rows, scores, state);
  }

  /// direction <- Hessian by the scores times direction, for `count` rows from `first` on. `direction` is a
  /// block of its own: outputs() columns, `stride` apart, whose row 0 is row `first`. Losses that couple
  /// outputs override it.
  virtual void hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                             Index stride) const;

  /// If the outputs of a row interact, writes factors such that the second derivative by scores c != d of row
  /// i is - factor_ic factor_id. Returns false if they do not interact.
  virtual bool coupling(RowRange rows, const Grid<double>& scores, Grid<double>& factor) const {
    (void)rows, (void)scores, (void)factor;
    return false;
  }

  /// Whether adding one number to all scores of a row changes nothing.
  virtual bool shift_invariant() const { return false; }

  /// Smallest b such that the Hessian by the scores of row i <= weight_i * b * identity.
  virtual double curvature_bound() const = 0;

  /// Sum over `rows` of the convex conjugates f_i*(scale * dual_i), where f_i is weight_i * loss_i; used by
  /// duality gaps. Infinity outside the conjugate's domain, and for a loss that does not provide a conjugate.
  virtual double conjugate(RowRange rows, const Grid<double>& dual, double scale) const;

  /// residual = rising - falling, both >= 0: the weights q of the terms whose loss grows with the score, and
  /// of the terms whose loss falls with it. AdaBoost's bound ([DuchiSinger09], Lemma 4.1) needs them
  /// separately.
  virtual void split_residual(RowRange rows, const Grid<double>& scores, Grid<double>& rising,
                              Grid<double>& falling) const;

  /// Weight of each row; they sum to 1.
  virtual std::span<const double> weights() const = 0;
};

/// Value (and residual) over all rows, one block at a time in fixed order: the same bits for any number of
/// threads.
double evaluate(const Loss& loss, const Grid<double>& scores, Grid<double>* residual, ThreadPool& threads);

/// Sum of the conjugates of all rows, in the same fixed order.
double evaluate_conjugate(const Loss& loss, const Grid<double>& dual, double scale, ThreadPool& threads);

}  // namespace sharelearn
