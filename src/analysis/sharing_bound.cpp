#include "sharelearn/analysis/sharing_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

double squared(const Competitor::Vector& v) {
  double sum = 0;
  for (const auto& [i, a] : v) sum += a * a;
  return sum;
}

double entry(const Competitor::Vector& v, Index i) {
  const auto found = v.find(i);
  return found == v.end() ? 0 : found->second;
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

double Competitor::squared_norm() const {
  double sum = squared(common);
  for (const auto& [name, u] : own) sum += squared(u);
  for (const auto& [name, u] : group) sum += squared(u);
  return sum;
}

Competitor parse_competitor(std::string_view text, const std::string& source) {
  Competitor competitor;
  LineReader reader;
  LineExample line;
  for (Index number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const LineProblem problem = reader.read(text.substr(0, end), line)) {
      throw InputError(fmt::format("{}:{}:{}: {}", source, number, problem.column, problem.message));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.blank) continue;
    Competitor::Vector u;
    for (std::size_t e = 0; e < line.features.index.size(); ++e) {
      u[line.features.index[e]] = static_cast<double>(line.features.value[e]);
    }
    if (line.label == "*") {
      competitor.common = std::move(u);
    } else if (line.label.starts_with('@')) {
      competitor.group[std::string(line.label.substr(1))] = std::move(u);
    } else {
      competitor.own[canonical_label(line.label)] = std::move(u);
    }
  }
  return competitor;
}

std::vector<double> BoundMeter::scores(const SharingState& state, const ExampleView& x) {
  const auto where = coordinates(state, x);
  std::vector<double> scores, phi(where.size());
  for (Index r = 0; r < state.class_count(); ++r) {
    std::vector<double> weight(where.size(), 0);  // sum of u over the shared sets of r
    const auto add = [&](const Competitor::Vector& u) {
      for (std::size_t i = 0; i < where.size(); ++i) weight[i] += entry(u, where[i].first);
    };
    if (state.sets.common()) add(competitor_.common);
    for (const std::uint32_t g : state.sets.groups_of(r)) {
      const auto u = competitor_.group.find(state.sets.groups()[g].name);
      if (u != competitor_.group.end()) add(u->second);
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
    const auto own = competitor_.own.find(state.classes[static_cast<std::size_t>(r)]);
    if (state.sets.own(r) && own != competitor_.own.end()) {
      for (std::size_t e = 0; e < x.size(); ++e)
        sum += entry(own->second, x.feature[e]) * static_cast<double>(x.value[e]);
    }
    scores.push_back(sum);
  }
  return scores;
}

void BoundMeter::observe(const SharingState& state, const ExampleView& x, Index actual) {
  double length = 0;
  for (const float v : x.value) length += static_cast<double>(v) * static_cast<double>(v);
  if (state.sets.any_own()) sums_.largest_norm = std::max(sums_.largest_norm, length);
  const std::vector<double> score = scores(state, x);
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
  bound.complexity = static_cast<double>(bound.sets) * 4 * sums_.largest_norm * competitor_.squared_norm();
  bound.bound = bound.loss + bound.complexity + std::sqrt(bound.loss * bound.complexity);
  bound.idle = idle(state);
  return bound;
}

}  // namespace sharelearn
