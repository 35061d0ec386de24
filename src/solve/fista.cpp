#include "sharelearn/solve/fista.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sharelearn {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Working sets are used above this many columns.
constexpr Index kSmallDesign = 128;
/// Iterations between two computations of the gap.
constexpr Index kGapEvery = 10;
/// Of a loss, relative and absolute.
constexpr double kRounding = 1e-13, kAbsoluteRounding = 1e-15;

struct Values {
  double loss = 0;
  double penalty = 0;
  double objective() const { return loss + penalty; }
};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// out = a + beta (a - b), on whole grids.
void extrapolate(const Grid<double>& a, const Grid<double>& b, double beta, Grid<double>& out,
                 ThreadPool& threads) {
  threads.for_each(a.cols(), [&](Index c, int) {
    const double *from = a.column(c), *before = b.column(c);
    double* to = out.column(c);
    for (Index i = 0; i < a.rows(); ++i) to[i] = from[i] + beta * (from[i] - before[i]);
  });
}

double penalty_of(const CompositeProblem& problem, std::span<const double> weights) {
  const auto outputs = at(problem.design.outputs());
  double sum = 0;
  for (std::size_t row = 0; problem.strength > 0 && row < weights.size(); row += outputs) {
    sum += problem.penalty.value(weights.subspan(row, outputs));
  }
  return problem.strength * sum;
}

/// A row whose prox at the largest norm so far is zero has no larger one: cheaper to see than the norm
/// itself.
double largest_dual_norm(const Penalty& penalty, std::span<const double> gradient, std::size_t outputs) {
  double largest = 0;
  std::vector<double> shrunk(outputs);
  for (std::size_t row = 0; row < gradient.size(); row += outputs) {
    const auto values = gradient.subspan(row, outputs);
    std::copy(values.begin(), values.end(), shrunk.begin());
    penalty.prox(shrunk, largest);
    if (largest_magnitude(shrunk) > 0) largest = std::max(largest, penalty.dual_norm(values));
  }
  return largest;
}

/// The bound of the header, from the loss, the gradient of every row looked at, and the bias's gradient.
double gap_of(const CompositeProblem& problem, const Values& values, std::span<const double> weights,
              std::span<const double> gradient, std::span<const double> bias,
              std::span<const double> bias_gradient) {
  const auto outputs = at(problem.design.outputs());
  double slack = 0;
  for (std::size_t c = 0; c < bias.size(); ++c) slack += std::abs(bias_gradient[c]);
  slack *= 1 + largest_magnitude(bias);
  if (problem.strength == 0) {
    double sum = 0;
    for (const double g : gradient) sum += std::abs(g);
    return slack + sum * (1 + largest_magnitude(weights));
  }
  const double dual = largest_dual_norm(problem.penalty, gradient, outputs);
  const double alpha = dual > problem.strength ? problem.strength / dual : 1.0;
  return values.objective() - alpha * (values.loss - dot(gradient, weights) - slack);
}

/// FISTA on the columns of one working set.
class Inner {
 public:
  Inner(const CompositeProblem& problem, const ActiveColumns& active, std::vector<double> weights,
        std::vector<double> bias, double& curvature, ThreadPool& threads);
  /// Runs until the gap within the working set is at most `target`, or `budget` iterations are used up.
  Index run(double target, Index budget, const Monitor& monitor);
  const std::vector<double>& weights() const { return x_; }
  const std::vector<double>& bias() const { return x_bias_; }

 private:
  void gradient_at(const Grid<double>& scores);
  void extrapolated_point(double beta);
  void proximal_step();
  bool step_is_safe() const;
  bool momentum_points_uphill() const;
  double gap();
  double row_metric(std::size_t row) const { return metric_[row] * curvature_; }

  const CompositeProblem& problem_;
  const ActiveColumns& active_;
  ThreadPool& threads_;
  std::size_t outputs_;
  double& curvature_;           ///< eta: the metric is eta * diag(metric_)
  double safe_curvature_;       ///< at this eta every step is safe, whatever rounding says
  std::vector<double> metric_;  ///< a value a row of W
  std::vector<double> x_, before_, y_, next_, gradient_;
  std::vector<double> x_bias_, before_bias_, y_bias_, next_bias_, bias_gradient_;
  Grid<double> x_scores_, before_scores_, y_scores_, next_scores_, residual_;
  double y_loss_ = 0, next_loss_ = 0;
};

