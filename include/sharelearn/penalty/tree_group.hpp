// Tree-guided group lasso (Kim and Xing, ICML 2010): outputs are the leaves of a tree, every node v groups
// the leaves below it, and a feature's weights w cost
//
//   value(w) = sum over nodes v of  weight_v |w restricted to the leaves below v|_2
//
// weight_v = g_v * product over the ancestors of s, with s_v = height_v, g_v = 1 - s_v for inner nodes and 1
// for leaves: a low node ties its leaves closely, a node of height 1 not at all.
//
// Groups are nested or disjoint, so the prox shrinks one group after the other, from the leaves to the root
// (Jenatton et al. 2011), O(k depth).
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

/// A tree over outputs: leaves 0 .. leaves - 1, then inner nodes, each above its children.
struct OutputTree {
  Index leaves = 0;
  std::vector<Index> parent;   ///< of every node; -1: a root
  std::vector<double> height;  ///< in [0, 1]; leaves have 0
};

class TreeGroup : public Penalty {
 public:
  /// Throws InputError if a parent does not come after its child or a height is out of range.
  explicit TreeGroup(const OutputTree& tree);
  std::string_view name() const override { return "tree-group"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  /// No closed form: accelerated steps with prox() inside.
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  /// Bisection for the smallest step at which prox() gives zero, to 1e-9 from above.
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return true; }

 private:
  struct Group {
    std::size_t begin, end;  ///< positions in order_
    double weight;
  };
  bool vanishes(std::span<const double> row, double step, std::vector<double>& scratch) const;
  void shrink(std::vector<double>& ordered, double step) const;

  std::vector<std::size_t> order_;  ///< leaves, ordered so that those below any node are neighbours
  std::vector<Group> groups_;       ///< children before parents, weight above 0
};

}  // namespace sharelearn
