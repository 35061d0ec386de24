#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "data/to_size.hpp"
#include "sharelearn/run/checkpoint.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/accelerated.hpp"
#include "solve/fista_solver.hpp"

namespace sharelearn {

namespace {

/// Working sets are used above this many columns.
constexpr Index kSmallDesign = 128;
/// Iterations between two computations of the gap.
constexpr Index kGapEvery = 10;

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

double penalty_of(const CompositeProblem& problem, std::span<const double> weights) {
  const auto outputs = to_size(problem.design.outputs());
  double sum = 0;
  for (std::size_t row = 0; problem.strength > 0 && row < weights.size(); row += outputs) {
    sum += problem.penalty.value(weights.subspan(row, outputs));
  }
  return problem.strength * sum;
}

/// A row whose prox at the largest norm so far is zero does not have a larger norm. This test is cheaper than
/// the norm itself.
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

/// sum |gradient| * radius over the weights. Each weight is measured by its column's deviation: columns of
/// any scale count the same, columns without deviation do not count.
double slack_of_weights(const Design& design, std::span<const double> weights,
                        std::span<const double> gradient) {
  const auto outputs = to_size(design.outputs());
  double share = 0;  // with own rows a scale is that of one task, whose rows have this total weight
  for (Index c = 0; c < design.outputs(); ++c) share = std::max(share, design.share(c));
  double sum = 0, largest = 0;
  for (std::size_t row = 0; row < weights.size() / outputs; ++row) {
    const double deviation = std::sqrt(design.scale(static_cast<Index>(row)) / share);
    if (deviation == 0) continue;
    for (std::size_t i = row * outputs; i < (row + 1) * outputs; ++i)
      sum += std::abs(gradient[i]) / deviation;
    largest = std::max(largest, deviation * largest_magnitude(weights.subspan(row * outputs, outputs)));
  }
  return sum * (1 + largest);
}

/// sum_j of the conjugate of strength * penalty at the rows of the gradient.
double conjugates(const CompositeProblem& problem, std::span<const double> gradient) {
  const auto outputs = to_size(problem.design.outputs());
  double sum = 0;
  for (std::size_t row = 0; row < gradient.size(); row += outputs)
    sum += problem.penalty.conjugate(gradient.subspan(row, outputs), problem.strength);
  return sum;
}

/// The bound of fista_solver.hpp, from the loss, the gradient of all rows considered, and the bias's
/// gradient.
double gap_of(const CompositeProblem& problem, const Values& values, std::span<const double> weights,
              std::span<const double> gradient, std::span<const double> bias,
              std::span<const double> bias_gradient) {
  const auto outputs = to_size(problem.design.outputs());
  double slack = 0;
  for (std::size_t c = 0; c < bias.size(); ++c) slack += std::abs(bias_gradient[c]);
  slack *= 1 + largest_magnitude(bias);
  // Without a penalty every column is in the working set: the rows of weights are those of the design.
  if (problem.strength == 0) return slack + slack_of_weights(problem.design, weights, gradient);
  const double below = values.loss - dot(gradient, weights) - slack;
  const bool needs_all = problem.penalty.zero_pattern() == ZeroPattern::nothing;
  const double dual = needs_all ? 0 : largest_dual_norm(problem.penalty, gradient, outputs);
  const double alpha = dual > problem.strength ? problem.strength / dual : 1.0;
  if (problem.penalty.is_norm()) return values.objective() - alpha * below;
  double bound = below - conjugates(problem, gradient);
  if (!needs_all) bound = std::max(bound, alpha * below);
  return values.objective() - bound;
}

/// FISTA on the columns of one working set.
class Inner {
 public:
  Inner(const CompositeProblem& problem, const ActiveColumns& active, std::vector<double> weights,
        std::vector<double> bias, double& curvature, ThreadPool& threads);
  /// Runs until the gap within the working set is at most `target`, or `budget` iterations are used up.
  /// Keeps the point of the last whole step if the run is cancelled. `done`: iterations of a run that is
  /// resumed; `save` stores what restore() does not need to be told.
  Index run(double target, Index budget, const Context& context, Index done = 0,
            const std::function<void(ByteWriter&)>& save = {});
  void restore(ByteReader& in) { steps_.restore(in); }
  const std::vector<double>& weights() const { return steps_.point().weights; }
  const std::vector<double>& bias() const { return steps_.point().free; }

  /// The interface that Accelerated requires; the free part is the bias.
  std::size_t outputs() const { return to_size(problem_.design.outputs()); }
  double lambda(std::size_t) const { return problem_.strength; }
  const Penalty& penalty() const { return problem_.penalty; }
  double share(std::size_t c) const { return problem_.design.share(static_cast<Index>(c)); }
  ThreadPool& threads() const { return threads_; }
  void scores(std::span<const double> weights, std::span<const double> bias, Grid<double>& out) const {
    active_.scores(weights, bias, problem_.offset, out, threads_);
  }
  double gradient(const Grid<double>& scores, std::vector<double>& gradient, std::vector<double>& of_bias);
  double loss(const Grid<double>& scores) const { return evaluate(problem_.loss, scores, nullptr, threads_); }

