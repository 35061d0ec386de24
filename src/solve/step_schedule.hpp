// Which step an ActiveSetSolver takes next. Models first find the support, then they alternate with Newton's
// steps; where both take long, bursts of first-order steps come between, ever longer.
#pragma once

#include <algorithm>
#include <utility>

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

class StepSchedule {
 public:
  /// A penalty that sets nothing to zero needs no models to find the support; one with other kinks gets no
  /// Newton steps.
  StepSchedule(ZeroPattern pattern, bool bursts)
      : next_newton_(pattern == ZeroPattern::other     ? -1
                     : pattern == ZeroPattern::nothing ? 0
                                                       : 2),
        least_wait_(pattern == ZeroPattern::nothing ? 1 : 2),
        wait_(least_wait_),
        next_burst_(bursts ? kFirstBurst : -1) {}

  bool newton_is_due(int step) const { return step == next_newton_; }
  /// A step that was not taken puts the next one off.
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

  /// A model's step promised `promised`, the one before it `before`. Returns whether the metric is stale:
  /// that of a point with another curvature makes steps that are far too long, or short ones without end.
  bool model_done(bool moved, double promised, double before) {
    stalls_ = moved ? 0 : stalls_ + 1;
    slow_ = promised > kSlow * before ? slow_ + 1 : 0;
    const bool stale = stalls_ == 1 || slow_ == kMostSlow;
    if (stale) slow_ = 0;
    return stale;
  }
  /// Near the optimum the objective stops moving before the gap does: it is flat there.
  bool is_stalled() const { return stalls_ == kMostStalls; }

 private:
  static constexpr int kMostStalls = 10;
  /// So many steps in a row that each promise at least this fraction of what the one before did are slow.
  static constexpr double kSlow = 0.95;
  static constexpr int kMostSlow = 3;
  static constexpr int kFirstBurst = 20, kBurstEvery = 10, kLongestBurst = 1600;

  int next_newton_, least_wait_, wait_;
  int next_burst_, burst_ = 50;
  int stalls_ = 0, slow_ = 0;
};

}  // namespace sharelearn
