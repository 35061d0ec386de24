#include "export/c_fixed_walk.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr double kLargestSum = 2147483647.0 / 2;  // of sums: half of the range, so that differences fit, too
constexpr double kNothing = 30;                   // exp(-30) is 0 in 16 bits
constexpr double kMultiplier = 1073741824.0;      // of a rescaling, at least half of it

double largest_of(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

std::string c_integer(double value) {
  return value < 0 ? fmt::format("({:.0f})", value) : fmt::format("{:.0f}", value);
}

std::vector<std::int32_t> to_integers(const std::vector<double>& values) {
  std::vector<std::int32_t> result;
  for (const double v : values) result.push_back(static_cast<std::int32_t>(v));
  return result;
}

/// How often integers of this size must be halved to be at most `most`.
int halvings(double size, double most) {
  int shift = 0;
  while (std::floor(std::ldexp(size, -shift)) + (shift > 0 ? 1 : 0) > most) ++shift;
  return shift;
}

/// The value, at most `most`.
FixedValue limited(FixedValue v, double most) {
  if (v.most[0] <= most) return v;
  v.text = fmt::format("NAME_clamp({}, 0, {})", v.text, c_integer(most));
  v.most[0] = most;
  return v;
}

void require_finite(double value) {
  if (!std::isfinite(value)) throw InputError("the model has numbers that are too large for integers");
}

}  // namespace

const FixedColumn& FixedWalk::range(Index column) const {
  if (column >= std::ssize(range_)) {
    throw InputError("integer arithmetic needs rows of data (`check`): they give the range of every column");
  }
  return range_[to_size(column)];
}

std::string FixedWalk::raw(Index column) {
  std::string x = fmt::format("x[{}]", slot(column));
  const auto& means = model_.preprocessing.means;
  if (means.empty()) return x;
  const double mean =
      std::round(std::ldexp(static_cast<double>(means[to_size(column)]), range(column).shift));
  return fmt::format("NAME_filled({}, {})", x, c_integer(mean));
}

std::string FixedWalk::clamped(Index column) {
  return fmt::format("NAME_clamp({}, {}, {})", raw(column), c_integer(range(column).low),
                     c_integer(range(column).high));
}

FixedValue FixedWalk::centred(Index column, double& middle) {
  const FixedColumn& in = range(column);
  const Scaling& scaling = model_.preprocessing.scaling;
  const double factor = scaling.is_identity() ? 1 : scaling.factor[to_size(column)];
  const double offset = scaling.is_identity() ? 0 : scaling.offset[to_size(column)];
  const double centre = std::floor((static_cast<double>(in.low) + in.high) / 2);
  const double unit = std::ldexp(factor, -in.shift);
  middle = unit * centre - offset * factor;
  const double fill = model_.preprocessing.means.empty() ? 0 : std::abs(unit) / 2;
  return {
      fmt::format("({} - {})", clamped(column), c_integer(centre)), 1, {unit}, {in.high - centre}, {fill}};
}

/// (q * 2^k - offset * 2^(shift + k)) * factor / 2^(shift + k).
FixedValue FixedWalk::scaled(Index column) {
  const FixedColumn& in = range(column);
  const Scaling& scaling = model_.preprocessing.scaling;
  const double factor = scaling.is_identity() ? 1 : scaling.factor[to_size(column)];
  const double offset = scaling.is_identity() ? 0 : scaling.offset[to_size(column)];
  const double centre = std::ldexp(offset, in.shift);
  const double spread = std::max({1.0, in.high - centre, centre - in.low});
  require_finite(spread * factor);
  if (spread > kLargestSum) throw InputError("the model's scaling does not fit the range of the data");
  int k = 0;
  while (std::ldexp(centre, k) != std::round(std::ldexp(centre, k)) &&
         std::ldexp(spread, k + 1) + 1 <= kLargestShort) {
    ++k;
  }
  const double whole = std::round(std::ldexp(centre, k));
  const double unit = std::ldexp(factor, -in.shift - k);
  const std::string times = k > 0 ? fmt::format(" * {}", 1 << k) : "";
  const double fill = model_.preprocessing.means.empty() ? 0 : std::ldexp(0.5, k);
  return {fmt::format("({}{} - {})", clamped(column), times, c_integer(whole)),
          1,
          {unit},
          {std::ceil(std::ldexp(spread, k)) + 1},
          {std::abs(unit) * (std::abs(whole - std::ldexp(centre, k)) + fill)}};
}