Inner::Inner(const CompositeProblem& problem, const ActiveColumns& active, std::vector<double> weights,
             std::vector<double> bias, double& curvature, ThreadPool& threads)
    : problem_(problem),
      active_(active),
      threads_(threads),
      outputs_(at(problem.design.outputs())),
      curvature_(curvature),
      // |sum of n + 1 terms|^2 <= (n + 1) times the sum of their squares: the columns and the bias.
      safe_curvature_(problem.loss.curvature_bound() * static_cast<double>(active.count() + 1)),
      x_(std::move(weights)),
      x_bias_(std::move(bias)) {
  double largest = 0;
  for (const Index j : active_.columns()) largest = std::max(largest, problem.design.scale(j));
  // A column without variance has no gradient either; the floor only keeps its step finite.
  const double floor = largest > 0 ? 1e-9 * largest : 1.0;
  for (const Index j : active_.columns()) metric_.push_back(std::max(problem.design.scale(j), floor));
  gradient_.resize(x_.size());
  next_ = y_ = before_ = x_;
  next_bias_ = y_bias_ = before_bias_ = x_bias_;
  x_scores_ = Grid<double>(problem.design.rows(), problem.design.score_columns());
  next_scores_ = y_scores_ = residual_ = x_scores_;
  active_.scores(x_, x_bias_, problem_.offset, x_scores_, threads_);
  before_scores_ = x_scores_;
}

void Inner::gradient_at(const Grid<double>& scores) {
  y_loss_ = evaluate(problem_.loss, scores, &residual_, threads_);
  active_.gradient(residual_, gradient_, threads_);
  if (problem_.design.has_bias()) bias_gradient_ = problem_.design.residual_sums(residual_);
}

/// y = x + beta (x - before); the scores are linear in the weights, so no product is needed.
void Inner::extrapolated_point(double beta) {
  for (std::size_t i = 0; i < x_.size(); ++i) y_[i] = x_[i] + beta * (x_[i] - before_[i]);
  for (std::size_t c = 0; c < x_bias_.size(); ++c)
    y_bias_[c] = x_bias_[c] + beta * (x_bias_[c] - before_bias_[c]);
  extrapolate(x_scores_, before_scores_, beta, y_scores_, threads_);
}

/// next = prox of y - gradient / metric.
void Inner::proximal_step() {
  for (std::size_t row = 0; row < metric_.size(); ++row) {
    const double step = 1 / row_metric(row);
    const std::span<double> to(next_.data() + row * outputs_, outputs_);
    for (std::size_t c = 0; c < outputs_; ++c) {
      to[c] = y_[row * outputs_ + c] - step * gradient_[row * outputs_ + c];
    }
    if (problem_.strength > 0) problem_.penalty.prox(to, step * problem_.strength);
  }
  for (std::size_t c = 0; c < x_bias_.size(); ++c) {
    const double share = std::max(problem_.design.share(static_cast<Index>(c)), 1e-12);
    next_bias_[c] = y_bias_[c] - bias_gradient_[c] / (curvature_ * share);
  }
  active_.scores(next_, next_bias_, problem_.offset, next_scores_, threads_);
  next_loss_ = evaluate(problem_.loss, next_scores_, nullptr, threads_);
}

/// The quadratic model at y lies above the loss at next. There is room for rounding: a loss near zero is made
/// of margins that are rounded on the scale of 1.
bool Inner::step_is_safe() const {
  double linear = 0, quadratic = 0;
  for (std::size_t row = 0; row < metric_.size(); ++row) {
    double squares = 0;
    for (std::size_t i = row * outputs_; i < (row + 1) * outputs_; ++i) {
      const double move = next_[i] - y_[i];
      linear += gradient_[i] * move;
      squares += move * move;
    }
    quadratic += row_metric(row) * squares;
  }
  for (std::size_t c = 0; c < x_bias_.size(); ++c) {
    const double move = next_bias_[c] - y_bias_[c];
    linear += bias_gradient_[c] * move;
    quadratic += curvature_ * problem_.design.share(static_cast<Index>(c)) * move * move;
  }
  return next_loss_ <= y_loss_ + linear + 0.5 * quadratic + kRounding * std::abs(y_loss_) + kAbsoluteRounding;
}

