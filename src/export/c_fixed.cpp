// A model in integers. The score of output c is
//
//   score_c = bias_c + sum over i of  w_ic v_i,      w_ic = round(scale W_ic unit_i 2^r_i),
//
// v_i the integer of a value, shifted right by r_i (left where r_i < 0) and rounded, |v_i| <= V_i < 2^15. One
// scale serves all outputs and checkpoints. It and the shifts r_i are chosen for the least bound on the error
// of a score:
//
//   sum over i of  |W_ic| error_i + |w_ic / scale - W_ic unit_i 2^r_i| V_i + [r_i > 0] |W_ic unit_i| 2^r_i /
//   2
//
// and half a unit of the bias. Sums stay below 2^30, so that differences of scores fit 32 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "export/c_file.hpp"
#include "export/c_fixed_walk.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr double kLargestScore = 1073741823.0;
/// sharelearn rounds values of features to float.
constexpr double kFloatRounding = 1.2e-7;

constexpr std::string_view kFixedHelpers = R"c(
#ifndef NAME_LESS
#define NAME_LESS(value, threshold, error) ((value) < (threshold))
#endif

static inline int32_t NAME_clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

/* value / 2^shift, rounded; shifts of negative numbers differ between machines. */
static inline int32_t NAME_shifted(int32_t value, int shift) {
  const uint32_t half = (uint32_t)1 << (shift - 1);
  return (int32_t)(((uint32_t)value + 0x80000000u + half) >> shift) - (int32_t)(0x80000000u >> shift);
}
FILLEDSCALED
static inline int32_t NAME_distance(const int16_t *a, const int16_t *b, int count, int shift) {
  int32_t sum = 0;
  int i;
  for (i = 0; i < count; ++i) {
    const int32_t d = (int32_t)a[i] - b[i];
    const int32_t part = shift > 0 ? NAME_shifted(d, shift) : d;
    sum += part * part;
  }
  return sum;
}

static inline int32_t NAME_dot(const int16_t *a, const int16_t *b, int count) {
  int32_t sum = 0;
  int i;
  for (i = 0; i < count; ++i) sum += (int32_t)a[i] * b[i];
  return sum;
}

static inline void NAME_sum(const int16_t *v, const NAME_weight *weights, int count, const int32_t *bias, int32_t *scores) {
  int i, c;
  for (c = 0; c < NAME_OUTPUTS; ++c) scores[c] = bias[c];
  for (i = 0; i < count; ++i, weights += NAME_OUTPUTS) {
    const int32_t value = v[i];
    if (value == 0) continue;
    for (c = 0; c < NAME_OUTPUTS; ++c) scores[c] += value * weights[c];
  }
}
)c";

constexpr std::string_view kFilled = R"c(
static inline int32_t NAME_filled(int32_t value, int32_t mean) { return value == NAME_MISSING ? mean : value; }
)c";

constexpr std::string_view kScaled = R"c(
/* value * multiplier / 2^shift, rounded. */
static inline int32_t NAME_scaled(int32_t value, int32_t multiplier, int shift) {
  const uint64_t top = (uint64_t)1 << 63, half = shift > 0 ? (uint64_t)1 << (shift - 1) : 0;
  const uint64_t product = (uint64_t)((int64_t)value * multiplier) + top + half;
  return (int32_t)((int64_t)(product >> shift) - (int64_t)(top >> shift));
}
)c";

constexpr std::string_view kExp = R"c(
/* 32767 * 2^(-y / 65536); 1 for y below 0. */
static inline int32_t NAME_exp(int32_t y) {
  int32_t whole, at, part, value;
  if (y < 0) y = 0;
  whole = y / 65536;
  if (whole > 16) return 0;
  at = y % 65536 / 1024;
  part = y % 1024;
  value = TABLE[at] - (((int32_t)TABLE[at] - TABLE[at + 1]) * part + 512) / 1024;
  return whole > 0 ? NAME_shifted(value, whole) : value;
}
)c";

