#include "sharelearn/analysis/sharing_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using Vector = Competitor::Vector;
using Points = Competitor::Points;

double entry(const Vector& v, Index i) {
  const auto found = v.find(i);
  return found == v.end() ? 0 : found->second;
}

double inner(const Vector& a, const Vector& b) {
  double sum = 0;
  for (const auto& [i, v] : a) sum += v * entry(b, i);
  return sum;
}

/// <phi(a), phi(b)>.
double product(const Kernel& kernel, const Vector& a, const Vector& b) {
  if (kernel.kind == KernelKind::none) return inner(a, b);
  if (kernel.kind == KernelKind::polynomial) return kernel(inner(a, b));
  Vector difference = a;
  for (const auto& [i, v] : b) difference[i] -= v;
  return kernel(inner(difference, difference));
}

double squared(const Kernel& kernel, const Points& u) {
  double sum = 0;
  for (const Competitor::Point& a : u) {
    for (const Competitor::Point& b : u) sum += a.factor * b.factor * product(kernel, a.at, b.at);
  }
  return sum;
}

/// `[factor]` at the start of a line, which is taken off it; 1 if there is none.
double take_factor(std::string_view& line) {
  const std::size_t end = line.find(']');
  if (!line.starts_with('[') || end == std::string_view::npos) return 1;
  double factor = 1;
  const char* const last = line.data() + end;
  const auto [at, fault] = std::from_chars(line.data() + 1, last, factor);
  if (fault != std::errc() || at != last || !std::isfinite(factor)) return 1;  // a class named so
  line.remove_prefix(std::min(line.find_first_not_of(" \t", end + 1), line.size()));
  return factor;
}

/// Coordinates at which phi is evaluated: those of the example, or all if phi of 0 is not 0.
std::vector<std::pair<Index, double>> coordinates(const SharingState& state, const ExampleView& x) {
  std::vector<std::pair<Index, double>> list;
  if (!state.options.map.sparse() && state.sets.any_shared()) {
    const Index known = std::max(state.feature_count, state.sums.features());
    for (Index i = 0; i < known; ++i) list.emplace_back(i, 0);
  }
  for (std::size_t e = 0; e < x.size(); ++e) {
    const auto value = static_cast<double>(x.value[e]);
    if (x.feature[e] < list.size() && !state.options.map.sparse()) {
      list[x.feature[e]].second = value;
    } else {
      list.emplace_back(x.feature[e], value);
    }
  }
  return list;
}

}  // namespace

double Competitor::squared_norm(const Kernel& kernel) const {
  double sum = squared(kernel, common);
  for (const auto& [name, u] : own) sum += squared(kernel, u);
  for (const auto& [name, u] : group) sum += squared(kernel, u);
  return sum;
}

Competitor parse_competitor(std::string_view text, const std::string& source) {
  Competitor competitor;
  LineReader reader;
  LineExample line;
  for (Index number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const double factor = take_factor(rest);
    if (const LineProblem problem = reader.read(rest, line)) {
      throw InputError(fmt::format("{}:{}:{}: {}", source, number, problem.column, problem.message));
    }
    if (line.blank) continue;
    Vector at;
    for (std::size_t e = 0; e < line.features.index.size(); ++e)
      at[line.features.index[e]] = static_cast<double>(line.features.value[e]);
    Points& u = line.label == "*"             ? competitor.common
                : line.label.starts_with('@') ? competitor.group[std::string(line.label.substr(1))]
                                              : competitor.own[canonical_label(line.label)];
    u.push_back({std::move(at), factor});
  }
  return competitor;
}

const Points* BoundMeter::own_points(const SharingState& state, Index cls) const {
  const auto own = competitor_.own.find(state.classes[static_cast<std::size_t>(cls)]);
  return state.sets.own(cls) && own != competitor_.own.end() ? &own->second : nullptr;
}

std::vector<const Points*> BoundMeter::shared_points(const SharingState& state, Index cls) const {
  std::vector<const Points*> list;
  if (state.sets.common()) list.push_back(&competitor_.common);
  for (const std::uint32_t g : state.sets.groups_of(cls)) {
    const auto u = competitor_.group.find(state.sets.groups()[g].name);
    if (u != competitor_.group.end()) list.push_back(&u->second);
  }
  return list;
}

