#include "learn/output_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "data/task_tree_shape.hpp"
#include "data/to_size.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"
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

/// Sums of `value` over the rows where each output is positive, and over those where it is negative. O(m + k)
/// for classes, and for tasks with rows of their own.
struct SignSums {
  std::vector<double> above, below;

  void add(const MultiOutputData& data, const std::vector<double>& value) {
    const Index k = data.outputs();
    above.assign(to_size(k), 0.0);
    below.assign(to_size(k), 0.0);
    if (data.multiclass()) {
      double total = 0;
      for (std::size_t i = 0; i < value.size(); ++i) {
        above[to_size(data.label[i])] += value[i];
        total += value[i];
      }
      for (std::size_t c = 0; c < above.size(); ++c) below[c] = total - above[c];
      return;
    }
    for (Index c = 0; c < k; ++c) {
      const Index begin = data.own_rows() ? data.task_begin[to_size(c)] : 0;
      const Index end = data.own_rows() ? data.task_begin[to_size(c + 1)] : data.rows();
      for (Index i = begin; i < end; ++i) {
        const int sign = data.own_rows() ? data.sign[to_size(i)] : data.sign[to_size(i * k + c)];
        if (sign != 0) (sign > 0 ? above : below)[to_size(c)] += value[to_size(i)];
      }
    }
  }
};

/// An output's signature: of every column the mean over its positive rows minus that over the negative ones.
class Signatures {
 public:
  explicit Signatures(const MultiOutputData& data) : data_(data), value_(data.error_weights()) {
    weights_.add(data, value_);
  }

  /// The number of column j for all outputs.
  void of_column(Index j, std::span<double> out) {
    column_.resize(to_size(data_.rows()));
    data_.x.copy_column(j, column_.data());
    const std::vector<double>& weights = data_.error_weights();
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = weights[i] * static_cast<double>(column_[i]);
    sums_.add(data_, value_);
    const auto mean = [](double sum, double weight) { return weight > 0 ? sum / weight : 0.0; };
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] = mean(sums_.above[c], weights_.above[c]) - mean(sums_.below[c], weights_.below[c]);
  }

 private:
  const MultiOutputData& data_;
  std::vector<double> value_;
  std::vector<float> column_;
  SignSums weights_, sums_;
};

/// One number per pair of outputs a < b, row by row.
class Pairs {
 public:
  explicit Pairs(Index k) : k_(k), value_(to_size(k * (k - 1) / 2), 0.0) {}
  double& operator()(Index a, Index b) { return row(std::min(a, b))[std::abs(a - b) - 1]; }
  /// Of the pairs (a, a + 1), (a, a + 2) and so on.
  double* row(Index a) { return value_.data() + a * (2 * k_ - a - 1) / 2; }

 private:
  Index k_;
  std::vector<double> value_;
};

/// (1 - cosine) / 2 of the signatures. O(d k^2), in tiles that stay in the cache.
Pairs cosine_distances(const MultiOutputData& data) {
  constexpr Index kColumns = 32, kTile = 512;
  const Index k = data.outputs(), columns = data.x.cols();
  Pairs product(k);
  Signatures signatures(data);
  std::vector<double> lengths(to_size(k), 0.0), block(to_size(kColumns * k));
  const auto line = [&](Index j) { return std::span(block).subspan(to_size(j * k), to_size(k)); };
  for (Index first = 0; first < columns; first += kColumns) {
    const Index count = std::min(kColumns, columns - first);
    for (Index j = 0; j < count; ++j) {
      signatures.of_column(first + j, line(j));
      for (Index c = 0; c < k; ++c) lengths[to_size(c)] += line(j)[to_size(c)] * line(j)[to_size(c)];
    }
    for (Index tile = 0; tile < k; tile += kTile) {
      const Index end = std::min(tile + kTile, k);
      for (Index a = 0; a < end; ++a) {
        double* row = product.row(a);
        for (Index j = 0; j < count; ++j) {
          const double* other = line(j).data();
          for (Index b = std::max(tile, a + 1); b < end; ++b) row[b - a - 1] += other[a] * other[b];
        }
      }
    }
  }
  for (Index a = 0; a < k; ++a) {
    for (Index b = a + 1; b < k; ++b) {
      const double length = std::sqrt(lengths[to_size(a)] * lengths[to_size(b)]);
      product(a, b) = length > 0 ? 0.5 * (1 - product(a, b) / length) : 0.5;
    }
  }
  return product;
}

