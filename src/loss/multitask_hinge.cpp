#include "sharelearn/loss/multitask_hinge.hpp"

#include <algorithm>
#include <utility>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

struct Point {
  double value;
  double choice;  ///< the maximising q
};

Point huber_hinge(double margin, double smoothing) {
  if (margin <= 0) return {0, 0};
  const double q = margin < smoothing ? margin / smoothing : 1;
  return {q * (margin - 0.5 * smoothing * q), q};
}

}  // namespace

MultitaskHinge::MultitaskHinge(std::vector<std::int8_t> sign, Index tasks, std::vector<double> weights,
                               double smoothing)
    : sign_(std::move(sign)), tasks_(tasks), weights_(std::move(weights)), smoothing_(smoothing) {
  if (!(smoothing >= 0)) throw InputError("the smoothing of the hinge must be 0 or positive");
}

double MultitaskHinge::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  double total = 0;
  for (Index c = 0; c < tasks_; ++c) {
    const double* score = scores.column(c);
    double* out = residual == nullptr ? nullptr : residual->column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double sign = sign_[static_cast<std::size_t>(i * tasks_ + c)];
      const double weight = weights_[static_cast<std::size_t>(i)];
      const Point point = sign == 0 ? Point{0, 0} : huber_hinge(1 - sign * score[i], smoothing_);
      total += weight * point.value;
      if (out != nullptr) out[i] = -weight * sign * point.choice;
    }
  }
  return total;
}

void MultitaskHinge::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  for (Index c = 0; c < tasks_; ++c) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double sign = sign_[static_cast<std::size_t>(i * tasks_ + c)];
      const double margin = 1 - sign * scores(i, c);
      const bool bends = sign != 0 && margin > 0 && margin < smoothing_;
      out(i, c) = bends ? weights_[static_cast<std::size_t>(i)] / smoothing_ : 0;
    }
  }
}

}  // namespace sharelearn
