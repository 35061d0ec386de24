#include "learn/output_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <unordered_map>

#include "data/task_tree_shape.hpp"
#include "data/to_size.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

namespace {

struct NodeLine {
  std::string name;
  double height = 0;
  std::vector<std::string> children;
  std::size_t line = 0;
};

OptionError error_in(std::size_t line, const std::string& problem) {
  return {"tree", problem, line - 1};
}

std::vector<NodeLine> parse_lines(const std::string& text) {
  std::vector<NodeLine> lines;
  std::istringstream in(text);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    NodeLine node;
    if (!(words >> node.name)) continue;
    node.line = number;
    if (!(words >> node.height)) {
      throw error_in(number, "expected 'node height child child ...'");
    }
    if (!(node.height >= 0 && node.height <= 1)) {
      throw error_in(number,
                     fmt::format("the height of '{}' must be from 0 to 1, found {}", node.name, node.height));
    }
    for (std::string child; words >> child;) node.children.push_back(child);
    if (node.children.empty()) throw error_in(number, "the node has no children");
    lines.push_back(std::move(node));
  }
  return lines;
}

/// Lines left over are a circle or name unknown nodes.
void check_complete(const std::vector<NodeLine>& lines, const std::vector<std::size_t>& missing,
                    const std::map<std::string, Index>& number) {
  const auto left = std::find_if(missing.begin(), missing.end(), [](std::size_t count) { return count > 0; });
  if (left == missing.end()) return;
  const NodeLine& node = lines[to_size(left - missing.begin())];
  const auto child = std::find_if(node.children.begin(), node.children.end(),
                                  [&](const std::string& c) { return !number.contains(c); });
  throw error_in(node.line,
                 fmt::format("the child '{}' of '{}' is neither an output nor a node without circles", *child,
                             node.name));
}

/// sum over columns of products of signatures, k x k, from the signatures of one column at a time.
std::vector<double> signature_products(const MultiOutputData& data) {
  const Index k = data.outputs();
  std::vector<double> products(to_size(k * k), 0.0);
  std::vector<double> positives(to_size(k), 0.0), negatives(to_size(k), 0.0);
  const std::vector<double>& weights = data.error_weights();
  const auto mean = [](double sum, double weight) { return weight > 0 ? sum / weight : 0.0; };
  const auto sign_of = [&](Index i, Index c) -> int {
    if (data.multiclass()) return data.label[to_size(i)] == c ? 1 : -1;
    if (!data.own_rows()) return data.sign[to_size(i * k + c)];
    return i >= data.task_begin[to_size(c)] && i < data.task_begin[to_size(c + 1)] ? data.sign[to_size(i)]
                                                                                   : 0;
  };
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < data.rows(); ++i) {
      positives[to_size(c)] += sign_of(i, c) > 0 ? weights[to_size(i)] : 0;
      negatives[to_size(c)] += sign_of(i, c) < 0 ? weights[to_size(i)] : 0;
    }
  }
  std::vector<float> column(to_size(data.rows()));
  std::vector<double> signature(to_size(k));
  for (Index j = 0; j < data.x.cols(); ++j) {
    data.x.copy_column(j, column.data());
    for (Index c = 0; c < k; ++c) {
      const Index begin = data.own_rows() ? data.task_begin[to_size(c)] : 0;
      const Index end = data.own_rows() ? data.task_begin[to_size(c + 1)] : data.rows();
      double above = 0, below = 0;
      for (Index i = begin; i < end; ++i) {
        const int sign = sign_of(i, c);
        const double value = weights[to_size(i)] * static_cast<double>(column[to_size(i)]);
        above += sign > 0 ? value : 0;
        below += sign < 0 ? value : 0;
      }
      signature[to_size(c)] = mean(above, positives[to_size(c)]) - mean(below, negatives[to_size(c)]);
    }
    for (Index a = 0; a < k; ++a) {
      for (Index b = 0; b < k; ++b)
        products[to_size(a * k + b)] += signature[to_size(a)] * signature[to_size(b)];
    }
  }
  return products;
}

std::vector<double> cosine_distances(const MultiOutputData& data) {
  const Index k = data.outputs();
  const std::vector<double> products = signature_products(data);
  std::vector<double> distance(to_size(k * k), 0.0);
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b) {
      const double lengths = std::sqrt(products[to_size(a * k + a)] * products[to_size(b * k + b)]);
      distance[to_size(a * k + b)] = lengths > 0 ? 0.5 * (1 - products[to_size(a * k + b)] / lengths) : 0.5;
    }
  }
  return distance;
}

}  // namespace

