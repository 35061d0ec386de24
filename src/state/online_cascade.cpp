#include "sharelearn/state/online_cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/to_size.hpp"
#include "kernels/soft_rows.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {

namespace {

constexpr unsigned kHasBias = 1, kHasRidge = 2;  // in a model's file

}  // namespace

OnlineCascade::OnlineCascade(OnlineCascadeOptions options, Index outputs, Index columns, bool own_rows)
    : options_(std::move(options)), outputs_(outputs), columns_(columns), own_rows_(own_rows) {
  if (options_.mix.size() != options_.phi.size() || options_.mix.empty()) {
    throw InputError("an online cascade needs one mix and one phi per level");
  }
  if (is_multiclass(options_.loss) && outputs < 2) {
    throw InputError(fmt::format("a cascade of classes needs at least 2 of them, {} given", outputs));
  }
  if (!(options_.gamma > 0)) throw InputError(fmt::format("gamma must be above 0, {} given", options_.gamma));
  if (!(options_.ridge >= 0))
    throw InputError(fmt::format("ridge must be 0 or more, {} given", options_.ridge));
  for (std::size_t l = 0; l < options_.mix.size(); ++l) {
    Level level;
    level.mix = options_.mix[l];
    level.phi = options_.phi[l];
    level.sums = Grid<double>(outputs, columns);
    level.squares.assign(to_size(columns), 0.0);
    level.bias.assign(to_size(outputs), 0.0);
    levels_.push_back(std::move(level));
  }
  progress.last_loss.assign(levels_.size(), 0.0);
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
  return shrink / (options_.gamma * std::sqrt(t) + 2 * options_.ridge * t);
}

std::vector<double> OnlineCascade::scores(std::span<const std::uint32_t> column, std::span<const float> value,
                                          Index levels) const {
  std::vector<double> out(to_size(outputs_), 0.0);
  for (Index l = 0; l < std::min(levels, this->levels()) && progress.steps > 0; ++l) {
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
  AlignedVector<double> row(to_size((outputs_ + 7) / 8 * 8), 0.0);  // padded for the kernel
  if (progress.steps > 0) {
    const double threshold = static_cast<double>(progress.steps) * level.phi * level.mix;
    const double scale = factor(level, progress.steps, column);
    if (scale != 0) kernels::add_soft(level.sums.column(column), outputs_, threshold, -scale, row.data());
  }
  return {row.begin(), row.begin() + outputs_};
}

std::vector<double> OnlineCascade::bias(Index l) const {
  std::vector<double> out(to_size(outputs_), 0.0);
  if (progress.steps == 0 || !options_.bias) return out;
  const double scale = -1 / (options_.gamma * std::sqrt(static_cast<double>(progress.steps)));
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = scale * levels_[to_size(l)].bias[c];
  return out;
}

double OnlineCascade::penalty(Index l) const {
  const SparseGroup penalty(levels_[to_size(l)].mix);
  double sum = 0, squares = 0;
  for (Index j = 0; j < columns_; ++j) {
    const auto row = weights(l, j);
    sum += penalty.value(row);
    for (const double w : row) squares += w * w;
  }
  return levels_[to_size(l)].phi * sum + options_.ridge * squares;
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
  const auto t = static_cast<double>(std::max<Index>(progress.steps, 1));
  for (Index j = 0; j < columns_; ++j) {
    const double own = kernels::soft_squares(level.sums.column(j), outputs_, t * level.phi * level.mix);
    out[to_size(j)] = own / (t * t) + (level.known.empty() ? 0.0 : level.known[to_size(j)]);
  }
  return out;
}

void OnlineCascade::write(ByteWriter& out) const {
  out.u8(static_cast<std::uint8_t>(options_.loss));
  // Without a ridge the bytes are those of versions that had none.
  out.u8(static_cast<std::uint8_t>((options_.bias ? kHasBias : 0) | (options_.ridge > 0 ? kHasRidge : 0)));
  out.u8(own_rows_ ? 1 : 0);
  out.f64(options_.gamma);
  if (options_.ridge > 0) out.f64(options_.ridge);
  for (const Index number : {outputs_, columns_, steps(), examples(), mistakes(), predictions()})
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

OnlineCascade OnlineCascade::read(ByteReader& in, Index names) {
  OnlineCascadeOptions options;
  const std::uint8_t loss = in.u8();
  if (loss > static_cast<std::uint8_t>(JointLoss::multitask_logistic)) in.damaged("its loss is unknown");
  options.loss = static_cast<JointLoss>(loss);
  const std::uint8_t flags = in.u8();
  if (flags > (kHasBias | kHasRidge)) in.damaged("its options are unknown");
  options.bias = (flags & kHasBias) != 0;
  const bool own_rows = in.u8() != 0;
  options.gamma = in.f64();
  if ((flags & kHasRidge) != 0) options.ridge = in.f64();
  constexpr Index kMost = Index{1} << 40;
  const Index outputs = in.index(1, kMost), columns = in.index(0, kMost);
  if (outputs != names || (is_multiclass(options.loss) && outputs < 2)) in.damaged("its names do not fit");
  const Index steps = in.index(0, kMost), examples = in.index(0, kMost), mistakes = in.index(0, kMost),
              predictions = in.index(0, kMost);
  options.mix = in.doubles();
  options.phi = in.doubles();
  if (!(options.gamma > 0) || !(options.ridge >= 0) || options.mix.empty() ||
      options.mix.size() != options.phi.size()) {
    in.damaged("its levels do not fit");
  }
  for (std::size_t l = 0; l < options.mix.size(); ++l) {
    if (options.mix[l] < 0 || options.mix[l] > 1 || options.phi[l] < 0) in.damaged("its levels do not fit");
  }
  // Columns without weights are not in the file, so that its size says nothing of theirs.
  require_memory((static_cast<double>(outputs) + 8) * static_cast<double>(columns) *
                     static_cast<double>(options.mix.size()) * sizeof(double),
                 fmt::format("an online cascade of {} columns", columns));
  OnlineCascade cascade(std::move(options), outputs, columns, own_rows);
  cascade.progress.steps = steps, cascade.progress.examples = examples;
  cascade.progress.mistakes = mistakes, cascade.progress.predictions = predictions;
  for (Level& level : cascade.levels_) {
    level.bias = in.doubles();
    level.known = in.doubles();
    const auto used = in.indices(0, columns - 1);
    const auto squares = in.doubles();
    const auto below_zero = [](double v) { return v < 0; };
    if (!std::ranges::is_sorted(used, std::ranges::less_equal{}) ||
        std::ranges::any_of(squares, below_zero) || std::ranges::any_of(level.known, below_zero)) {
      in.damaged("a level's columns do not ascend, or a square is negative");
    }
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