FixedValue FixedWalk::reduced(FixedValue v, double most) {
  std::vector<int> shift;
  for (std::size_t i = 0; i < v.most.size(); ++i) {
    shift.push_back(halvings(v.most[i], most));
    if (shift[i] == 0) continue;
    v.unit[i] = std::ldexp(v.unit[i], shift[i]);
    v.most[i] = std::floor(std::ldexp(v.most[i], -shift[i])) + 1;
    v.error[i] += std::abs(v.unit[i]) / 2;
  }
  const int highest = *std::ranges::max_element(shift);
  if (highest == 0) return v;
  std::string expression = fmt::format("NAME_shifted({}, {})", v.at("i"), highest);
  if (std::ranges::any_of(shift, [&](int s) { return s != highest; })) {
    const std::string table = integers("int8_t", shift);
    expression = fmt::format("{0}[i] > 0 ? NAME_shifted({1}, {0}[i]) : {1}", table, v.at("i"));
  }
  if (v.length > 1) return loop(std::move(v), expression);
  v.text = expression;
  return v;
}

FixedValue FixedWalk::loop(FixedValue shape, const std::string& expression) {
  const auto [known, is_new] = loops_.try_emplace(fmt::format("{} {}", shape.length, expression));
  if (is_new) {
    known->second = fresh();
    const bool narrow = largest_of(shape.most) <= kLargestShort;
    declare(narrow ? "int16_t" : "int32_t", known->second, shape.length);
    line(fmt::format("for (i = 0; i < {}; ++i) {}[i] = {}({});", shape.length, known->second,
                     narrow ? "(int16_t)" : "", expression));
  }
  shape.text = known->second;
  return shape;
}

FixedValue FixedWalk::rescaled(const FixedValue& v, double target) {
  double ratio = 0;
  for (const double unit : v.unit) ratio = std::max(ratio, std::abs(unit / target));
  require_finite(ratio);
  int shift = 0;
  while (shift < 62 && std::ldexp(ratio, shift + 1) < kMultiplier) ++shift;
  FixedValue result = v;
  std::vector<double> multiplier;
  for (std::size_t i = 0; i < v.unit.size(); ++i) {
    const double exact = std::ldexp(v.unit[i] / target, shift), rounded = std::round(exact);
    if (std::abs(rounded) > 2 * kMultiplier - 1 || v.most[i] * std::abs(v.unit[i] / target) > kLargestSum) {
      throw InputError("the model's features are too large for integers");
    }
    multiplier.push_back(rounded);
    result.unit[i] = target;
    result.error[i] += std::abs(target) * (0.5 + v.most[i] * std::ldexp(std::abs(rounded - exact), -shift));
    result.most[i] = std::ceil(v.most[i] * std::ldexp(std::abs(rounded), -shift)) + 1;
  }
  const bool same = std::ranges::all_of(multiplier, [&](double m) { return m == multiplier[0]; });
  const std::string by =
      same ? c_integer(multiplier[0]) : integers("int32_t", to_integers(multiplier)) + "[i]";
  const std::string expression = fmt::format("NAME_scaled({}, {}, {})", v.at("i"), by, shift);
  if (v.length > 1) return loop(std::move(result), expression);
  result.text = expression;
  return result;
}

FixedValue FixedWalk::operator()(const formula::Columns& n) {
  if (n.columns.size() == 1) return scaled(n.columns[0]);
  formula::Concatenation list;
  for (const Index column : n.columns) list.of.push_back(formula::make(formula::Columns{{column}}));
  return (*this)(list);
}

/// Columns as they are; all have one scale.
FixedValue FixedWalk::unscaled_columns(Index count) {
  double low = 0, high = 0;
  for (Index i = 0; i < count; ++i) {
    low = std::min<double>(low, range(i).low);
    high = std::max<double>(high, range(i).high);
  }
  const auto n = to_size(count);
  FixedValue result{"", count, std::vector<double>(n, std::ldexp(1.0, -range(0).shift)),
                    std::vector<double>(n, std::max(high, -low)), std::vector<double>(n, 0.0)};
  const std::string clamp = fmt::format("NAME_clamp(x[i], {}, {})", c_integer(low), c_integer(high));
  return loop(std::move(result), clamp);
}

FixedValue FixedWalk::scaled_columns(Index count) {
  formula::Concatenation list;
  for (Index i = 0; i < count; ++i) list.of.push_back(formula::make(formula::Columns{{i}}));
  const FixedValue own = (*this)(list);
  double size = 0;
  for (std::size_t i = 0; i < own.most.size(); ++i)
    size = std::max(size, own.most[i] * std::abs(own.unit[i]));
  const bool same = std::ranges::all_of(own.unit, [&](double unit) { return unit == own.unit[0]; });
  return same ? own : rescaled(own, size / (kLargestShort - 2));
}