OutputTree parse_output_tree(const std::string& text, const std::vector<std::string>& outputs) {
  std::vector<NodeLine> lines = parse_lines(text);
  OutputTree tree;
  tree.leaves = static_cast<Index>(outputs.size());
  tree.parent.assign(outputs.size(), -1);
  tree.height.assign(outputs.size(), 0.0);
  std::map<std::string, Index> number;
  for (std::size_t c = 0; c < outputs.size(); ++c) number[outputs[c]] = static_cast<Index>(c);
  std::set<std::string> nodes;
  for (const NodeLine& line : lines) nodes.insert(line.name);
  // Outputs have canonical names: a child '1.0' that is not a node is the task '1'.
  for (NodeLine& line : lines) {
    for (std::string& child : line.children) {
      if (nodes.count(child) == 0) child = canonical_label(child);
    }
  }
  // A node gets its number once all its children have one, in the order of the lines among those that are
  // ready. O(n log n) for n names in all.
  std::vector<std::size_t> missing(lines.size(), 0);                  // children without a number
  std::unordered_map<std::string, std::vector<std::size_t>> waiting;  // lines that wait for a child
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (const std::string& child : lines[l].children) {
      if (number.contains(child)) continue;
      ++missing[l];
      waiting[child].push_back(l);
    }
    if (missing[l] == 0) ready.push(l);
  }
  while (!ready.empty()) {
    const NodeLine& line = lines[ready.top()];
    ready.pop();
    const auto node = static_cast<Index>(tree.parent.size());
    if (!number.emplace(line.name, node).second) {
      throw error_in(line.line, fmt::format("'{}' is defined twice", line.name));
    }
    for (const std::string& child : line.children) {
      Index& parent = tree.parent[to_size(number[child])];
      if (parent >= 0) throw error_in(line.line, fmt::format("'{}' has two parents", child));
      parent = node;
    }
    tree.parent.push_back(-1);
    tree.height.push_back(line.height);
    const std::vector<std::size_t> waited = std::move(waiting[line.name]);
    for (const std::size_t l : waited) {
      if (--missing[l] == 0) ready.push(l);
    }
  }
  check_complete(lines, missing, number);
  return tree;
}

OutputTree clustered_tree(const MultiOutputData& data) {
  const Index k = data.outputs();
  std::vector<double> distance = cosine_distances(data);
  OutputTree tree{.leaves = k,
                  .parent = std::vector<Index>(to_size(k), -1),
                  .height = std::vector<double>(to_size(k), 0.0)};
  std::vector<Index> node(to_size(k)), size(to_size(k), 1);  // of the cluster stored at each place
  std::iota(node.begin(), node.end(), Index{0});
  std::vector<Index> alive = node;
  while (alive.size() > 1) {
    Index best_a = alive[0], best_b = alive[1];
    for (std::size_t i = 0; i < alive.size(); ++i) {
      for (std::size_t j = i + 1; j < alive.size(); ++j) {
        if (distance[to_size(alive[i] * k + alive[j])] < distance[to_size(best_a * k + best_b)]) {
          best_a = alive[i], best_b = alive[j];
        }
      }
    }
    const auto merged = static_cast<Index>(tree.parent.size());
    tree.parent[to_size(node[to_size(best_a)])] = tree.parent[to_size(node[to_size(best_b)])] = merged;
    tree.parent.push_back(-1);
    tree.height.push_back(distance[to_size(best_a * k + best_b)]);
    const auto share_a = static_cast<double>(size[to_size(best_a)]),
               share_b = static_cast<double>(size[to_size(best_b)]);
    for (const Index other : alive) {
      const double mean = (share_a * distance[to_size(best_a * k + other)] +
                           share_b * distance[to_size(best_b * k + other)]) /
                          (share_a + share_b);
      distance[to_size(best_a * k + other)] = distance[to_size(other * k + best_a)] = mean;
    }
    node[to_size(best_a)] = merged;
    size[to_size(best_a)] += size[to_size(best_b)];
    alive.erase(std::find(alive.begin(), alive.end(), best_b));
  }
  const double largest = *std::max_element(tree.height.begin(), tree.height.end());
  for (double& height : tree.height) height = largest > 0 ? std::min(height / largest, 1.0) : height;
  return tree;
}

OutputTree balanced_tree(const std::vector<Index>& order) {
  const auto leaves = static_cast<Index>(order.size());
  const TaskTreeShape shape = task_tree_shape(leaves);
  OutputTree tree{
      .leaves = leaves, .parent = shape.parent, .height = std::vector<double>(shape.parent.size(), 0.0)};
  for (Index place = 0; place < leaves; ++place)
    tree.parent[to_size(order[to_size(place)])] = shape.parent[to_size(place)];
  const double deepest =
      static_cast<double>(*std::max_element(shape.depth.begin(), shape.depth.end())) + (leaves == 1 ? 1 : 0);
  for (Index v = leaves; v < shape.nodes(); ++v) {
    tree.height[to_size(v)] = 1 - static_cast<double>(shape.depth[to_size(v)]) / deepest;
  }
  return tree;
}

OutputTree random_tree(Index outputs, std::uint64_t seed) {
  std::vector<Index> order(to_size(outputs));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  return balanced_tree(order);
}

}  // namespace sharelearn