/// O'Donoghue and Candes: <y - next, next - x> > 0 in the metric of the steps.
bool Inner::momentum_points_uphill() const {
  double product = 0;
  for (std::size_t row = 0; row < metric_.size(); ++row) {
    double sum = 0;
    for (std::size_t i = row * outputs_; i < (row + 1) * outputs_; ++i) {
      sum += (y_[i] - next_[i]) * (next_[i] - x_[i]);
    }
    product += metric_[row] * sum;
  }
  for (std::size_t c = 0; c < x_bias_.size(); ++c) {
    product += problem_.design.share(static_cast<Index>(c)) * (y_bias_[c] - next_bias_[c]) *
               (next_bias_[c] - x_bias_[c]);
  }
  return product > 0;
}

double Inner::gap() {
  gradient_at(x_scores_);
  return gap_of(problem_, {y_loss_, penalty_of(problem_, x_)}, x_, gradient_, x_bias_, bias_gradient_);
}

Index Inner::run(double target, Index budget, const Monitor& monitor) {
  double momentum = 1, beta = 0;
  Index done = 0;
  while (done < budget && !monitor.cancelled()) {
    extrapolated_point(beta);
    gradient_at(y_scores_);
    proximal_step();
    while (curvature_ < safe_curvature_ && !step_is_safe()) {
      curvature_ = std::min(2 * curvature_, safe_curvature_);
      proximal_step();
    }
    ++done;
    const bool restart = momentum_points_uphill();
    std::swap(before_, x_), std::swap(x_, next_);
    std::swap(before_bias_, x_bias_), std::swap(x_bias_, next_bias_);
    std::swap(before_scores_, x_scores_), std::swap(x_scores_, next_scores_);
    if (restart) {
      momentum = 1, beta = 0;
      curvature_ *= 0.8;  // the curvature met so far may be more than what is left
    } else {
      const double grown = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
      beta = (momentum - 1) / grown;
      momentum = grown;
    }
    if (done % kGapEvery == 0 && gap() <= target) break;
  }
  return done;
}

/// Rows of W that matter now: those in use and, above the strength, those whose gradient asks to come in.
std::vector<Index> working_set(const CompositeProblem& problem, std::span<const double> weights,
                               std::span<const double> gradient) {
  const Index columns = problem.design.columns(), outputs = problem.design.outputs();
  std::vector<Index> set(at(columns));
  std::iota(set.begin(), set.end(), Index{0});
  if (columns <= kSmallDesign || problem.strength == 0) return set;
  set.clear();
  std::vector<std::pair<double, Index>> asking;
  for (Index j = 0; j < columns; ++j) {
    const auto row = weights.subspan(at(j * outputs), at(outputs));
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) {
      set.push_back(j);
      continue;
    }
    const double norm = problem.penalty.dual_norm(gradient.subspan(at(j * outputs), at(outputs)));
    if (norm > problem.strength) asking.emplace_back(-norm, j);
  }
  const std::size_t room = std::max<std::size_t>(set.size(), at(kSmallDesign) / 2);
  std::sort(asking.begin(), asking.end());
  for (std::size_t a = 0; a < std::min(room, asking.size()); ++a) set.push_back(asking[a].second);
  std::sort(set.begin(), set.end());
  return set;
}

std::vector<double> gather(std::span<const double> weights, const std::vector<Index>& columns,
                           Index outputs) {
  std::vector<double> out;
  out.reserve(columns.size() * at(outputs));
  for (const Index j : columns) {
    const auto row = weights.subspan(at(j * outputs), at(outputs));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

void scatter(std::span<const double> from, const std::vector<Index>& columns, Index outputs,
             std::vector<double>& weights) {
  for (std::size_t a = 0; a < columns.size(); ++a) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(a) * outputs, outputs,
                weights.begin() + columns[a] * outputs);
  }
}