std::vector<double> BoundMeter::scores(const SharingState& state, const ExampleView& x) {
  const auto where = coordinates(state, x);
  std::vector<double> scores, phi(where.size());
  for (Index r = 0; r < state.class_count(); ++r) {
    std::vector<double> weight(where.size(), 0);  // sum of u over the shared sets of r
    for (const Points* u : shared_points(state, r)) {
      for (const Competitor::Point& point : *u)
        for (std::size_t i = 0; i < where.size(); ++i)
          weight[i] += point.factor * entry(point.at, where[i].first);
    }
    double sum = 0, norm = 0;
    if (state.sets.common() || !state.sets.groups_of(r).empty()) {
      for (std::size_t i = 0; i < where.size(); ++i) {
        phi[i] = state.options.map(where[i].second, state.mean(where[i].first, r));
        norm += phi[i] * phi[i];
        sum += weight[i] * phi[i];
      }
    }
    sums_.largest_norm = std::max(sums_.largest_norm, norm);
    if (const Points* own = own_points(state, r)) {
      for (const Competitor::Point& point : *own)
        for (std::size_t e = 0; e < x.size(); ++e)
          sum += point.factor * entry(point.at, x.feature[e]) * static_cast<double>(x.value[e]);
    }
    scores.push_back(sum);
  }
  return scores;
}

std::vector<double> BoundMeter::kernel_scores(const SharingState& state, const ExampleView& x) {
  const Kernel& kernel = state.options.kernel;
  const auto add = [&](double& sum, const Points& u, const Vector& at) {
    for (const Competitor::Point& point : u) sum += point.factor * product(kernel, point.at, at);
  };
  Vector plain;
  for (std::size_t e = 0; e < x.size(); ++e) plain[x.feature[e]] = static_cast<double>(x.value[e]);
  if (state.sets.any_own()) sums_.largest_norm = std::max(sums_.largest_norm, product(kernel, plain, plain));
  std::vector<double> scores;
  for (Index r = 0; r < state.class_count(); ++r) {
    double& sum = scores.emplace_back(0);
    if (const Points* own = own_points(state, r)) add(sum, *own, plain);
    if (!state.sets.common() && state.sets.groups_of(r).empty()) continue;
    Vector centred = plain;
    for (Index i = 0; i < state.sums.features(); ++i) {
      if (const double mean = state.mean(i, r); mean != 0) centred[i] -= mean;
    }
    sums_.largest_norm = std::max(sums_.largest_norm, product(kernel, centred, centred));
    for (const Points* u : shared_points(state, r)) add(sum, *u, centred);
  }
  return scores;
}

void BoundMeter::observe(const SharingState& state, const ExampleView& x, Index actual) {
  double length = 0;
  for (const float v : x.value) length += static_cast<double>(v) * static_cast<double>(v);
  if (state.sets.any_own() && !state.uses_kernel()) sums_.largest_norm = std::max(sums_.largest_norm, length);
  const std::vector<double> score = state.uses_kernel() ? kernel_scores(state, x) : scores(state, x);
  if (actual < 0 || score.size() < 2) return;
  double rival = -std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < score.size(); ++r) {
    if (static_cast<Index>(r) != actual) rival = std::max(rival, score[r]);
  }
  sums_.loss += std::max(0.0, 1 - score[static_cast<std::size_t>(actual)] + rival);
}

std::vector<std::string> BoundMeter::idle(const SharingState& state) const {
  std::vector<std::string> names;
  if (!competitor_.common.empty() && !state.sets.common()) names.push_back("*");
  for (const auto& [name, u] : competitor_.group) {
    const auto is_it = [&](const ClassGroup& group) { return group.name == name; };
    if (std::ranges::none_of(state.sets.groups(), is_it)) names.push_back("@" + name);
  }
  for (const auto& [name, u] : competitor_.own) {
    const Index cls = state.find_class(name);
    if (cls < 0 || !state.sets.own(cls)) names.push_back(name);
  }
  return names;
}

MistakeBound BoundMeter::result(const SharingState& state) const {
  MistakeBound bound;
  bound.loss = sums_.loss;
  bound.radius = 2 * std::sqrt(sums_.largest_norm);
  bound.sets = state.sets.largest_membership();
  bound.complexity = static_cast<double>(bound.sets) * 4 * sums_.largest_norm *
                     competitor_.squared_norm(state.options.kernel);
  bound.bound = bound.loss + bound.complexity + std::sqrt(bound.loss * bound.complexity);
  bound.idle = idle(state);
  return bound;
}

}  // namespace sharelearn
