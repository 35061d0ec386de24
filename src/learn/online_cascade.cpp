#include "sharelearn/learn/online_cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/to_size.hpp"
#include "kernels/soft_rows.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/run/error.hpp"

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

}  // namespace

OnlineCascade::OnlineCascade(OnlineCascadeOptions options, Index outputs, Index columns, bool own_rows)
    : options_(std::move(options)), outputs_(outputs), columns_(columns), own_rows_(own_rows) {
  if (options_.mix.size() != options_.phi.size() || options_.mix.empty()) {
    throw InputError("an online cascade needs one mix and one phi a level");
  }
  if (is_multiclass(options_.loss) && outputs < 2) {
    throw InputError(fmt::format("a cascade of classes needs at least 2 of them, {} given", outputs));
  }
  if (!(options_.gamma > 0)) throw InputError(fmt::format("gamma must be above 0, {} given", options_.gamma));
  for (std::size_t l = 0; l < options_.mix.size(); ++l) {
    Level level;
    level.mix = options_.mix[l];
    level.phi = options_.phi[l];
    level.sums = Grid<double>(outputs, columns);
    level.squares.assign(to_size(columns), 0.0);
    level.bias.assign(to_size(outputs), 0.0);
    levels_.push_back(std::move(level));
  }
  last_loss_.assign(levels_.size(), 0.0);
}

double OnlineCascade::factor(const Level& level, Index time, Index feature) const {
  const double squares = level.squares[to_size(feature)];
  const double known = level.known.empty() ? 0.0 : level.known[to_size(feature)];
  const auto t = static_cast<double>(time);
  // |Ubar_j| <= phi holds the row at zero; the margin covers the rounding of the running squares.
  const double border = t * level.phi;
  if (squares == 0 || (known == 0 && squares <= border * border * (1 - 1e-9))) return 0;
  double shrink = 1;
  if (level.mix < 1 && level.phi > 0) {
    const double soft = kernels::soft_squares(level.sums.column(feature), outputs_, border * level.mix);
    const double norm = std::sqrt(soft + known * t * t);
    shrink = std::max(0.0, 1 - border * (1 - level.mix) / norm);
  }
  return shrink / (options_.gamma * std::sqrt(t));
}

std::vector<double> OnlineCascade::factors(const Level& level, Index time,
                                           std::span<const std::uint32_t> features) const {
  std::vector<double> out(features.size(), 0.0);
  if (time == 0) return out;
  for (std::size_t a = 0; a < features.size(); ++a) out[a] = factor(level, time, features[a]);
  return out;
}

void OnlineCascade::add_scores(const Level& level, Index time, const OnlineExample& example,
                               std::span<const double> factors, std::span<const std::uint32_t> places,
                               AlignedVector<double>& out) const {
  if (time == 0) return;
  const double threshold = static_cast<double>(time) * level.phi * level.mix;
  const double bias_factor = options_.bias ? 1 / (options_.gamma * std::sqrt(static_cast<double>(time))) : 0;
  const auto task = to_size(example.output);
  if (own_rows_) {
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
    kernels::add_soft(level.sums.column(example.column[e]), outputs_, threshold, -example.value[e] * factor,
                      out.data());
  }
  for (Index c = 0; c < outputs_; ++c) out[to_size(c)] -= bias_factor * level.bias[to_size(c)];
}

double OnlineCascade::residual(const OnlineExample& example, const AlignedVector<double>& scores,
                               std::vector<double>& out) const {
  out.assign(to_size(outputs_), 0.0);
  const auto y = to_size(example.output);
  if (options_.loss == JointLoss::multiclass_hinge) {
    std::size_t violator = y == 0 ? 1 : 0;
    for (std::size_t c = 0; c < to_size(outputs_); ++c) {
      if (c != y && scores[c] > scores[violator]) violator = c;
    }
    const double loss = 1 + scores[violator] - scores[y];
    if (loss <= 0) return 0;
    out[violator] = 1, out[y] = -1;
    return loss;
  }
  if (options_.loss == JointLoss::multiclass_logistic) {
    const double top = *std::max_element(scores.begin(), scores.begin() + outputs_);
    double sum = 0;
    for (std::size_t c = 0; c < to_size(outputs_); ++c) sum += out[c] = std::exp(scores[c] - top);
    for (double& p : out) p /= sum;
    out[y] -= 1;
    return std::log(sum) + top - scores[y];
  }
  double total = 0;
  const auto one_task = [&](std::size_t c, double sign) {
    if (sign == 0) return;
    if (options_.loss == JointLoss::multitask_logistic) {
      out[c] = -sign / (1 + std::exp(sign * scores[c]));
      total += softplus(-sign * scores[c]);
    } else if (const double margin = 1 - sign * scores[c]; margin > 0) {
      out[c] = -sign;
      total += margin;
    }
  };
  if (own_rows_) {
    one_task(y, example.sign[0]);
  } else {
    for (std::size_t c = 0; c < to_size(outputs_); ++c) one_task(c, example.sign[c]);
  }
  return total;
}

