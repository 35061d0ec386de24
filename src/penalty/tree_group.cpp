#include "sharelearn/penalty/tree_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

double norm_of_range(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

}  // namespace

TreeGroup::TreeGroup(const OutputTree& tree) {
  const auto nodes = static_cast<Index>(tree.parent.size());
  std::vector<double> inherited(to_size(nodes), 1.0);  // product of s over the ancestors
  std::vector<std::vector<Index>> children(to_size(nodes));
  std::vector<Index> roots;
  for (Index v = nodes - 1; v >= 0; --v) {
    const Index parent = tree.parent[to_size(v)];
    if (!(tree.height[to_size(v)] >= 0 && tree.height[to_size(v)] <= 1) || (parent >= 0 && parent <= v) ||
        parent >= nodes) {
      throw InputError("a tree of outputs needs heights in [0, 1] and parents after their children");
    }
    if (parent >= 0) {
      inherited[to_size(v)] = inherited[to_size(parent)] * tree.height[to_size(parent)];
      children[to_size(parent)].push_back(v);
    } else {
      roots.push_back(v);
    }
  }
  // Depth first: leaves come in order, and a node's range ends with that of its last child.
  const auto visit = [&](const auto& self, Index v) -> void {
    const std::size_t begin = order_.size();
    if (v < tree.leaves) order_.push_back(to_size(v));
    for (auto child = children[to_size(v)].rbegin(); child != children[to_size(v)].rend(); ++child)
      self(self, *child);
    const double own = v < tree.leaves ? 1.0 : 1 - tree.height[to_size(v)];
    const double weight = own * inherited[to_size(v)];
    if (weight > 0 && order_.size() > begin) groups_.push_back({begin, order_.size(), weight});
  };
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) visit(visit, *root);
}

double TreeGroup::value(std::span<const double> row) const {
  std::vector<double> ordered(row.size());
  for (std::size_t i = 0; i < order_.size(); ++i) ordered[i] = row[order_[i]];
  double sum = 0;
  for (const Group& group : groups_) sum += group.weight * norm_of_range(ordered, group.begin, group.end);
  return sum;
}

void TreeGroup::shrink(std::vector<double>& ordered, double step) const {
  for (const Group& group : groups_) {
    const double norm = norm_of_range(ordered, group.begin, group.end);
    const double cut = step * group.weight;
    const double factor = norm > cut ? 1 - cut / norm : 0.0;
    for (std::size_t i = group.begin; i < group.end; ++i) ordered[i] *= factor;
  }
}

void TreeGroup::prox(std::span<double> row, double step) const {
  std::vector<double> ordered(row.size());
  for (std::size_t i = 0; i < order_.size(); ++i) ordered[i] = row[order_[i]];
  shrink(ordered, step);
  for (std::size_t i = 0; i < order_.size(); ++i) row[order_[i]] = ordered[i];
}

void TreeGroup::scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const {
  const double stiffest = *std::max_element(curvature.begin(), curvature.end());
  const double softest = *std::min_element(curvature.begin(), curvature.end());
  const double root = std::sqrt(softest / stiffest);
  const double beta = (1 - root) / (1 + root);
  const std::vector<double> target(row.begin(), row.end());
  std::vector<double> x = target, y = target;
  for (int t = 0; t < 2000; ++t) {
    std::vector<double> next(row.size());
    for (std::size_t c = 0; c < row.size(); ++c)
      next[c] = y[c] - curvature[c] / stiffest * (y[c] - target[c]);
    prox(next, lambda / stiffest);
    double moved = 0, size = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      moved = std::max(moved, std::abs(next[c] - x[c]));
      size = std::max(size, std::abs(target[c]));
      y[c] = next[c] + beta * (next[c] - x[c]);
    }
    x = std::move(next);
    if (t > 0 && moved <= 1e-14 * size) break;
  }
  std::copy(x.begin(), x.end(), row.begin());
}

double TreeGroup::conjugate(std::span<const double> gradient, double lambda) const {
  return dual_norm(gradient) <= lambda ? 0 : std::numeric_limits<double>::infinity();
}

bool TreeGroup::vanishes(std::span<const double> row, double step, std::vector<double>& scratch) const {
  for (std::size_t i = 0; i < order_.size(); ++i) scratch[i] = row[order_[i]];
  shrink(scratch, step);
  return std::all_of(scratch.begin(), scratch.end(), [](double w) { return w == 0; });
}

double TreeGroup::dual_norm(std::span<const double> gradient) const {
  std::vector<double> scratch(gradient.begin(), gradient.end());
  double high = norm_of_range(scratch, 0, scratch.size());
  if (high == 0) return 0;
  double low = 0;
  while (!vanishes(gradient, high, scratch)) {
    low = high;
    high *= 2;
    if (!std::isfinite(high)) return high;
  }
  while (high - low > 1e-9 * high) {
    const double middle = 0.5 * (low + high);
    (vanishes(gradient, middle, scratch) ? high : low) = middle;
  }
  return high;
}

}  // namespace sharelearn