constexpr std::string_view kCos = R"c(
/* 32767 * cos(turns / 65536 * 2 pi). */
static inline int32_t NAME_cos(int32_t turns) {
  uint32_t at = (uint32_t)turns & 65535u;
  int32_t value, part;
  int negative = 0;
  if (at > 32768u) at = 65536u - at;
  if (at > 16384u) {
    at = 32768u - at;
    negative = 1;
  }
  part = (int32_t)(at & 127u);
  at /= 128u;
  value = TABLE[at] - (((int32_t)TABLE[at] - TABLE[at + 1]) * part + 64) / 128;
  return negative ? -value : value;
}
)c";

/// One value of the design: its integer, and what it stands for.
struct DesignValue {
  std::string text;
  double unit, shift, most, error;  ///< real value = integer * unit + shift
};

/// Weights of one step for all values computed so far, in double.
struct StepWeights {
  std::vector<double> weights, bias;  ///< [value][output]
};

/// A choice of the scale, with the shifts that go with it.
struct ScaleChoice {
  double scale = 0, bound = std::numeric_limits<double>::infinity();
  std::vector<int> shift;
};

double size_after(const DesignValue& input, int shift) {
  return shift <= 0 ? std::ldexp(input.most, -shift) : std::floor(std::ldexp(input.most, -shift)) + 1;
}

class FixedBody {
 public:
  FixedBody(const LinearModel& model, const EarlyStop& early, int bits, std::vector<FixedColumn> columns)
      : model_(model),
        bits_(bits),
        columns_(std::move(columns)),
        wide_(is_wide()),
        walk_(model, columns_, wide_),
        steps_(early_steps(model, early)) {
    std::vector<std::string> bodies;
    for (const EarlyStep& step : steps_) {
      collect(step);
      bodies.push_back(std::exchange(walk_.body, ""));
    }
    choose();
    std::size_t written = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s) write_step(s, bodies[s], written);
  }
  CParts parts() &&;

 private:
  bool is_wide() const {
    return std::ranges::any_of(
        columns_, [](const FixedColumn& c) { return c.low < -kLargestShort || c.high > kLargestShort; });
  }
  double largest_weight() const { return bits_ == 8 ? 127 : kLargestShort; }
  void collect(const EarlyStep& step);
  void add_weights(const EarlyStep& step);
  void choose();
  ScaleChoice at_scale(double scale, int left) const;
  double bound_of(const ScaleChoice& choice) const;
  void write_step(std::size_t s, const std::string& body, std::size_t& written);
  std::string helpers();

  const LinearModel& model_;
  int bits_;
  std::vector<FixedColumn> columns_;
  bool wide_;
  FixedWalk walk_;
  std::vector<EarlyStep> steps_;
  std::vector<formula::Formula> formulas_;
  std::vector<DesignValue> inputs_;
  std::vector<std::size_t> value_end_;  ///< values computed up to each step
  std::vector<Index> features_;         ///< features up to each step
  std::vector<StepWeights> weights_;
  std::vector<double> largest_;  ///< |weight| of each value, over steps and outputs
  ScaleChoice choice_;
};

/// The integers of the step's new features.
void FixedBody::collect(const EarlyStep& step) {
  for (const std::size_t f : step.features) {
    const formula::Formula& formula = formulas_.emplace_back(model_.features[f]->formula());
    const auto* column = std::get_if<formula::Columns>(&static_cast<const formula::Node::variant&>(*formula));
    double middle = 0;
    const FixedValue v = column != nullptr && column->columns.size() == 1
                             ? walk_.centred(column->columns[0], middle)
                             : walk_.value(formula);
    for (Index i = 0; i < v.length; ++i) {
      const auto n = to_size(i);
      const double real = v.most[n] * std::abs(v.unit[n]) + std::abs(middle);
      inputs_.push_back(
          {v.at(std::to_string(i)), v.unit[n], middle, v.most[n], v.error[n] + real * kFloatRounding});
    }
  }
  value_end_.push_back(inputs_.size());
  features_.push_back((features_.empty() ? 0 : features_.back()) + std::ssize(step.features));
  add_weights(step);
}