void OnlineCascade::count_mistakes(const OnlineExample& example, const AlignedVector<double>& scores) {
  ++examples_;
  if (is_multiclass(options_.loss)) {
    const auto best = std::max_element(scores.begin(), scores.begin() + outputs_) - scores.begin();
    ++predictions_;
    mistakes_ += best == example.output ? 0 : 1;
    return;
  }
  const auto one_task = [&](std::size_t c, std::int8_t sign) {
    if (sign == 0) return;
    ++predictions_;
    mistakes_ += (scores[c] > 0) == (sign > 0) ? 0 : 1;
  };
  if (own_rows_) return one_task(to_size(example.output), example.sign[0]);
  for (std::size_t c = 0; c < to_size(outputs_); ++c) one_task(c, example.sign[c]);
}

void OnlineCascade::learn(Level& level, const OnlineExample& example, const std::vector<double>& residual) {
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
    if (lost_digits(before, squares)) squares = kernels::soft_squares(sums, outputs_, 0);
  }
}

void OnlineCascade::step(std::span<const OnlineExample> examples) {
  const Features features = features_of(examples, columns_);
  const Index before = steps_, now = steps_ + 1;
  const std::size_t count = examples.size();
  // Scores of What_{t-1}^l, a row a level an example; their sum over the levels is the prediction.
  std::vector<std::vector<AlignedVector<double>>> earlier(levels_.size());
  std::vector<AlignedVector<double>> prediction(count, zero_row(outputs_));
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto factor = factors(levels_[l], before, features.column);
    earlier[l].assign(count, zero_row(outputs_));
    for (std::size_t e = 0; e < count; ++e) {
      add_scores(levels_[l], before, examples[e], factor, features.places[e], earlier[l][e]);
      for (std::size_t c = 0; c < prediction[e].size(); ++c) prediction[e][c] += earlier[l][e][c];
    }
  }
  for (std::size_t e = 0; e < count; ++e) count_mistakes(examples[e], prediction[e]);

  std::vector<AlignedVector<double>> above(count, zero_row(outputs_));  // scores of W_t^{l-1}
  std::vector<std::vector<double>> subgradient(count);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    last_loss_[l] = 0;
    for (std::size_t e = 0; e < count; ++e) {
      for (std::size_t c = 0; c < above[e].size(); ++c) earlier[l][e][c] += above[e][c];
      last_loss_[l] += residual(examples[e], earlier[l][e], subgradient[e]);
    }
    for (std::size_t e = 0; e < count; ++e) learn(levels_[l], examples[e], subgradient[e]);
    if (l + 1 == levels_.size()) break;  // nothing stands above the last level
    const auto factor = factors(levels_[l], now, features.column);
    for (std::size_t e = 0; e < count; ++e) {
      add_scores(levels_[l], now, examples[e], factor, features.places[e], above[e]);
    }
  }
  steps_ = now;
}

std::vector<double> OnlineCascade::scores(std::span<const std::uint32_t> column, std::span<const float> value,
                                          Index levels) const {
  std::vector<double> out(to_size(outputs_), 0.0);
  for (Index l = 0; l < std::min(levels, this->levels()) && steps_ > 0; ++l) {
    const auto shift = bias(l);
    for (std::size_t c = 0; c < shift.size(); ++c) out[c] += shift[c];
    for (std::size_t e = 0; e < column.size(); ++e) {
      if (static_cast<Index>(column[e]) >= columns_) continue;
      const auto row = weights(l, static_cast<Index>(column[e]));
      for (std::size_t c = 0; c < row.size(); ++c) out[c] += value[e] * row[c];
    }
  }
  return out;
}

std::vector<double> OnlineCascade::weights(Index l, Index column) const {
  const Level& level = levels_[to_size(l)];
  AlignedVector<double> row = zero_row(outputs_);
  if (steps_ > 0) {
    const double threshold = static_cast<double>(steps_) * level.phi * level.mix;
    const double scale = factor(level, steps_, column);
    if (scale != 0) kernels::add_soft(level.sums.column(column), outputs_, threshold, -scale, row.data());
  }
  return {row.begin(), row.begin() + outputs_};
}

std::vector<double> OnlineCascade::bias(Index l) const {
  std::vector<double> out(to_size(outputs_), 0.0);
  if (steps_ == 0 || !options_.bias) return out;
  const double scale = -1 / (options_.gamma * std::sqrt(static_cast<double>(steps_)));
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = scale * levels_[to_size(l)].bias[c];
  return out;
}

double OnlineCascade::penalty(Index l) const {
  const SparseGroup penalty(levels_[to_size(l)].mix);
  double sum = 0;
  for (Index j = 0; j < columns_; ++j) sum += penalty.value(weights(l, j));
  return levels_[to_size(l)].phi * sum;
}