/// All columns on one scale.
FixedValue FixedWalk::operator()(const formula::AllColumns& n) {
  const auto known = all_.find(n.count);
  if (known != all_.end()) return known->second;
  if (n.count == 1) return scaled(0);
  bool plain = model_.preprocessing.scaling.is_identity() && model_.preprocessing.means.empty();
  for (Index i = 0; i < n.count; ++i) plain = plain && range(i).shift == range(0).shift && slot(i) == i;
  return all_[n.count] = plain ? unscaled_columns(n.count) : scaled_columns(n.count);
}

FixedValue FixedWalk::operator()(const formula::Constant& n) {
  require_finite(n.value);
  if (n.value == 0) return {"0", 1, {1}, {0}, {0}};
  return {"1", 1, {n.value}, {1}, {0}};
}

FixedValue FixedWalk::operator()(const formula::Affine& n) {
  FixedValue v = value(n.of);
  if (n.factor == 0) return (*this)(formula::Constant{n.offset[0]});
  require_finite(n.factor);
  for (std::size_t i = 0; i < v.unit.size(); ++i) v.unit[i] *= n.factor, v.error[i] *= std::abs(n.factor);
  v.factor *= n.factor;
  if (std::ranges::all_of(n.offset, [](double offset) { return offset == 0; })) return v;
  if (v.length == 1 && n.offset.size() > 1) throw InputError("a formula has more offsets than values");
  v = reduced(std::move(v), kLargestSum / 2);
  std::vector<double> added;
  for (std::size_t i = 0; i < v.unit.size(); ++i) {
    const double exact = n.offset[n.offset.size() == 1 ? 0 : i] / v.unit[i], rounded = std::round(exact);
    if (!(std::abs(rounded) < kLargestSum / 2))
      throw InputError("a formula's offset is too large for integers");
    added.push_back(rounded);
    v.most[i] += std::abs(rounded);
    v.error[i] += std::abs((rounded - exact) * v.unit[i]);
  }
  if (v.length == 1) {
    v.text = fmt::format("({} + {})", v.text, c_integer(added[0]));
    return v;
  }
  const std::string expression =
      fmt::format("{} + {}[i]", v.at("i"), integers("int32_t", to_integers(added)));
  return loop(std::move(v), expression);
}

FixedValue FixedWalk::operator()(const formula::Sum&) {
  throw InputError("integer arithmetic cannot express a sum inside a feature; use float");
}

FixedValue FixedWalk::operator()(const formula::Product& n) {
  FixedValue all = reduced(value(n.of[0]), kLargestShort);
  for (std::size_t p = 1; p < n.of.size(); ++p) {
    const FixedValue a = reduced(std::move(all), kLargestShort), b = reduced(value(n.of[p]), kLargestShort);
    FixedValue both{"", std::max(a.length, b.length), {}, {}, {}};
    for (Index i = 0; i < both.length; ++i) {
      const std::size_t s = a.place(i), t = b.place(i);
      const double size_a = a.most[s] * std::abs(a.unit[s]), size_b = b.most[t] * std::abs(b.unit[t]);
      both.unit.push_back(a.unit[s] * b.unit[t]);
      both.most.push_back(a.most[s] * b.most[t]);
      both.error.push_back(size_a * b.error[t] + size_b * a.error[s] + a.error[s] * b.error[t]);
    }
    const std::string product = fmt::format("(int32_t){} * {}", a.at("i"), b.at("i"));
    both.text = "(" + product + ")";
    all = both.length == 1 ? std::move(both) : loop(std::move(both), product);
  }
  return all;
}

FixedValue FixedWalk::operator()(const formula::LessThan& n) {
  const auto* column = std::get_if<formula::Columns>(&static_cast<const formula::Node::variant&>(*n.of));
  if (column != nullptr && column->columns.size() == 1) {
    const Index j = column->columns[0];
    const float at = raw_threshold(model_.preprocessing.scaling, j, n.threshold);
    const double from = std::ceil(std::ldexp(static_cast<double>(at), range(j).shift));
    const double end = wide_ ? kLargestSum : kLargestShort;
    const auto& means = model_.preprocessing.means;
    std::string test = from > end     ? "1"
                       : from <= -end ? "0"
                                      : fmt::format("x[{}] < {}", slot(j), c_integer(from));
    if (!means.empty()) {
      test = fmt::format("(x[{}] == NAME_MISSING ? {} : {})", slot(j), means[to_size(j)] < at ? 1 : 0, test);
    }
    return {fmt::format("({} ? 1 : 0)", test), 1, {1}, {1}, {0}};
  }
  const FixedValue of = value(n.of);
  if (of.length != 1) throw InputError("integer arithmetic cannot compare lists; use float");
  compares = true;
  const double bound = std::ceil(n.threshold / of.unit[0]);
  const double near = of.root_error > 0
                          ? of.root_error * (2 * std::sqrt(std::max(0.0, n.threshold)) + of.root_error)
                          : of.error[0];
  require_finite(bound);
  return {fmt::format("(NAME_LESS({}, {}, {}) ? 1 : 0)", of.text,
                      c_integer(std::clamp(bound, -kLargestSum, kLargestSum)),
                      c_integer(std::min(kLargestSum, std::ceil(near / std::abs(of.unit[0])) + 1))),
          1,
          {1},
          {1},
          {0}};
}