 private:
  AcceleratedPoint starting_at(std::vector<double> weights, std::vector<double> bias) const;
  std::vector<double> scales() const;
  double gap();

  const CompositeProblem& problem_;
  const ActiveColumns& active_;
  ThreadPool& threads_;
  Grid<double> residual_;
  Accelerated<Inner> steps_;
};

Inner::Inner(const CompositeProblem& problem, const ActiveColumns& active, std::vector<double> weights,
             std::vector<double> bias, double& curvature, ThreadPool& threads)
    : problem_(problem),
      active_(active),
      threads_(threads),
      residual_(problem.design.rows(), problem.design.score_columns()),
      // |sum of n + 1 terms|^2 <= (n + 1) times the sum of their squares: the columns and the bias.
      steps_(*this, scales(), starting_at(std::move(weights), std::move(bias)), curvature,
             problem.loss.curvature_bound() * static_cast<double>(active.count() + 1)) {}

AcceleratedPoint Inner::starting_at(std::vector<double> weights, std::vector<double> bias) const {
  AcceleratedPoint point{std::move(weights), std::move(bias),
                         Grid<double>(problem_.design.rows(), problem_.design.score_columns())};
  scores(point.weights, point.free, point.scores);
  return point;
}

std::vector<double> Inner::scales() const {
  std::vector<double> scales;
  for (const Index j : active_.columns()) scales.push_back(problem_.design.scale(j));
  return scales;
}

double Inner::gradient(const Grid<double>& scores, std::vector<double>& gradient,
                       std::vector<double>& of_bias) {
  const double loss = evaluate(problem_.loss, scores, &residual_, threads_);
  of_bias = active_.gradient(residual_, gradient, threads_);
  return loss;
}

double Inner::gap() {
  const AcceleratedPoint& x = steps_.point();
  std::vector<double> of_weights(x.weights.size()), of_bias;
  const double loss = gradient(x.scores, of_weights, of_bias);
  return gap_of(problem_, {loss, penalty_of(problem_, x.weights)}, x.weights, of_weights, x.free, of_bias);
}

Index Inner::run(double target, Index budget, const Context& context, Index done,
                 const std::function<void(ByteWriter&)>& save) {
  const auto state = [&](ByteWriter& out) {
    save(out);
    out.index(done);
    steps_.save(out);
  };
  try {
    while (done < budget && !context.cancelled() && steps_.step()) {
      ++done;
      if (done % kGapEvery == 0 && gap() <= target) break;
      if (save && context.checkpoint != nullptr) context.checkpoint->offer(kFistaEntry, state);
    }
  } catch (const Cancelled&) {
  }
  return done;
}

/// The working set: rows of W in use and, up to a limit, those whose dual norm exceeds the strength.
std::vector<Index> working_set(const CompositeProblem& problem, std::span<const double> weights,
                               std::span<const double> gradient) {
  const Index columns = problem.design.columns(), outputs = problem.design.outputs();
  std::vector<Index> set(to_size(columns));
  std::iota(set.begin(), set.end(), Index{0});
  const bool needs_all = problem.strength == 0 || problem.penalty.zero_pattern() == ZeroPattern::nothing;
  if (columns <= kSmallDesign || needs_all) return set;
  set.clear();
  std::vector<std::pair<double, Index>> asking;
  for (Index j = 0; j < columns; ++j) {
    const auto row = weights.subspan(to_size(j * outputs), to_size(outputs));
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) {
      set.push_back(j);
      continue;
    }
    const double norm = problem.penalty.dual_norm(gradient.subspan(to_size(j * outputs), to_size(outputs)));
    if (norm > problem.strength) asking.emplace_back(-norm, j);
  }
  const std::size_t room = std::max<std::size_t>(set.size(), to_size(kSmallDesign) / 2);
  std::sort(asking.begin(), asking.end());
  for (std::size_t a = 0; a < std::min(room, asking.size()); ++a) set.push_back(asking[a].second);
  std::sort(set.begin(), set.end());
  return set;
}

std::vector<double> gather(std::span<const double> weights, const std::vector<Index>& columns,
                           Index outputs) {
  std::vector<double> out;
  out.reserve(columns.size() * to_size(outputs));
  for (const Index j : columns) {
    const auto row = weights.subspan(to_size(j * outputs), to_size(outputs));
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
    const auto row = weights.subspan(to_size(j * outputs), to_size(outputs));
    if (std::any_of(row.begin(), row.end(), [](double w) { return w != 0; })) used.push_back(j);
  }
  return used;
}

/// The point as a whole: its values, the gradient of every column and the gap.
struct PointSummary {
  Values values;
  std::vector<double> gradient;
  std::vector<double> bias_gradient;
  double gap = 0;
};

PointSummary summary_of(const CompositeProblem& problem, const CompositePoint& point,
                        const ActiveColumns& all, ThreadPool& threads) {
  const Design& design = problem.design;
  Grid<double> scores(design.rows(), design.score_columns());
  Grid<double> residual = scores;
  const ActiveColumns used(design, used_columns(point.weights, design.outputs()));
  used.scores(gather(point.weights, used.columns(), design.outputs()), point.bias, problem.offset, scores,
              threads);
  PointSummary out;
  out.values = {evaluate(problem.loss, scores, &residual, threads), penalty_of(problem, point.weights)};
  out.gradient.resize(point.weights.size());
  out.bias_gradient = all.gradient(residual, out.gradient, threads);
  out.gap = gap_of(problem, out.values, point.weights, out.gradient, point.bias, out.bias_gradient);
  return out;
}

/// A cancelled run ends with its values, too: the threads throw only once.
PointSummary evaluate_point(const CompositeProblem& problem, const CompositePoint& point,
                            const ActiveColumns& all, ThreadPool& threads) {
  try {
    return summary_of(problem, point, all, threads);
  } catch (const Cancelled&) {
    return summary_of(problem, point, all, threads);
  }
}

/// The state of this problem in the context's checkpoint, if it has one.
std::optional<ByteReader> stored_fista(const Context& context) {
  const std::string* found = context.checkpoint != nullptr ? context.checkpoint->find(kFistaEntry) : nullptr;
  return found != nullptr ? std::optional(context.checkpoint->reader(*found)) : std::nullopt;
}

}  // namespace