Index OnlineCascade::bytes() const {
  Index total = 0;
  for (const Level& level : levels_) {
    total += level.sums.stride() * level.sums.cols() + static_cast<Index>(level.squares.size()) +
             static_cast<Index>(level.known.size()) + outputs_;
  }
  return total * static_cast<Index>(sizeof(double));
}

void OnlineCascade::grow_columns(Index columns) {
  if (columns <= columns_) return;
  for (Level& level : levels_) {
    level.sums.append_columns(columns - columns_);
    level.squares.resize(to_size(columns), 0.0);
    if (!level.known.empty()) level.known.resize(to_size(columns), 0.0);
  }
  columns_ = columns;
}

void OnlineCascade::set_known_group(Index level, std::vector<double> squares) {
  squares.resize(to_size(columns_), 0.0);
  levels_[to_size(level)].known = std::move(squares);
}

std::vector<double> OnlineCascade::group_squares(Index l) const {
  const Level& level = levels_[to_size(l)];
  std::vector<double> out(to_size(columns_), 0.0);
  const auto t = static_cast<double>(std::max<Index>(steps_, 1));
  for (Index j = 0; j < columns_; ++j) {
    const double own = kernels::soft_squares(level.sums.column(j), outputs_, t * level.phi * level.mix);
    out[to_size(j)] = own / (t * t) + (level.known.empty() ? 0.0 : level.known[to_size(j)]);
  }
  return out;
}

void OnlineCascade::write(ByteWriter& out) const {
  out.u8(static_cast<std::uint8_t>(options_.loss));
  out.u8(options_.bias ? 1 : 0);
  out.u8(own_rows_ ? 1 : 0);
  out.f64(options_.gamma);
  for (const Index number : {outputs_, columns_, steps_, examples_, mistakes_, predictions_})
    out.index(number);
  out.doubles(options_.mix);
  out.doubles(options_.phi);
  for (const Level& level : levels_) {
    out.doubles(level.bias);
    out.doubles(level.known);
    std::vector<Index> used;
    for (Index j = 0; j < columns_; ++j) {
      const auto sums = level.sums.column_span(j);
      const bool is_used = std::any_of(sums.begin(), sums.end(), [](double u) { return u != 0; });
      if (is_used || level.squares[to_size(j)] != 0) used.push_back(j);
    }
    out.indices(used);
    std::vector<double> squares;
    for (const Index j : used) squares.push_back(level.squares[to_size(j)]);
    out.doubles(squares);
    for (const Index j : used) out.doubles(level.sums.column_span(j));
  }
}

OnlineCascade OnlineCascade::read(ByteReader& in) {
  OnlineCascadeOptions options;
  const std::uint8_t loss = in.u8();
  if (loss > static_cast<std::uint8_t>(JointLoss::multitask_logistic)) in.damaged("its loss is unknown");
  options.loss = static_cast<JointLoss>(loss);
  options.bias = in.u8() != 0;
  const bool own_rows = in.u8() != 0;
  options.gamma = in.f64();
  constexpr Index kMost = Index{1} << 40;
  const Index outputs = in.index(1, kMost), columns = in.index(0, kMost);
  const Index steps = in.index(0, kMost), examples = in.index(0, kMost), mistakes = in.index(0, kMost),
              predictions = in.index(0, kMost);
  options.mix = in.doubles();
  options.phi = in.doubles();
  if (!(options.gamma > 0) || options.mix.empty() || options.mix.size() != options.phi.size()) {
    in.damaged("its levels do not fit");
  }
  const std::size_t levels = options.mix.size();
  if (static_cast<double>(outputs) * static_cast<double>(columns) * static_cast<double>(levels) > 1e12) {
    in.damaged("its sizes are out of range");
  }
  OnlineCascade cascade(std::move(options), outputs, columns, own_rows);
  cascade.steps_ = steps, cascade.examples_ = examples;
  cascade.mistakes_ = mistakes, cascade.predictions_ = predictions;
  for (Level& level : cascade.levels_) {
    level.bias = in.doubles();
    level.known = in.doubles();
    const auto used = in.indices(0, columns - 1);
    const auto squares = in.doubles();
    if (static_cast<Index>(level.bias.size()) != outputs || squares.size() != used.size() ||
        (!level.known.empty() && static_cast<Index>(level.known.size()) != columns)) {
      in.damaged("a level's size does not fit");
    }
    for (std::size_t a = 0; a < used.size(); ++a) {
      const auto row = in.doubles();
      if (static_cast<Index>(row.size()) != outputs) in.damaged("a row's size does not fit");
      std::copy(row.begin(), row.end(), level.sums.column(used[a]));
      level.squares[to_size(used[a])] = squares[a];
    }
  }
  return cascade;
}

}  // namespace sharelearn
