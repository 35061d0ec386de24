#include "sharelearn/learn/output_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/at.hpp"
#include "sharelearn/data/task_tree.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

namespace {

/// sum over columns of products of signatures, k x k, from the signatures of one column at a time.
std::vector<double> signature_products(const JointData& data) {
  const Index k = data.outputs();
  std::vector<double> products(at(k * k), 0.0);
  std::vector<double> positives(at(k), 0.0), negatives(at(k), 0.0);
  const auto sign_of = [&](Index i, Index c) -> int {
    if (data.multiclass()) return data.label[at(i)] == c ? 1 : -1;
    if (!data.own_rows()) return data.sign[at(i * k + c)];
    return i >= data.task_begin[at(c)] && i < data.task_begin[at(c + 1)] ? data.sign[at(i)] : 0;
  };
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < data.rows(); ++i) {
      positives[at(c)] += sign_of(i, c) > 0 ? 1 : 0;
      negatives[at(c)] += sign_of(i, c) < 0 ? 1 : 0;
    }
  }
  std::vector<float> column(at(data.rows()));
  std::vector<double> signature(at(k));
  for (Index j = 0; j < data.x.cols(); ++j) {
    data.x.copy_column(j, column.data());
    for (Index c = 0; c < k; ++c) {
      const Index begin = data.own_rows() ? data.task_begin[at(c)] : 0;
      const Index end = data.own_rows() ? data.task_begin[at(c + 1)] : data.rows();
      double above = 0, below = 0;
      for (Index i = begin; i < end; ++i) {
        const int sign = sign_of(i, c);
        above += sign > 0 ? column[at(i)] : 0.0F;
        below += sign < 0 ? column[at(i)] : 0.0F;
      }
      signature[at(c)] = above / std::max(positives[at(c)], 1.0) - below / std::max(negatives[at(c)], 1.0);
    }
    for (Index a = 0; a < k; ++a) {
      for (Index b = 0; b < k; ++b) products[at(a * k + b)] += signature[at(a)] * signature[at(b)];
    }
  }
  return products;
}

std::vector<double> cosine_distances(const JointData& data) {
  const Index k = data.outputs();
  const std::vector<double> products = signature_products(data);
  std::vector<double> distance(at(k * k), 0.0);
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b) {
      const double lengths = std::sqrt(products[at(a * k + a)] * products[at(b * k + b)]);
      distance[at(a * k + b)] = lengths > 0 ? 0.5 * (1 - products[at(a * k + b)] / lengths) : 0.5;
    }
  }
  return distance;
}

}  // namespace

OutputTree clustered_tree(const JointData& data) {
  const Index k = data.outputs();
  std::vector<double> distance = cosine_distances(data);
  OutputTree tree{
      .leaves = k, .parent = std::vector<Index>(at(k), -1), .height = std::vector<double>(at(k), 0.0)};
  std::vector<Index> node(at(k)), size(at(k), 1);  // of the cluster that lives in a place
  std::iota(node.begin(), node.end(), Index{0});
  std::vector<Index> alive = node;
  while (alive.size() > 1) {
    Index best_a = alive[0], best_b = alive[1];
    for (std::size_t i = 0; i < alive.size(); ++i) {
      for (std::size_t j = i + 1; j < alive.size(); ++j) {
        if (distance[at(alive[i] * k + alive[j])] < distance[at(best_a * k + best_b)]) {
          best_a = alive[i], best_b = alive[j];
        }
      }
    }
    const auto merged = static_cast<Index>(tree.parent.size());
    tree.parent[at(node[at(best_a)])] = tree.parent[at(node[at(best_b)])] = merged;
    tree.parent.push_back(-1);
    tree.height.push_back(distance[at(best_a * k + best_b)]);
    const auto share_a = static_cast<double>(size[at(best_a)]),
               share_b = static_cast<double>(size[at(best_b)]);
    for (const Index other : alive) {
      const double mean =
          (share_a * distance[at(best_a * k + other)] + share_b * distance[at(best_b * k + other)]) /
          (share_a + share_b);
      distance[at(best_a * k + other)] = distance[at(other * k + best_a)] = mean;
    }
    node[at(best_a)] = merged;
    size[at(best_a)] += size[at(best_b)];
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
  for (Index place = 0; place < leaves; ++place) tree.parent[at(order[at(place)])] = shape.parent[at(place)];
  const double deepest =
      static_cast<double>(*std::max_element(shape.depth.begin(), shape.depth.end())) + (leaves == 1 ? 1 : 0);
  for (Index v = leaves; v < shape.nodes(); ++v) {
    tree.height[at(v)] = 1 - static_cast<double>(shape.depth[at(v)]) / deepest;
  }
  return tree;
}

OutputTree random_tree(Index outputs, std::uint64_t seed) {
  std::vector<Index> order(at(outputs));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  return balanced_tree(order);
}

}  // namespace sharelearn