/// Clusters and, of each, the nearest later one (the first of equals): finding the closest pair is O(k), and
/// a merge looks again for the neighbours of those clusters only that had one of the two.
class Clusters {
 public:
  explicit Clusters(Pairs distance, Index k)
      : distance_(std::move(distance)), size_(to_size(k), 1), nearest_(to_size(k), -1), alive_(to_size(k)) {
    std::iota(alive_.begin(), alive_.end(), Index{0});
    for (std::size_t place = 0; place < alive_.size(); ++place) find_nearest(place);
  }

  Index count() const { return std::ssize(alive_); }

  /// The first of the closest pairs.
  std::pair<Index, Index> closest() {
    Index best = alive_.front();
    for (const Index a : alive_) {
      if (nearest_[to_size(a)] >= 0 && to_nearest(a) < to_nearest(best)) best = a;
    }
    return {best, nearest_[to_size(best)]};
  }

  double distance(Index a, Index b) { return distance_(a, b); }

  /// The cluster of both stands at a < b; distances are means over pairs of members.
  void merge(Index a, Index b) {
    const auto share_a = static_cast<double>(size_[to_size(a)]),
               share_b = static_cast<double>(size_[to_size(b)]);
    alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), b));
    for (const Index other : alive_) {
      if (other != a)
        distance_(a, other) =
            (share_a * distance_(a, other) + share_b * distance_(b, other)) / (share_a + share_b);
    }
    size_[to_size(a)] += size_[to_size(b)];
    for (std::size_t place = 0; place < alive_.size() && alive_[place] < b; ++place) {
      const Index other = alive_[place];
      Index& nearest = nearest_[to_size(other)];
      if (other == a || nearest == a || nearest == b) {
        find_nearest(place);
      } else if (other < a && (distance_(other, a) < to_nearest(other) ||
                               (distance_(other, a) == to_nearest(other) && a < nearest))) {
        nearest = a;
      }
    }
  }

 private:
  double to_nearest(Index a) { return distance_(a, nearest_[to_size(a)]); }

  void find_nearest(std::size_t place) {
    const Index a = alive_[place];
    Index best = -1;
    for (const Index b : std::span(alive_).subspan(place + 1)) {
      if (best < 0 || distance_(a, b) < distance_(a, best)) best = b;
    }
    nearest_[to_size(a)] = best;
  }

  Pairs distance_;
  std::vector<Index> size_, nearest_, alive_;  // by the output that stands for a cluster; alive_ ascends
};

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
  const auto outputs = static_cast<double>(k);
  require_memory(outputs * (outputs - 1) / 2 * sizeof(double),
                 fmt::format("clustering {} outputs into a tree", k));
  Clusters clusters(cosine_distances(data), k);
  OutputTree tree{.leaves = k,
                  .parent = std::vector<Index>(to_size(k), -1),
                  .height = std::vector<double>(to_size(k), 0.0)};
  std::vector<Index> node(to_size(k));  // of the cluster that an output stands for
  std::iota(node.begin(), node.end(), Index{0});
  while (clusters.count() > 1) {
    const auto [a, b] = clusters.closest();
    const auto merged = static_cast<Index>(tree.parent.size());
    tree.parent[to_size(node[to_size(a)])] = tree.parent[to_size(node[to_size(b)])] = merged;
    tree.parent.push_back(-1);
    tree.height.push_back(clusters.distance(a, b));
    clusters.merge(a, b);
    node[to_size(a)] = merged;
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
