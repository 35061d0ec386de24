// Smoothed multiclass hinge loss (Crammer and Singer's, eq. (2) of [ZweigWeinshall13], made smooth):
//
//   loss(s, y) = max over q >= 0, sum q <= 1 of  sum_{c != y} q_c (1 + s_c - s_y) - (mu / 2) sum q_c^2
//
// mu = 0 is the hinge itself, max(0, 1 + max_{c != y} s_c - s_y), with the subgradient at the highest wrong
// score (the lowest class on ties). The smoothed loss lies below the hinge by at most mu / 2; for two classes
// it is the Huber hinge.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/loss/loss.hpp"

namespace sharelearn {

class MulticlassHinge : public Loss {
 public:
  /// label in [0, classes); weights sum to 1; smoothing = mu >= 0.
  MulticlassHinge(std::vector<std::int32_t> label, Index classes, std::vector<double> weights,
                  double smoothing);
  std::string_view name() const override { return "multiclass-hinge"; }
  Index rows() const override { return static_cast<Index>(label_.size()); }
  Index outputs() const override { return classes_; }
  double block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const override;
  void curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const override;
  /// The map from scores to margins 1 + s_c - s_y has squared norm k; that from margins to q has norm 1 / mu.
  double curvature_bound() const override { return static_cast<double>(classes_) / smoothing_; }
  std::span<const double> weights() const override { return weights_; }

 private:
  std::vector<std::int32_t> label_;
  Index classes_;
  std::vector<double> weights_;
  double smoothing_;
};

/// The maximising q: the point of {q >= 0, sum q <= 1} nearest to margins / smoothing, in place; smoothing >
/// 0. Returns true if the constraint sum q <= 1 is active. A few passes of O(k) each.
bool project_onto_capped_simplex(std::span<double> q);

}  // namespace sharelearn