FixedValue FixedWalk::operator()(const formula::SquaredDistance& n) {
  FixedValue of = value(n.of);
  if (of.length == 1) {
    const std::string named = fresh();
    of = reduced(std::move(of), kLargestShort);
    line(fmt::format("const int16_t {}[1] = {{(int16_t){}}};", named, of.text));
    of.text = named;
  } else if (largest_of(of.most) > kLargestShort ||
             std::ranges::any_of(of.unit, [&](double u) { return u != of.unit[0]; })) {
    double size = 0;
    for (std::size_t i = 0; i < of.most.size(); ++i) size = std::max(size, of.most[i] * std::abs(of.unit[i]));
    of = rescaled(of, size / (kLargestShort - 2));
  }
  const double unit = of.unit[0];
  require_finite(1 / unit);
  std::vector<double> point;
  double squares = 0;
  for (std::size_t i = 0; i < n.point.size(); ++i) {
    point.push_back(
        std::clamp(std::round(static_cast<double>(n.point[i]) / unit), -kLargestShort, kLargestShort));
    squares += std::pow(of.most[i] + std::abs(point[i]), 2);
  }
  int shift = 0;
  const auto terms = static_cast<double>(point.size());
  const auto sum = [&] {
    return std::pow(std::ldexp(std::sqrt(squares), -shift) + (shift > 0 ? std::sqrt(terms) : 0), 2);
  };
  while (sum() > kLargestSum) ++shift;
  double root_error = 0;  // |difference of the vectors|
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double each = of.error[i] + std::abs(static_cast<double>(n.point[i]) - point[i] * unit) +
                        (shift > 0 ? std::ldexp(std::abs(unit), shift - 1) : 0);
    root_error += each * each;
  }
  root_error = std::sqrt(root_error);
  const double real = std::ldexp(unit * unit, 2 * shift);
  const double error = root_error * (2 * std::sqrt(squares) * std::abs(unit) + root_error);
  return {fmt::format("NAME_distance({}, {}, {}, {})", of.text, integers("int16_t", to_integers(point)),
                      point.size(), shift),
          1,
          {real},
          {std::ceil(sum())},
          {error},
          root_error};
}

/// 2^-y by a table, y in units of 2^-16; exp(v) = exp(top) * 2^-((top - v) log2(e)).
FixedValue FixedWalk::operator()(const formula::Exp& n) {
  uses_exp = true;
  FixedValue of = value(n.of);
  if (of.length != 1) throw InputError("integer arithmetic cannot express exp of lists; use float");
  const double size = of.most[0] * std::abs(of.unit[0]);
  const bool distance = of.root_error > 0 && of.factor < 0;  // exp(-D / (2 sigma)): at most 1
  const double top = distance ? 0 : size;
  const double target = -std::ldexp(std::numbers::ln2, -16);
  if (distance) {
    const double nothing = std::ceil(kNothing / std::abs(of.unit[0]));
    of = limited(std::move(of), nothing);
  }
  const FixedValue y = rescaled(of, target);
  const double before = y.error[0] - of.error[0];
  const double added = std::round(-top / target);
  if (!(added < kLargestSum)) throw InputError("the model's exponents are too large for integers");
  const double argument = distance
                              ? std::sqrt(2 * std::abs(of.factor)) * std::exp(-0.5) * of.root_error + before
                              : y.error[0] + std::abs(target);
  const double height = std::exp(top);
  require_finite(height);
  constexpr double kTable = 1.5e-5 + 1.6 / kLargestShort;  // interpolation between 64 points; rounding
  return {fmt::format("NAME_exp({} + {})", y.text, c_integer(added)),
          1,
          {height / kLargestShort},
          {kLargestShort},
          {height * (argument + kTable)}};
}

