// Minimises  loss(X W + b) + lambda sum_j cost_j value(W_j)  over the columns given to it so far.
//
// Steps minimise a quadratic model of the loss in the metric X' D_c X of the active columns (see
// solve/quadratic_model.hpp), which finds the support; where the penalty is smooth given its zeros, they
// alternate with Newton steps on the weights that are not zero (solve/support_newton.hpp). Both are checked
// on the scores, and Anderson acceleration combines the last models' minimisers. Where all this takes long,
// runs of first-order steps come between (solve/fista_burst.hpp). A new lambda starts on the line through the
// last two solutions. The stop is a duality gap:
//
//   dual point    u = scale * residual, the residual of the current scores and scale the largest one <= 1
//   with
//                 dual_norm(x_j' u) <= lambda cost_j for every column
//   dual value    - sum_i loss_i*(u_i) - sum_j conjugate(x_j' u)
//
// A free bias asks for column sums of u that vanish; what is left of them is charged to the gap as
// sum_c |sum_i u_ic| (1 + |b_c|), which covers every optimal bias within 1 + 2 |b_c| of zero.
// A penalty that is no norm (l2sq) uses its conjugate; without any penalty there is no dual, and the gap is
// an estimate, no bound: what Newton's step over all weights promises to first order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/threads.hpp"
#include "sharelearn/solve/row_update.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

class HessianBlocks;
class StepSchedule;
struct SupportStep;

struct ActiveSetReport {
  double gap = 0;  ///< over the active columns, absolute
  int steps = 0;
  int passes = 0;  ///< of coordinate descent on the models
  bool converged = false;
};

class ActiveSetSolver {
 public:
  ActiveSetSolver(const Loss& loss, const Penalty& penalty, bool bias, ThreadPool& threads);
  ~ActiveSetSolver();

  /// Adds a column with zero weights; the view must outlive the solver. Returns its slot, from 0 on.
  Index add(const float* dense, double cost = 1);
  Index add(std::span<const std::uint32_t> rows, std::span<const float> values, double cost = 1);
  /// Drops the slots whose rows are zero; returns those kept, in their new order.
  std::vector<Index> drop_zero_rows();
  Index size() const { return columns_.columns() - first_; }
  Index outputs() const { return loss_.outputs(); }

  /// From now on minimise() cycles over the rows with this update instead of minimising models.
  void use_row_update(std::shared_ptr<RowUpdate> update) { row_update_ = std::move(update); }
  /// One row update of one slot, scores and residual following.
  void update_slot(Index slot, double lambda) { update_row(slot + first_, lambda); }

  /// Goes on from the current weights until the gap over the active columns is at most tolerance * objective.
  ActiveSetReport minimise(double lambda, double tolerance, int max_steps = 500);
  /// While there are no columns: goes on until the residuals of every output sum to zero, as far as they can.
  void polish_bias();

  std::span<const double> row(Index slot) const;
  std::vector<double> bias() const;
  const Grid<double>& scores() const { return scores_; }
  const Grid<double>& residual() const { return residual_; }
  double loss_value() const { return loss_value_; }
  /// Sum of cost_j value(W_j), without lambda.
  double penalty_value() const;
  double objective(double lambda) const { return loss_value_ + lambda * penalty_value(); }
  /// dual_norm(x_j' residual) / cost_j of each slot at the current weights.
  std::vector<double> dual_norms();
  /// The gradient of the objective, [slot][output], under a penalty that sets nothing to zero.
  std::vector<double> slopes(double lambda);
  /// Absolute duality gap if no column anywhere has a dual norm over cost above `largest`.
  double gap(double lambda, double largest);
  /// The same as a part of the objective; 0 where that is 0, which no objective is below.
  double relative_gap(double lambda, double largest);
  /// Recomputes the scores from the weights, so that rounding does not add up along a path.
  void refresh_scores();

 private:
  struct History;
  void add_weights(double cost);
  void compute_gradient();
  std::vector<double> lambdas(double lambda) const;
  double model_decrease(double lambda, const std::vector<double>& u) const;
  void refresh_metric();
  bool stop_test(double lambda, double tolerance, bool is_last, ActiveSetReport& report);
  void renew_metric_in_time(double lambda, int step);
  void take_step(double lambda, double enough, StepSchedule& schedule, ActiveSetReport& report);
  bool model_step(double lambda, ActiveSetReport& report);
  bool cycle(double lambda);
  void update_row(Index column, double lambda);
  void update_rows_together(double lambda);
  void start_at(double lambda);
  SupportStep solve_newton(double lambda, double accuracy);
  double newton_gap(double lambda);
  bool newton_step(double lambda, double accuracy);
  void take_burst(double lambda, int steps);
  void set_direction(std::span<const double> to);
  bool move(double t, std::vector<double>& weights, double lambda, double highest);
  std::vector<double> combination(const std::vector<double>& u);
  double penalty_of(std::span<const double> weights) const;
  bool has_dual(double lambda) const;
  ZeroPattern pattern(double lambda) const;
  double magnitude(double lambda) const;

  const Loss& loss_;
  const Penalty& penalty_;
  ThreadPool& threads_;
  Index first_;  ///< 1 if column 0 is the bias
  ColumnSet columns_;
  std::vector<float> ones_;       ///< the bias's column
  std::vector<double> cost_;      ///< of each column, 0 for the bias
  std::vector<double> weights_;   ///< [column][output]
  std::vector<double> gradient_;  ///< of the loss, [column][output]; valid if gradient_valid_
  bool gradient_valid_ = false;
  Grid<double> scores_, residual_, trial_scores_, trial_residual_, direction_;
  double loss_value_ = 0;
  double first_loss_ = 0;  ///< of scores that are zero
  double lambda_ = 0,
         earlier_lambda_ = 0;    ///< of the last minimisation and of the one at another lambda before
  std::vector<double> earlier_;  ///< the solution at earlier_lambda_
  double metric_lambda_ = 0;
  double damping_ = 1;
  double last_decrease_ = 0;  ///< of the last step: tells when to look at a gap without a dual
  double hopeful_ = 0;    ///< without a dual: half the decrease at which the gap was last computed in vain
  bool coupled_ = false;  ///< the metric has the outputs' interactions
  std::shared_ptr<RowUpdate> row_update_;
  std::unique_ptr<HessianBlocks> metric_;
  std::unique_ptr<History> history_;
};

}  // namespace sharelearn
