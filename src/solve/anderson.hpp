// Anderson acceleration: given a few steps (from, to) of a fixed-point iteration, the affine combination of
// the `to`s whose residuals (to - from) nearly cancel.
#pragma once

#include <deque>
#include <span>
#include <vector>

namespace sharelearn {

class Anderson {
 public:
  explicit Anderson(std::size_t memory) : memory_(memory) {}
  /// Adds a step and drops the oldest one beyond `memory`. `residual` is to - from, scaled as the norm
  /// requires.
  void push(std::vector<double> residual);
  void clear() { residuals_.clear(); }
  std::size_t size() const { return residuals_.size(); }
  bool full() const { return residuals_.size() == memory_; }
  /// Coefficients of the steps, oldest first, that sum to 1; empty with fewer than two steps.
  std::vector<double> coefficients() const;

 private:
  std::size_t memory_;
  std::deque<std::vector<double>> residuals_;
};

}  // namespace sharelearn
