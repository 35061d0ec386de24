#include "sharelearn/learn/online_cascade.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "data/to_size.hpp"
#include "kernels/soft_rows.hpp"

namespace sharelearn {

namespace {

/// Columns of the examples of a step, ascending, and for each example the place of its columns among them.
struct Features {
  std::vector<std::uint32_t> column;
  std::vector<std::vector<std::uint32_t>> places;
};

/// Steps that touch at least this share of all columns look them up in a table; others sort.
constexpr std::size_t kTableShare = 16;

/// `place` becomes the place of every column that occurs; the others' entries mean nothing.
void number_columns(std::span<const OnlineExample> examples, std::vector<std::uint32_t>& place,
                    Features& out) {
  for (const OnlineExample& example : examples) {
    for (const std::uint32_t j : example.column) place[j] = 1;
  }
  for (std::uint32_t j = 0; j < place.size(); ++j) {
    if (place[j] == 0) continue;
    place[j] = static_cast<std::uint32_t>(out.column.size());
    out.column.push_back(j);
  }
}

void sort_columns(std::span<const OnlineExample> examples, Features& out) {
  for (const OnlineExample& example : examples) {
    out.column.insert(out.column.end(), example.column.begin(), example.column.end());
  }
  std::sort(out.column.begin(), out.column.end());
  out.column.erase(std::unique(out.column.begin(), out.column.end()), out.column.end());
}

Features features_of(std::span<const OnlineExample> examples, Index columns) {
  Features out;
  out.places.resize(examples.size());
  std::size_t entries = 0;
  for (std::size_t e = 0; e < examples.size(); ++e) {
    out.places[e].resize(examples[e].column.size());
    entries += examples[e].column.size();
  }
  if (examples.size() == 1) {
    out.column.assign(examples[0].column.begin(), examples[0].column.end());
    std::iota(out.places[0].begin(), out.places[0].end(), std::uint32_t{0});
    return out;
  }
  const bool many = entries >= to_size(columns) / kTableShare;
  std::vector<std::uint32_t> place(many ? to_size(columns) : 0, 0);
  if (many) {
    number_columns(examples, place, out);
  } else {
    sort_columns(examples, out);
  }
  for (std::size_t e = 0; e < examples.size(); ++e) {
    auto from = out.column.begin();
    for (std::size_t i = 0; i < examples[e].column.size(); ++i) {
      const std::uint32_t j = examples[e].column[i];
      if (!many) from = std::lower_bound(from, out.column.end(), j);
      out.places[e][i] = many ? place[j] : static_cast<std::uint32_t>(from - out.column.begin());
    }
  }
  return out;
}

/// A padded row of zeros the kernels may write to.
AlignedVector<double> zero_row(Index outputs) {
  return AlignedVector<double>(to_size((outputs + 7) / 8 * 8), 0.0);
}

/// Squares that were much larger once have lost the digits of what is left: they are added up anew whenever
/// they fall below one of the powers of 256 that 8 bits of the exponent count. The two numbers alone decide,
/// so that a learner that was stored does the same. Neither is negative.
bool lost_digits(double before, double after) {
  const auto power = [](double value) { return std::bit_cast<std::uint64_t>(value) >> 55; };
  return power(after) < power(before);  // one branch, seldom taken
}

double softplus(double z) {
  return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
}

/// Factors of the features of a step, in their order.
std::vector<double> factors(const OnlineCascade& cascade, const OnlineCascade::Level& level, Index time,
                            std::span<const std::uint32_t> features) {
  std::vector<double> out(features.size(), 0.0);
  if (time == 0) return out;
  for (std::size_t a = 0; a < features.size(); ++a) out[a] = cascade.factor(level, time, features[a]);
  return out;
}

/// out += What x of the level: all k outputs, or with own rows the example's one.
void add_scores(const OnlineCascade& cascade, const OnlineCascade::Level& level, Index time,
                const OnlineExample& example, std::span<const double> factors,
                std::span<const std::uint32_t> places, AlignedVector<double>& out) {
  if (time == 0) return;
  const OnlineCascadeOptions& options = cascade.options();
  const double threshold = static_cast<double>(time) * level.phi * level.mix;
  const double bias_factor = options.bias ? 1 / (options.gamma * std::sqrt(static_cast<double>(time))) : 0;
  const auto task = to_size(example.output);
  if (cascade.own_rows()) {
    double sum = -bias_factor * level.bias[task];
    for (std::size_t e = 0; e < example.column.size(); ++e) {
      const double u = level.sums.column(example.column[e])[task];
      const double soft = u - std::clamp(u, -threshold, threshold);
      sum -= example.value[e] * factors[places[e]] * soft;
    }
    out[task] += sum;
    return;
  }
  for (std::size_t e = 0; e < example.column.size(); ++e) {
    const double factor = factors[places[e]];
    if (factor == 0) continue;
    kernels::add_soft(level.sums.column(example.column[e]), cascade.outputs(), threshold,
                      -example.value[e] * factor, out.data());
  }
  for (Index c = 0; c < cascade.outputs(); ++c) out[to_size(c)] -= bias_factor * level.bias[to_size(c)];
}

/// Loss of one example at its scores; out gets the subgradient by score.
double residual(const OnlineCascade& cascade, const OnlineExample& example,
                const AlignedVector<double>& scores, std::vector<double>& out) {
  const JointLoss loss_kind = cascade.options().loss;
  const auto outputs = to_size(cascade.outputs());
  out.assign(outputs, 0.0);
  const auto y = to_size(example.output);
  if (loss_kind == JointLoss::multiclass_hinge) {
    std::size_t violator = y == 0 ? 1 : 0;
    for (std::size_t c = 0; c < outputs; ++c) {
      if (c != y && scores[c] > scores[violator]) violator = c;
    }
    const double loss = 1 + scores[violator] - scores[y];
    if (loss <= 0) return 0;
    out[violator] = 1, out[y] = -1;
    return loss;
  }
  if (loss_kind == JointLoss::multiclass_logistic) {
    const double top = *std::max_element(scores.begin(), scores.begin() + cascade.outputs());
    double sum = 0;
    for (std::size_t c = 0; c < outputs; ++c) sum += out[c] = std::exp(scores[c] - top);
    for (double& p : out) p /= sum;
    out[y] -= 1;
    return std::log(sum) + top - scores[y];
  }
  double total = 0;
  const auto one_task = [&](std::size_t c, double sign) {
    if (sign == 0) return;
    if (loss_kind == JointLoss::multitask_logistic) {
      out[c] = -sign / (1 + std::exp(sign * scores[c]));
      total += softplus(-sign * scores[c]);
    } else if (const double margin = 1 - sign * scores[c]; margin > 0) {
      out[c] = -sign;
      total += margin;
    }
  };
  if (cascade.own_rows()) {
    one_task(y, example.sign[0]);
  } else {
    for (std::size_t c = 0; c < outputs; ++c) one_task(c, example.sign[c]);
  }
  return total;
}

void count_mistakes(OnlineCascade& cascade, const OnlineExample& example,
                    const AlignedVector<double>& scores) {
  OnlineCascade::Progress& progress = cascade.progress;
  ++progress.examples;
  if (is_multiclass(cascade.options().loss)) {
    const auto best = std::max_element(scores.begin(), scores.begin() + cascade.outputs()) - scores.begin();
    ++progress.predictions;
    progress.mistakes += best == example.output ? 0 : 1;
    return;
  }
  const auto one_task = [&](std::size_t c, std::int8_t sign) {
    if (sign == 0) return;
    ++progress.predictions;
    progress.mistakes += (scores[c] > 0) == (sign > 0) ? 0 : 1;
  };
  if (cascade.own_rows()) return one_task(to_size(example.output), example.sign[0]);
  for (std::size_t c = 0; c < to_size(cascade.outputs()); ++c) one_task(c, example.sign[c]);
}

void learn(OnlineCascade::Level& level, Index outputs, const OnlineExample& example,
           const std::vector<double>& residual) {
  std::vector<std::size_t> moved;
  for (std::size_t c = 0; c < residual.size(); ++c) {
    if (residual[c] != 0) moved.push_back(c);
  }
  for (const std::size_t c : moved) level.bias[c] += residual[c];
  for (std::size_t e = 0; e < example.column.size(); ++e) {
    double* sums = level.sums.column(example.column[e]);
    double& squares = level.squares[example.column[e]];
    const double before = squares;
    for (const std::size_t c : moved) {
      const double change = example.value[e] * residual[c];
      squares += change * (2 * sums[c] + change);
      sums[c] += change;
    }
    squares = std::max(squares, 0.0);
    if (lost_digits(before, squares)) squares = kernels::soft_squares(sums, outputs, 0);
  }
}

}  // namespace

void online_step(OnlineCascade& cascade, std::span<const OnlineExample> examples) {
  const Features features = features_of(examples, cascade.columns());
  const Index before = cascade.steps(), now = before + 1;
  const std::size_t count = examples.size();
  // Scores of What_{t-1}^l, one row per level and example; their sum over the levels is the prediction.
  const Index levels = cascade.levels();
  std::vector<std::vector<AlignedVector<double>>> earlier(to_size(levels));
  std::vector<AlignedVector<double>> prediction(count, zero_row(cascade.outputs()));
  for (Index l = 0; l < levels; ++l) {
    const auto factor = factors(cascade, cascade.level(l), before, features.column);
    earlier[to_size(l)].assign(count, zero_row(cascade.outputs()));
    for (std::size_t e = 0; e < count; ++e) {
      add_scores(cascade, cascade.level(l), before, examples[e], factor, features.places[e],
                 earlier[to_size(l)][e]);
      for (std::size_t c = 0; c < prediction[e].size(); ++c) prediction[e][c] += earlier[to_size(l)][e][c];
    }
  }
  for (std::size_t e = 0; e < count; ++e) count_mistakes(cascade, examples[e], prediction[e]);

  std::vector<AlignedVector<double>> above(count, zero_row(cascade.outputs()));  // scores of W_t^{l-1}
  std::vector<std::vector<double>> subgradient(count);
  for (Index l = 0; l < levels; ++l) {
    double& loss = cascade.progress.last_loss[to_size(l)];
    loss = 0;
    for (std::size_t e = 0; e < count; ++e) {
      for (std::size_t c = 0; c < above[e].size(); ++c) earlier[to_size(l)][e][c] += above[e][c];
      loss += residual(cascade, examples[e], earlier[to_size(l)][e], subgradient[e]);
    }
    for (std::size_t e = 0; e < count; ++e)
      learn(cascade.level(l), cascade.outputs(), examples[e], subgradient[e]);
    if (l + 1 == levels) break;  // nothing stands above the last level
    const auto factor = factors(cascade, cascade.level(l), now, features.column);
    for (std::size_t e = 0; e < count; ++e) {
      add_scores(cascade, cascade.level(l), now, examples[e], factor, features.places[e], above[e]);
    }
  }
  cascade.progress.steps = now;
}

}  // namespace sharelearn
