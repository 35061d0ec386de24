#include "sharelearn/analysis/regret.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/to_size.hpp"
#include "learn/multi_output_problem.hpp"
#include "learn/online_run.hpp"

namespace sharelearn {

namespace {

constexpr Index kFirstLook = 20;  // steps
/// For the comparators: late regrets are small compared with the losses whose differences they are.
constexpr double kTolerance = 1e-4, kSmoothing = 0.01;

/// The row of the data that belongs to an example of step t.
Index row_of(const MultiOutputData& data, const OnlineExample& example, Index t) {
  return data.own_rows() ? data.task_begin[to_size(example.output)] + t : t;
}

/// The rows of the first `steps` steps.
std::vector<Index> rows_of_steps(const MultiOutputData& data, Index steps) {
  std::vector<Index> rows;
  if (!data.own_rows()) {
    rows.resize(to_size(std::min(steps, data.rows())));
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }
  for (std::size_t t = 0; t + 1 < data.task_begin.size(); ++t) {
    const Index end = std::min(data.task_begin[t + 1], data.task_begin[t] + steps);
    for (Index i = data.task_begin[t]; i < end; ++i) rows.push_back(i);
  }
  return rows;
}

Grid<double> select_rows(const Grid<double>& all, std::span<const Index> rows) {
  Grid<double> out(static_cast<Index>(rows.size()), all.cols());
  for (Index c = 0; c < all.cols(); ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) out(static_cast<Index>(i), c) = all(rows[i], c);
  }
  return out;
}

/// The losses of the levels so far, and the scores of the levels above them.
class Ledger {
 public:
  Ledger(const MultiOutputData& data, Index levels)
      : data_(data),
        suffered_(to_size(levels), 0.0),
        penalty_(to_size(levels), 0.0),
        above_(to_size(levels), Grid<double>(data.rows(), data.score_columns())) {}

  /// To be called after step t; `cascade` then holds What_t^l.
  void enter(const OnlineCascade& cascade, std::span<const OnlineExample> examples, Index t) {
    for (Index l = 0; l < cascade.levels(); ++l) {
      suffered_[to_size(l)] += cascade.last_loss(l) + penalty_[to_size(l)];
      penalty_[to_size(l)] = cascade.penalty(l);
      if (l == 0) continue;  // there is no level above the first
      for (const OnlineExample& example : examples) {
        const auto scores = cascade.scores(example.column, example.value, l);
        const Index row = row_of(data_, example, t);
        for (Index c = 0; c < data_.score_columns(); ++c) {
          above_[to_size(l)](row, c) = scores[to_size(data_.own_rows() ? example.output : c)];
        }
      }
    }
  }

  double suffered(Index level) const { return suffered_[to_size(level)]; }
  /// Scores of W_t^{l-1} on the examples of step t, by rows of the data.
  const Grid<double>& above(Index level) const { return above_[to_size(level)]; }

 private:
  const MultiOutputData& data_;
  std::vector<double> suffered_, penalty_;
  std::vector<Grid<double>> above_;
};

/// The best fixed increments for the examples of the first steps, known in hindsight.
class Hindsight {
 public:
  Hindsight(const MultiOutputData& all, const CascadeOptions& options, Index steps, Context& context)
      : rows_(rows_of_steps(all, steps)),
        data_(sharelearn::select_rows(all, rows_)),
        options_(options),
        context_{context.threads, silent_monitor(), context.seed},
        rows_per_step_(static_cast<double>(rows_.size()) / static_cast<double>(steps)) {
    data_.weights.assign(rows_.size(), 1 / static_cast<double>(rows_.size()));
    // A step's loss is the sum over its examples; the batch loss is their mean.
    for (double& phi : options_.phi) phi /= rows_per_step_;
    options_.ridge /= rows_per_step_;
    options_.smoothing = kSmoothing;
    options_.tolerance = kTolerance;
    exact_ = make_loss(data_, options_.loss, 0);
  }

  Grid<double> no_scores() const { return Grid<double>(data_.rows(), data_.score_columns()); }
  Grid<double> scores_of(const Grid<double>& by_all_rows) const { return select_rows(by_all_rows, rows_); }

  /// Loss and penalty per step of the level's optimum on top of `scores`; adds the optimum's scores to them.
  double add_best(Index level, Grid<double>& scores, double& largest_size) {
    const CascadeLevel best = fit_level(data_, options_, level, scores, context_);
    double squares = 0;
    for (const auto& part : {best.increment.weights, best.increment.bias})
      for (const double w : part) squares += w * w;
    largest_size = std::max(largest_size, squares / 2);
    return rows_per_step_ * (evaluate(*exact_, scores, nullptr, context_.threads) + best.report.penalty);
  }

