// A loss where part of the scores is fixed: offset_loss(S) = loss(offset + S). The offset holds the scores of
// the earlier levels of a cascade, or of the columns chosen before a new one.
#pragma once

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class OffsetLoss : public Loss {
 public:
  /// Both must outlive this; the offset has the shape of the scores.
  OffsetLoss(const Loss& loss, const Grid<double>& offset)
      : loss_(loss), offset_(offset), sum_(offset.rows(), offset.cols()) {}
  std::string_view name() const override { return loss_.name(); }
  Index rows() const override { return loss_.rows(); }
  Index outputs() const override { return loss_.outputs(); }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  void hessian(RowRange rows, const Grid<double>& scores, Grid<double>& state) const override;
  void hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                     Index stride) const override;
  bool coupling(RowRange rows, const Grid<double>& scores, Grid<double>& factor) const override;
  double curvature_bound() const override { return loss_.curvature_bound(); }
  double conjugate(RowRange rows, const Grid<double>& dual, double scale) const override;
  std::span<const double> weights() const override { return loss_.weights(); }

 private:
  /// offset + scores on some rows of a grid of the full shape; the other rows are not written.
  const Grid<double>& shifted(RowRange rows, const Grid<double>& scores) const;

  const Loss& loss_;
  const Grid<double>& offset_;
  mutable Grid<double> sum_;  ///< scratch; blocks of rows never overlap
};

}  // namespace sharelearn
