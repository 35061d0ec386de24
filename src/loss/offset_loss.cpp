#include "sharelearn/loss/offset_loss.hpp"

namespace sharelearn {

const Grid<double>& OffsetLoss::shifted(RowRange rows, const Grid<double>& scores) const {
  for (Index c = 0; c < scores.cols(); ++c) {
    const double *given = scores.column(c), *offset = offset_.column(c);
    double* sum = sum_.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) sum[i] = given[i] + offset[i];
  }
  return sum_;
}

double OffsetLoss::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  return loss_.block(rows, shifted(rows, scores), residual);
}

void OffsetLoss::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  loss_.curvature(rows, shifted(rows, scores), out);
}

void OffsetLoss::hessian(RowRange rows, const Grid<double>& scores, Grid<double>& state) const {
  loss_.hessian(rows, shifted(rows, scores), state);
}

void OffsetLoss::hessian_times(Index first, Index count, const Grid<double>& state, double* direction,
                               Index stride) const {
  loss_.hessian_times(first, count, state, direction, stride);
}

bool OffsetLoss::coupling(RowRange rows, const Grid<double>& scores, Grid<double>& factor) const {
  return loss_.coupling(rows, shifted(rows, scores), factor);
}

/// The conjugate of f(offset + .) at u is f*(u) - <u, offset>.
double OffsetLoss::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  double product = 0;
  for (Index c = 0; c < dual.cols(); ++c) {
    const double *u = dual.column(c), *offset = offset_.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) product += u[i] * offset[i];
  }
  return loss_.conjugate(rows, dual, scale) - scale * product;
}

}  // namespace sharelearn