std::vector<Index> used_columns(std::span<const double> weights, Index outputs) {
  std::vector<Index> used;
  for (Index j = 0; j * outputs < static_cast<Index>(weights.size()); ++j) {
    const auto row = weights.subspan(at(j * outputs), at(outputs));
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) used.push_back(j);
  }
  return used;
}

/// The point as a whole: its values, the gradient of every column and the gap.
struct Outlook {
  Values values;
  std::vector<double> gradient;
  std::vector<double> bias_gradient;
  double gap = 0;
};

Outlook look(const CompositeProblem& problem, const CompositePoint& point, ThreadPool& threads) {
  const Design& design = problem.design;
  Grid<double> scores(design.rows(), design.score_columns());
  Grid<double> residual = scores;
  const ActiveColumns used(design, used_columns(point.weights, design.outputs()));
  used.scores(gather(point.weights, used.columns(), design.outputs()), point.bias, problem.offset, scores,
              threads);
  Outlook out;
  out.values = {evaluate(problem.loss, scores, &residual, threads), penalty_of(problem, point.weights)};
  out.gradient.resize(point.weights.size());
  design.gradient(residual, out.gradient, threads);
  if (design.has_bias()) out.bias_gradient = design.residual_sums(residual);
  out.gap = gap_of(problem, out.values, point.weights, out.gradient, point.bias, out.bias_gradient);
  return out;
}

}  // namespace

CompositePoint zero_point(const Design& design) {
  return {std::vector<double>(at(design.columns() * design.outputs()), 0.0),
          std::vector<double>(design.has_bias() ? at(design.outputs()) : 0, 0.0)};
}

FistaReport minimise_fista(const CompositeProblem& problem, CompositePoint& point,
                           const FistaOptions& options, Context& context) {
  const Index outputs = problem.design.outputs();
  point.bias = problem.design.centred_bias(point.bias, point.weights);
  double curvature = 0.1 * problem.loss.curvature_bound();
  FistaReport report;
  double smallest = 0;  // below this an objective counts as zero
  for (;;) {
    const Outlook now = look(problem, point, context.threads);
    if (report.iterations == 0) smallest = 1e-6 * now.values.objective();
    const double enough = options.tolerance * std::max(now.values.objective(), smallest);
    report.objective = now.values.objective();
    report.loss = now.values.loss;
    report.penalty = now.values.penalty;
    report.gap = now.gap;
    report.converged = now.gap <= enough;
    if (report.converged || report.iterations >= options.max_iterations || context.monitor.cancelled()) break;
    const ActiveColumns active(problem.design, working_set(problem, point.weights, now.gradient));
    Inner inner(problem, active, gather(point.weights, active.columns(), outputs), point.bias, curvature,
                context.threads);
    const double target =
        std::max(0.9 * enough, active.count() == problem.design.columns() ? 0 : 0.1 * now.gap);
    report.iterations += inner.run(target, options.max_iterations - report.iterations, context.monitor);
    scatter(inner.weights(), active.columns(), outputs, point.weights);
    point.bias = inner.bias();
  }
  point.bias = problem.design.true_bias(point.bias, point.weights);
  return report;
}

double largest_strength(const CompositeProblem& problem, Context& context) {
  const Index outputs = problem.design.outputs();
  CompositePoint point = zero_point(problem.design);
  if (problem.design.has_bias()) {
    const ActiveColumns none(problem.design, {});
    double curvature = 0.1 * problem.loss.curvature_bound();
    Inner bias_only(problem, none, {}, point.bias, curvature, context.threads);
    bias_only.run(1e-10, 500, context.monitor);
    point.bias = bias_only.bias();
  }
  const Outlook now = look(problem, point, context.threads);
  return largest_dual_norm(problem.penalty, now.gradient, at(outputs));
}

}  // namespace sharelearn
