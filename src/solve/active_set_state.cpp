// The state of an ActiveSetSolver as bytes.
#include "solve/active_set_history.hpp"
#include "solve/quadratic_model.hpp"
#include "solve/state_bytes.hpp"
#include "solve/support_newton.hpp"

namespace sharelearn {

void ActiveSetSolver::save(ByteWriter& out) const {
  out.doubles(weights_);
  out.doubles(earlier_);
  write_rows(out, scores_, threads_);
  write_rows(out, residual_, threads_);
  for (const double value : {loss_value_, lambda_, earlier_lambda_, metric_lambda_, damping_})
    write_bits(out, value);
  out.u8(coupled_ ? 1 : 0);
  metric_->save(out);
}

void ActiveSetSolver::restore(ByteReader& in) {
  const std::size_t size = weights_.size();
  weights_ = read_doubles(in, size);
  earlier_ = read_doubles(in, size);
  read_grid(in, scores_);
  read_grid(in, residual_);
  for (double* value : {&loss_value_, &lambda_, &earlier_lambda_, &metric_lambda_, &damping_})
    *value = read_bits(in);
  coupled_ = in.u8() != 0;
  metric_->restore(in, columns_);
  newton_memory_->clear();
  gradient_valid_ = false;
  history_->clear();
  if (row_update_) {
    row_update_->columns_changed();
    row_update_->scores_changed();
  }
}

}  // namespace sharelearn
