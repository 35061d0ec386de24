// Algorithm 2 over data at hand: the order of the steps, and the regret of eq. (6).
#pragma once

#include <functional>
#include <vector>

#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/online_cascade.hpp"

namespace sharelearn {

/// Examples of the data in the order of its rows. Own rows: step t has the t-th row of every task that has
/// one.
class OnlineSource {
 public:
  /// `data` must outlive the source.
  explicit OnlineSource(const JointData& data);
  Index steps() const { return steps_; }
  std::span<const OnlineExample> step(Index t);

 private:
  OnlineExample example(Index row, Index output) const;
  const JointData& data_;
  RowMatrix rows_;
  Index steps_ = 0;
  std::vector<OnlineExample> examples_;
};

/// The online learner's options for the levels of a batch cascade.
OnlineCascadeOptions online_options(const CascadeOptions& options, double gamma);

/// Runs through the data from step `first` on. `after` is called after every step and may stop the run by
/// returning false.
void run_online(OnlineCascade& cascade, OnlineSource& source, Index first, Context& context,
                const std::function<bool(Index step)>& after = {});

/// Regret of each level after some number of steps, divided by that number.
struct RegretPoint {
  Index steps = 0;
  std::vector<double> per_step;
};

/// Eq. (6): what level l suffered, sum_t loss_t(What_{t-1}^l + W_t^{l-1}) + psi^l(What_{t-1}^l) (the weights
/// a level holds when example t comes), less what the batch cascade of the same examples suffers. The batch
/// optimum of the hinge is taken from a smoothing of 0.01, its loss from the hinge itself. At about `points`
/// numbers of steps, spaced by powers. O(n k) a step and level, and a batch fit a point. From level 2 on it
/// can be negative: W_t^{l-1} has learned from example t already, which the batch cascade's levels below have
/// not.
std::vector<RegretPoint> regret(const JointData& data, const CascadeOptions& options, double gamma,
                                int points, Context& context);

}  // namespace sharelearn