void FixedBody::add_weights(const EarlyStep& step) {
  const std::size_t k = model_.names.size();
  StepWeights of{std::vector<double>(inputs_.size() * k, 0.0), step.weights.bias};
  largest_.resize(inputs_.size(), 0.0);
  for (std::size_t a = 0; a < step.position.size(); ++a) {
    const auto at = to_size(step.position[a]);
    for (std::size_t c = 0; c < k; ++c) {
      const double w = step.weights.weights[a * k + c];
      of.weights[at * k + c] = w;
      of.bias[c] += w * inputs_[at].shift;
      largest_[at] = std::max(largest_[at], std::abs(w));
    }
  }
  weights_.push_back(std::move(of));
}

/// The shifts with the least error at this scale; `left`: how far values may be shifted to the left, so that
/// features with large weights and small values do not limit the scale.
ScaleChoice FixedBody::at_scale(double scale, int left) const {
  ScaleChoice choice{scale, 0, {}};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const DesignValue& input = inputs_[i];
    std::optional<int> best;
    double least = std::numeric_limits<double>::infinity();
    for (int shift = -left; shift < 31; ++shift) {
      const double size = size_after(input, shift);
      const double gain = largest_[i] * std::abs(std::ldexp(input.unit, shift));
      if (size > kLargestShort) continue;
      if (gain * scale > largest_weight()) break;
      const double error = size / scale + (shift > 0 ? gain : 0);
      if (error < least) least = error, best = shift;
      if (size <= 1) break;
    }
    if (!best) return {};
    choice.shift.push_back(*best);
  }
  choice.bound = bound_of(choice);
  return choice;
}

/// The largest error of a score; infinite where sums may be too large.
double FixedBody::bound_of(const ScaleChoice& choice) const {
  const std::size_t k = model_.names.size();
  double bound = 0;
  for (const StepWeights& step : weights_) {
    for (std::size_t c = 0; c < k; ++c) {
      const double bias = step.bias[c] * choice.scale;
      double error = std::abs(std::round(bias) - bias) / choice.scale, sum = std::abs(bias) + 1;
      for (std::size_t i = 0; i * k < step.weights.size(); ++i) {
        const DesignValue& input = inputs_[i];
        const double w = step.weights[i * k + c], exact = w * std::ldexp(input.unit, choice.shift[i]);
        const double rounded = std::round(exact * choice.scale), size = size_after(input, choice.shift[i]);
        error += std::abs(w) * input.error + std::abs(rounded / choice.scale - exact) * size;
        if (choice.shift[i] > 0) error += std::abs(exact) / 2;
        sum += std::abs(rounded) * size;
      }
      if (!(sum < kLargestScore)) return std::numeric_limits<double>::infinity();
      bound = std::max(bound, error);
    }
  }
  return bound;
}

void FixedBody::choose() {
  ScaleChoice shifted;
  const auto improve = [](ScaleChoice& best, ScaleChoice choice) {
    if (choice.scale > 0 && choice.bound < best.bound) best = std::move(choice);
  };
  for (int step = -160; step <= 160; ++step) {  // four scales between 2^n and 2^(n + 1)
    const double scale = std::exp2(step / 4.0);
    improve(choice_, at_scale(scale, 0));
    improve(shifted, at_scale(scale, 14));
  }
  constexpr double kWorth = 0.67;  // a shift to the left costs an instruction per value
  if (shifted.bound < kWorth * choice_.bound) choice_ = std::move(shifted);
  if (!(choice_.scale > 0)) {
    throw InputError("the model's weights or features are too large, or too many, for integers; use float");
  }
}

