// Minimises  loss(X W + b) + lambda sum_j cost_j value(W_j)  over the columns given to it so far.
//
// Most steps minimise a quadratic model of the loss in the metric X' D_c X of the active columns
// (solve/quadratic_model.hpp); they find the support. Where the penalty is smooth apart from its zeros, they
// alternate with Newton steps on the nonzero weights (solve/support_newton.hpp). Both kinds are checked on
// the true scores. Anderson acceleration combines the minimisers of the last models. Where all this takes
// long, bursts of first-order steps come in between (solve/fista_burst.hpp). A new lambda starts on the line
// through the last two solutions. The stopping rule is a duality gap:
//
//   dual point    u = scale * residual of the current scores; scale is the largest number <= 1 with
//                 dual_norm(x_j' u) <= lambda cost_j for every column
//   dual value    - sum_i loss_i*(u_i) - sum_j conjugate(x_j' u)
//
// An unpenalised bias requires that the column sums of u are zero. Where they are not, the gap is charged
// sum_c |sum_i u_ic| (1 + |b_c|), which covers every optimal bias within 1 + 2 |b_c| of zero. A penalty that
// is not a norm (l2sq) uses its conjugate. Without a penalty there is no dual: the gap is then an estimate,
// not a bound, namely the decrease that a Newton step over all weights promises to first order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sharelearn/loss/loss.hpp"
#include "sharelearn/penalty/penalty.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/threads.hpp"
#include "sharelearn/solve/row_update.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {

class HessianBlocks;
class StepSchedule;
class SupportMemory;
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
  /// Drops every group of `width` neighbouring slots whose rows are all zero: the columns of one candidate
  /// leave together. Returns the old numbers of the slots kept, in their new order.
  std::vector<Index> drop_zero_groups(Index width);
  Index size() const { return columns_.columns() - first_; }
  Index outputs() const { return loss_.outputs(); }

  /// From now on minimise() cycles over the rows with this update instead of minimising models.
  void use_row_update(std::shared_ptr<RowUpdate> update) { row_update_ = std::move(update); }
  /// Applies one row update to one slot; scores and residual are updated, too.
  void update_slot(Index slot, double lambda) { update_row(slot + first_, lambda); }

  /// Goes on from the current weights until the gap over the active columns is at most tolerance * objective.
  ActiveSetReport minimise(double lambda, double tolerance, int max_steps = 500);
  /// Without columns: fits the bias until the residuals of every output sum to zero, as far as rounding
  /// allows.
  void polish_bias();

  /// For a checkpoint between two minimisations: everything that the next one depends on, apart from the
  /// columns themselves.
  void save(ByteWriter& out) const;
  /// The columns must have been added as they were when it was saved.
  void restore(ByteReader& in);

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
  /// Absolute duality gap, provided that no column anywhere has dual norm / cost above `largest`.
  double gap(double lambda, double largest);
  /// The gap divided by the objective; 0 if the objective is 0, since it cannot be negative.
  double relative_gap(double lambda, double largest);
  /// The largest trace, over the outputs, of the loss's second derivatives by the weights of one output.
  double largest_trace() const;
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
  std::vector<double> extrapolated(double further) const;
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
         earlier_lambda_ = 0;    ///< of the last minimisation, and of the last one at a different lambda
  std::vector<double> earlier_;  ///< the solution at earlier_lambda_
  double metric_lambda_ = 0;
  double damping_ = 1;
  double last_decrease_ = 0;  ///< of the last step: decides when to compute a gap without a dual
  double hopeful_ = 0;        ///< without a dual: half the decrease at the last gap that was too large
  bool coupled_ = false;      ///< the metric includes interactions of the outputs
  std::shared_ptr<RowUpdate> row_update_;
  std::unique_ptr<HessianBlocks> metric_;
  std::unique_ptr<SupportMemory> newton_memory_;
  bool is_exact_ = false;  ///< the tolerance asks for Newton systems in double precision
  std::unique_ptr<History> history_;
};

}  // namespace sharelearn
