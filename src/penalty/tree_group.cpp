#include "sharelearn/penalty/tree_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "data/to_size.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

double norm_of_range(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

struct NodeLine {
  std::string name;
  double height = 0;
  std::vector<std::string> children;
  std::size_t line = 0;
};

std::vector<NodeLine> parse_lines(const std::string& text, const std::string& source) {
  std::vector<NodeLine> lines;
  std::istringstream in(text);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    NodeLine node;
    if (!(words >> node.name)) continue;
    node.line = number;
    if (!(words >> node.height)) {
      throw InputError(fmt::format("{}:{}: expected 'node height child child ...'", source, number));
    }
    if (!(node.height >= 0 && node.height <= 1)) {
      throw InputError(fmt::format("{}:{}: the height of '{}' must be from 0 to 1, found {}", source, number,
                                   node.name, node.height));
    }
    for (std::string child; words >> child;) node.children.push_back(child);
    if (node.children.empty())
      throw InputError(fmt::format("{}:{}: the node has no children", source, number));
    lines.push_back(std::move(node));
  }
  return lines;
}

}  // namespace

OutputTree parse_output_tree(const std::string& text, const std::vector<std::string>& outputs,
                             const std::string& source) {
  std::vector<NodeLine> lines = parse_lines(text, source);
  OutputTree tree;
  tree.leaves = static_cast<Index>(outputs.size());
  tree.parent.assign(outputs.size(), -1);
  tree.height.assign(outputs.size(), 0.0);
  std::map<std::string, Index> number;
  for (std::size_t c = 0; c < outputs.size(); ++c) number[outputs[c]] = static_cast<Index>(c);
  std::set<std::string> nodes;
  for (const NodeLine& line : lines) nodes.insert(line.name);
  // Outputs have canonical names: a child '1.0' that is no node is the task '1'.
  for (NodeLine& line : lines) {
    for (std::string& child : line.children) {
      if (nodes.count(child) == 0) child = canonical_label(child);
    }
  }
  // Nodes get numbers once all their children have one; what is left over is a circle or an unknown name.
  while (!lines.empty()) {
    const auto ready = std::find_if(lines.begin(), lines.end(), [&](const NodeLine& node) {
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](const auto& c) { return number.count(c); });
    });
    if (ready == lines.end()) {
      const NodeLine& node = lines.front();
      const auto child = std::find_if(node.children.begin(), node.children.end(),
                                      [&](const auto& c) { return number.count(c) == 0; });
      throw InputError(
          fmt::format("{}:{}: the child '{}' of '{}' is neither an output nor a node without circles", source,
                      node.line, *child, node.name));
    }
    const auto node = static_cast<Index>(tree.parent.size());
    if (!number.emplace(ready->name, node).second) {
      throw InputError(fmt::format("{}:{}: '{}' is defined twice", source, ready->line, ready->name));
    }
    for (const std::string& child : ready->children) {
      Index& parent = tree.parent[to_size(number[child])];
      if (parent >= 0)
        throw InputError(fmt::format("{}:{}: '{}' has two parents", source, ready->line, child));
      parent = node;
    }
    tree.parent.push_back(-1);
    tree.height.push_back(ready->height);
    lines.erase(ready);
  }
  return tree;
}

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
  // Depth first: leaves in order, a node's range ends when its last child's does.
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
