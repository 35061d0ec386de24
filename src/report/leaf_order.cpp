#include "report/leaf_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sharelearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A square table of doubles.
class Square {
 public:
  explicit Square(std::size_t n) : n_(n), values_(n * n, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return values_[i * n_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

/// A node of the clustering: two children, or one leaf.
struct Node {
  std::size_t left = 0, right = 0;
  std::vector<std::size_t> leaves;
};

Square distances(const std::vector<std::vector<double>>& items) {
  Square result(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t d = 0; d < items[i].size(); ++d) {
        sum += (items[i][d] - items[j][d]) * (items[i][d] - items[j][d]);
      }
      result(i, j) = result(j, i) = std::sqrt(sum);
    }
  }
  return result;
}

/// Clusters of average linkage by chains of nearest neighbours: O(n^2). `between` is used up. Leaves come
/// first in the result, then merged nodes; the last is the root.
std::vector<Node> average_linkage(Square between, std::size_t n) {
  std::vector<Node> nodes(n);
  for (std::size_t i = 0; i < n; ++i) nodes[i].leaves = {i};
  std::vector<std::size_t> node_at(n), active(n), chain;  // a cluster lives in the slot of one of its leaves
  std::iota(node_at.begin(), node_at.end(), std::size_t{0});
  active = node_at;
  while (active.size() > 1) {
    if (chain.empty()) chain.push_back(active.front());
    const std::size_t top = chain.back();
    const std::size_t before = chain.size() > 1 ? chain[chain.size() - 2] : n;
    std::size_t nearest = before;  // ties go back along the chain, so that it ends
    double least = before < n ? between(top, before) : kInfinity;
    for (const std::size_t other : active) {
      if (other == top || between(top, other) >= least) continue;
      least = between(top, other);
      nearest = other;
    }
    if (nearest == n) nearest = active[active.front() == top ? 1 : 0];  // distances that are not finite
    if (nearest != before) {
      chain.push_back(nearest);
      continue;
    }
    chain.resize(chain.size() - 2);
    const Node &a = nodes[node_at[top]], &b = nodes[node_at[nearest]];
    const auto size_a = static_cast<double>(a.leaves.size()), size_b = static_cast<double>(b.leaves.size());
    for (const std::size_t other : active) {
      between(nearest, other) = between(other, nearest) =
          (size_a * between(top, other) + size_b * between(nearest, other)) / (size_a + size_b);
    }
    Node merged{node_at[top], node_at[nearest], a.leaves};
    merged.leaves.insert(merged.leaves.end(), b.leaves.begin(), b.leaves.end());
    node_at[nearest] = nodes.size();
    nodes.push_back(std::move(merged));
    std::erase(active, top);
  }
  return nodes;
}

/// The dynamic programme of [BarJoseph01]: best(u, w) is the least length of an order of a node's leaves that
/// begins with u and ends with w, u and w on different sides of the node.
class OptimalOrder {
 public:
  OptimalOrder(const std::vector<Node>& nodes, const Square& distance, std::size_t leaves)
      : nodes_(nodes), distance_(distance), best_(leaves), leaves_(leaves) {}

  std::vector<std::size_t> solve() {
    for (std::size_t v = leaves_; v < nodes_.size(); ++v) merge(v);
    const Node& root = nodes_.back();
    std::size_t first = 0, last = 0;
    double least = kInfinity;
    for (const std::size_t u : nodes_[root.left].leaves) {
      for (const std::size_t w : nodes_[root.right].leaves) {
        if (best_(u, w) >= least) continue;
        least = best_(u, w);
        first = u;
        last = w;
      }
    }
    std::vector<std::size_t> order;
    write(nodes_.size() - 1, first, last, order);
    return order;
  }

 private:
  bool is_leaf(std::size_t v) const { return v < leaves_; }
  bool contains(std::size_t v, std::size_t leaf) const {
    return std::ranges::find(nodes_[v].leaves, leaf) != nodes_[v].leaves.end();
  }
  /// Leaves at which an order of v that begins with u can end: those of the child without u.
  const std::vector<std::size_t>& ends(std::size_t v, std::size_t u) const {
    if (is_leaf(v)) return nodes_[v].leaves;
    return nodes_[contains(nodes_[v].left, u) ? nodes_[v].right : nodes_[v].left].leaves;
  }

  void merge(std::size_t v) {
    const std::size_t left = nodes_[v].left, right = nodes_[v].right;
    const auto& rights = nodes_[right].leaves;
    std::vector<double> reach(leaves_);
    for (const std::size_t u : nodes_[left].leaves) {
      const auto& lefts = ends(left, u);
      for (const std::size_t k : rights) {  // the left part, and the step to k
        double least = kInfinity;
        for (const std::size_t m : lefts) least = std::min(least, best_(u, m) + distance_(m, k));
        reach[k] = least;
      }
      for (const std::size_t w : rights) {
        double least = kInfinity;
        for (const std::size_t k : ends(right, w)) least = std::min(least, reach[k] + best_(k, w));
        best_(u, w) = best_(w, u) = least;
      }
    }
  }

  /// Appends the best order of v from u to w.
  void write(std::size_t v, std::size_t u, std::size_t w, std::vector<std::size_t>& order) const {
    if (is_leaf(v)) {
      order.push_back(u);
      return;
    }
    std::size_t left = nodes_[v].left, right = nodes_[v].right;
    if (!contains(left, u)) std::swap(left, right);
    std::size_t middle = u, next = w;
    double least = kInfinity;
    for (const std::size_t m : ends(left, u)) {
      for (const std::size_t k : ends(right, w)) {
        const double length = best_(u, m) + distance_(m, k) + best_(k, w);
        if (length >= least) continue;
        least = length;
        middle = m;
        next = k;
      }
    }
    write(left, u, middle, order);
    write(right, next, w, order);
  }

  const std::vector<Node>& nodes_;
  const Square& distance_;
  Square best_;  // 0 for a leaf with itself
  std::size_t leaves_;
};

}  // namespace

std::vector<std::size_t> leaf_order(const std::vector<std::vector<double>>& items) {
  const std::size_t n = items.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (n < 3) return order;
  const Square distance = distances(items);
  const std::vector<Node> nodes = average_linkage(distance, n);
  if (n > kMostOrdered) return nodes.back().leaves;
  return OptimalOrder(nodes, distance, n).solve();
}

}  // namespace sharelearn