/// Computes the step's values, adds up scores and, at a checkpoint, decides.
void FixedBody::write_step(std::size_t s, const std::string& body, std::size_t& written) {
  walk_.body += body;
  for (; written < value_end_[s]; ++written) {
    const int shift = choice_.shift[written];
    const std::string& text = inputs_[written].text;
    const std::string moved = shift > 0   ? fmt::format("NAME_shifted({}, {})", text, shift)
                              : shift < 0 ? fmt::format("({} * {})", text, 1 << -shift)
                                          : text;
    walk_.line(fmt::format("v[{}] = (int16_t){};", written, moved));
  }
  const std::size_t k = model_.names.size();
  std::vector<std::int32_t> weights, bias;
  for (std::size_t at = 0; at < weights_[s].weights.size(); ++at) {
    const std::size_t i = at / k;
    const double exact = weights_[s].weights[at] * std::ldexp(inputs_[i].unit, choice_.shift[i]);
    weights.push_back(static_cast<std::int32_t>(std::round(exact * choice_.scale)));
  }
  if (weights.empty()) weights.assign(k, 0);
  for (const double b : weights_[s].bias)
    bias.push_back(static_cast<std::int32_t>(std::round(b * choice_.scale)));
  const bool last = s + 1 == steps_.size();
  if (!last) walk_.line("if (early) {");
  walk_.line(fmt::format("NAME_sum(v, {}, {}, {}, scores);",
                         walk_.integers(bits_ == 8 ? "int8_t" : "int16_t", weights), value_end_[s],
                         walk_.integers("int32_t", bias)));
  if (last) return;
  const double threshold = std::clamp(std::ceil(steps_[s].threshold * choice_.scale), 0.0, 2 * kLargestScore);
  walk_.line(fmt::format("  if (NAME_margin(scores) > {:.0f}) return {};", threshold, features_[s]));
  walk_.line("}");
}

std::string FixedBody::helpers() {
  std::string text(kFixedHelpers);
  const auto replace = [](std::string& in, std::string_view what, std::string_view by) {
    for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size())) {
      in.replace(at, what.size(), by);
    }
  };
  replace(text, "NAME_weight", bits_ == 8 ? "int8_t" : "int16_t");
  replace(text, "FILLED", model_.preprocessing.means.empty() || columns_.empty() ? "" : kFilled);
  const bool scales = walk_.body.find("NAME_scaled") != std::string::npos;
  replace(text, "SCALED", scales ? kScaled : "");
  const auto add = [&](std::string_view function, const std::string& named, int entries, const auto& value) {
    std::vector<int> table;
    for (int i = 0; i < entries; ++i) table.push_back(static_cast<int>(std::round(kLargestShort * value(i))));
    text += fmt::format("\nstatic const int16_t {}[] = {{{}}};\n", named, fmt::join(table, ", "));
    walk_.table_bytes += Index{2} * entries;
    std::string code(function);
    replace(code, "TABLE", named);
    text += code;
  };
  if (walk_.uses_exp) add(kExp, "NAME_exp_table", 65, [](int i) { return std::exp2(-i / 64.0); });
  if (walk_.uses_cos) {
    const double quarter = std::acos(0.0);
    add(kCos, "NAME_cos_table", 130, [&](int i) { return std::cos(std::min(128, i) / 128.0 * quarter); });
  }
  return text;
}

CParts FixedBody::parts() && {
  CFixed fixed{choice_.scale, choice_.bound, bits_, {}, wide_, walk_.compares};
  if (!columns_.empty() && !takes_bytes(model_, walk_)) {
    for (const Index j : walk_.columns) fixed.columns.push_back(columns_[to_size(j)]);
  }
  std::string text = helpers();
  return {std::move(formulas_), std::move(walk_), std::move(text),
          inputs_.size(),       features_.back(), std::move(fixed)};
}

}  // namespace

CParts fixed_parts(const LinearModel& model, const EarlyStop& early, int weight_bits,
                   const TestVector* vector) {
  const std::vector<FixedColumn> none;  // images of bytes need no ranges
  return FixedBody(model, early, weight_bits, vector == nullptr ? none : vector->fixed).parts();
}

}  // namespace sharelearn