 private:
  std::vector<Index> rows_;
  MultiOutputData data_;
  CascadeOptions options_;
  Context context_;
  double rows_per_step_;
  std::unique_ptr<Loss> exact_;  ///< without smoothing of hinges
};

RegretPoint regret_at(const MultiOutputData& data, const CascadeOptions& options, const Ledger& ledger,
                      Index steps, Context& context) {
  Hindsight hindsight(data, options, steps, context);
  Grid<double> batch = hindsight.no_scores();
  RegretPoint point{steps, {}, {}, 0};
  for (Index l = 0; l < options.levels; ++l) {
    const double suffered = ledger.suffered(l) / static_cast<double>(steps);
    point.of_cascade.push_back(suffered - hindsight.add_best(l, batch, point.largest_size));
    if (l == 0) {
      point.of_level.push_back(point.of_cascade.back());
      continue;
    }
    Grid<double> met = hindsight.scores_of(ledger.above(l));
    point.of_level.push_back(suffered - hindsight.add_best(l, met, point.largest_size));
  }
  return point;
}

std::vector<Index> spaced_steps(Index steps, int points) {
  std::vector<Index> out;
  const auto first = static_cast<double>(std::min(kFirstLook, steps));
  for (int p = 0; p < points; ++p) {
    const double share = points > 1 ? static_cast<double>(p) / (points - 1) : 1;
    const auto at_step = std::llround(first * std::pow(static_cast<double>(steps) / first, share));
    if (out.empty() || at_step > out.back()) out.push_back(at_step);
  }
  return out;
}

}  // namespace

std::vector<RegretPoint> regret(const MultiOutputData& data, const CascadeOptions& given, double gamma,
                                int points, Context& context) {
  const CascadeOptions options = complete(given);
  OnlineSource source(data);
  OnlineCascade cascade(online_options(options, gamma), data.outputs(), data.x.cols(), data.own_rows());
  Ledger ledger(data, options.levels);
  const auto looks = spaced_steps(source.steps(), points);
  std::vector<RegretPoint> out;
  run_online(cascade, source, 0, context, [&](Index t) {
    ledger.enter(cascade, source.step(t), t);
    if (std::binary_search(looks.begin(), looks.end(), t + 1)) {
      out.push_back(regret_at(data, options, ledger, t + 1, context));
    }
    return true;
  });
  return out;
}

double largest_gradient(const MultiOutputData& data, JointLoss loss, bool bias) {
  // |residual|^2: -1 and 1 for two classes, or at most 1 for each task of a row.
  const double residual = is_multiclass(loss) ? 2 : data.own_rows() ? 1 : static_cast<double>(data.outputs());
  OnlineSource source(data);
  double largest = 0;
  for (Index t = 0; t < source.steps(); ++t) {
    double squares = 0;  // examples of one step belong to different tasks
    for (const OnlineExample& example : source.step(t)) {
      squares += bias ? 1 : 0;
      for (const float v : example.value) squares += static_cast<double>(v) * static_cast<double>(v);
    }
    largest = std::max(largest, residual * squares);
  }
  return std::sqrt(largest);
}

RegretBound regret_bound(const std::vector<RegretPoint>& points, double gradient, double gamma,
                         double ridge) {
  double size = 0;
  for (const RegretPoint& point : points) size = std::max(size, point.largest_size);
  RegretBound bound;
  bound.a = gamma * size + gradient * gradient / gamma;
  for (const RegretPoint& point : points) {
    for (const double regret : point.of_cascade)
      bound.m = std::max(bound.m, 1 - regret * std::sqrt(static_cast<double>(point.steps)) / bound.a);
  }
  const double sigma = 2 * ridge;
  bound.b = 4.0 / 3 * gradient * std::sqrt(2 * bound.m * bound.a / sigma);
  bound.c = (bound.m - 1) * bound.a;
  return bound;
}

double RegretBound::per_step(Index level, Index steps) const {
  const auto t = static_cast<double>(steps);
  const double upper = level > 1 ? static_cast<double>(level - 1) * b * std::pow(t + 1, 0.75) : 0;
  return (a * std::sqrt(t) + upper) / t;
}

}  // namespace sharelearn
