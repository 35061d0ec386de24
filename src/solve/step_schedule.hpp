// Decides which step an ActiveSetSolver takes next. Model steps first find the support, then they alternate
// with Newton steps. Where both take long, bursts of first-order steps come in between, each longer than the
// last.
#pragma once

#include <algorithm>
#include <utility>

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

class StepSchedule {
 public:
  /// A penalty that sets nothing to zero needs no model steps to find the support. A penalty with other kinks
  /// gets no Newton steps.
  StepSchedule(ZeroPattern pattern, bool bursts)
      : next_newton_(pattern == ZeroPattern::other     ? -1
                     : pattern == ZeroPattern::nothing ? 0
                                                       : 2),
        least_wait_(pattern == ZeroPattern::nothing ? 1 : 2),
        wait_(least_wait_),
        next_burst_(bursts ? kFirstBurst : -1) {}

  bool newton_is_due(int step) const { return step == next_newton_; }
  /// A Newton step that failed delays the next one.
  void newton_done(int step, bool moved) {
    wait_ = moved ? least_wait_ : 2 * wait_;
    next_newton_ = step + wait_;
  }

  bool burst_is_due(int step) const { return step == next_burst_; }
  /// The first-order steps to take now; a Newton step follows them.
  int take_burst(int step) {
    next_burst_ += kBurstEvery;
    wait_ = least_wait_;
    next_newton_ = step + 1;
    return std::exchange(burst_, std::min(2 * burst_, kLongestBurst));
  }

  /// Records a model step that promised the decrease `promised`; the step before it promised `before`.
  /// Returns whether the metric is stale: a metric from a point with another curvature makes steps that are
  /// far too long, or very many short ones.
  bool model_done(bool moved, double promised, double before) {
    stalls_ = moved ? 0 : stalls_ + 1;
    slow_ = promised > kSlow * before ? slow_ + 1 : 0;
    const bool stale = stalls_ == 1 || slow_ == kMostSlow;
    if (stale) slow_ = 0;
    return stale;
  }
  /// Near the optimum the objective is flat: it stops falling before the gap does.
  bool is_stalled() const { return stalls_ == kMostStalls; }

 private:
  static constexpr int kMostStalls = 10;
  /// This many steps in a row, each promising at least this fraction of the one before it, count as slow.
  static constexpr double kSlow = 0.95;
  static constexpr int kMostSlow = 3;
  static constexpr int kFirstBurst = 20, kBurstEvery = 10, kLongestBurst = 1600;

  int next_newton_, least_wait_, wait_;
  int next_burst_, burst_ = 50;
  int stalls_ = 0, slow_ = 0;
};

}  // namespace sharelearn