CompositePoint zero_point(const Design& design) {
  return {std::vector<double>(to_size(design.columns() * design.outputs()), 0.0),
          std::vector<double>(design.has_bias() ? to_size(design.outputs()) : 0, 0.0)};
}

FistaReport minimise_fista(const CompositeProblem& problem, CompositePoint& point,
                           const FistaOptions& options, Context& context) {
  const Index outputs = problem.design.outputs();
  point.bias = problem.design.centred_bias(point.bias, point.weights);
  double curvature = 0.1 * problem.loss.curvature_bound();
  FistaReport report;
  const ActiveColumns all(problem.design);
  double smallest = 0;  // below this an objective counts as zero
  const auto save = [&](ByteWriter& out) {
    out.doubles(point.weights);
    out.doubles(point.bias);
    out.index(report.iterations);
    write_bits(out, smallest);
    write_bits(out, curvature);
  };
  std::optional<ByteReader> stored = stored_fista(context);
  if (stored) {
    point.weights = read_doubles(*stored, point.weights.size());
    point.bias = read_doubles(*stored, point.bias.size());
    report.iterations = stored->index(0, options.max_iterations);
    smallest = read_bits(*stored);
  }
  for (;;) {
    const PointSummary now = evaluate_point(problem, point, all, context.threads);
    if (report.iterations == 0) smallest = 1e-6 * now.values.objective();
    const double enough =
        options.tolerance * std::max({now.values.objective(), smallest, options.least_objective});
    report.objective = now.values.objective();
    report.loss = now.values.loss;
    report.penalty = now.values.penalty;
    report.gap = now.gap;
    report.converged = now.gap <= enough;
    if (report.converged || report.iterations >= options.max_iterations || context.cancelled()) break;
    const ActiveColumns active(problem.design, working_set(problem, point.weights, now.gradient));
    Inner inner(problem, active, gather(point.weights, active.columns(), outputs), point.bias, curvature,
                context.threads);
    const double target =
        std::max(0.9 * enough, active.count() == problem.design.columns() ? 0 : 0.1 * now.gap);
    Index done = 0;
    if (stored) {
      curvature = read_bits(*stored);
      done = stored->index(0, options.max_iterations);
      inner.restore(*stored);
      stored.reset();
    }
    report.iterations += inner.run(target, options.max_iterations - report.iterations, context, done, save);
    scatter(inner.weights(), active.columns(), outputs, point.weights);
    point.bias = inner.bias();
  }
  point.bias = problem.design.true_bias(point.bias, point.weights);
  return report;
}

EmptyPoint empty_point(const CompositeProblem& problem, Context& context) {
  const Index outputs = problem.design.outputs();
  CompositePoint point = zero_point(problem.design);
  if (problem.design.has_bias()) {
    const ActiveColumns none(problem.design, {});
    double curvature = 0.1 * problem.loss.curvature_bound();
    Inner bias_only(problem, none, {}, point.bias, curvature, context.threads);
    bias_only.run(1e-10, 500, context);
    point.bias = bias_only.bias();
  }
  const PointSummary now = evaluate_point(problem, point, ActiveColumns(problem.design), context.threads);
  return {largest_dual_norm(problem.penalty, now.gradient, to_size(outputs)),
          now.values.loss > 0 ? dot(now.gradient, now.gradient) / (4 * now.values.loss) : 0};
}

}  // namespace sharelearn