/// The angle in 2^-16 of a turn, then a quarter of a cosine by a table.
FixedValue FixedWalk::operator()(const formula::Cos& n) {
  uses_cos = true;
  FixedValue v = rescaled(value(n.of), std::ldexp(2 * std::numbers::pi, -16));
  constexpr double kTable =
      2e-5 + 1.1 / kLargestShort;  // interpolation between 128 points of a quarter; rounding
  for (std::size_t i = 0; i < v.unit.size(); ++i) {
    v.unit[i] = 1 / kLargestShort, v.most[i] = kLargestShort, v.error[i] += kTable;
  }
  const std::string expression = fmt::format("NAME_cos({})", v.at("i"));
  if (v.length > 1) return loop(std::move(v), expression);
  v.text = expression;
  return v;
}

FixedValue FixedWalk::operator()(const formula::Concatenation& n) {
  FixedValue all{"", 0, {}, {}, {}};
  std::vector<std::string> entries;
  for (const auto& of : n.of) {
    const FixedValue v = value(of);
    for (Index i = 0; i < v.length; ++i) {
      entries.push_back(v.at(std::to_string(i)));
      all.unit.push_back(v.unit[to_size(i)]);
      all.most.push_back(v.most[to_size(i)]);
      all.error.push_back(v.error[to_size(i)]);
    }
  }
  all.length = std::ssize(entries);
  const std::string content = fmt::format("{}", fmt::join(entries, ";"));
  const auto known = lists_.find(content);
  if (known != lists_.end()) return known->second;
  all.text = all.length == 1 ? entries[0] : fresh();
  if (all.length > 1) {
    const bool narrow = largest_of(all.most) <= kLargestShort;
    declare(narrow ? "int16_t" : "int32_t", all.text, all.length);
    for (std::size_t i = 0; i < entries.size(); ++i)
      line(fmt::format("{}[{}] = {}({});", all.text, i, narrow ? "(int16_t)" : "", entries[i]));
  }
  return lists_[content] = all;
}

FixedValue FixedWalk::operator()(const formula::Projection& n) {
  const auto known = projections_.find(n.identity);
  if (n.identity != nullptr && known != projections_.end()) return known->second;
  FixedValue of = value(n.of);
  if (of.length == 1) throw InputError("integer arithmetic cannot project one column; use float");
  if (largest_of(of.most) > kLargestShort) of = reduced(std::move(of), kLargestShort);
  double entry = 0, sum = 0;  // of the directions in units of the values
  for (const auto& direction : n.directions) {
    double terms = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const double size = std::abs(direction[i] * of.unit[i]);
      entry = std::max(entry, size);
      terms += size * of.most[i];
    }
    sum = std::max(sum, terms);
  }
  double rest = 0;  // what rounding of the directions may add to a sum
  for (const double most : of.most) rest += most / 2;
  require_finite(sum);
  const double factor = sum > 0 ? std::min(kLargestShort / entry, (kLargestSum / 2 - rest) / sum) : 1;
  if (!(factor > 0)) throw InputError("the model projects too many columns for integers; use float");
  FixedValue result{"", std::ssize(n.directions), {}, {}, {}};
  std::vector<double> flat, offset;
  for (const auto& direction : n.directions) {
    double centre = 0, error = 0, most = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const double exact = direction[i] * of.unit[i] * factor, rounded = std::round(exact);
      flat.push_back(rounded);
      if (!n.centre.empty()) centre -= direction[i] * n.centre[i];
      error += std::abs(rounded - exact) / factor * of.most[i] + std::abs(direction[i]) * of.error[i];
      most += std::abs(rounded) * of.most[i];
    }
    const double added = std::round(centre * factor);
    if (!(std::abs(added) < kLargestSum / 2))
      throw InputError("a projection's centre is too large for integers");
    offset.push_back(added);
    result.unit.push_back(1 / factor);
    result.most.push_back(most + std::abs(added));
    result.error.push_back(error + std::abs(added / factor - centre));
  }
  const std::string call = fmt::format("NAME_dot({0}, {1} + i * {2}, {2}) + {3}[i]", of.text,
                                       integers("int16_t", to_integers(flat)), of.length,
                                       integers("int32_t", to_integers(offset)));
  result = loop(std::move(result), call);
  if (result.length == 1) result.text += "[0]";
  if (n.identity != nullptr) projections_[n.identity] = result;
  return result;
}

FixedValue FixedWalk::operator()(const formula::TemplateMaximum& n) {
  const bool bytes = n.low == 0 && n.high == 255 && model_.preprocessing.means.empty();
  if (!bytes) (void)range(n.height * n.width - 1);  // pixels that are not bytes need their scale
  return {response(n), 1, {1.0 / 255}, {255}, {0}};
}

}  // namespace sharelearn
