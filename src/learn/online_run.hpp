// Algorithm 2 over data at hand: the order of the steps.
#pragma once

#include <functional>
#include <vector>

#include "sharelearn/learn/cascade.hpp"
#include "sharelearn/learn/online_cascade.hpp"

namespace sharelearn {

/// Steps that one pass over the data takes: an example each, with own rows one of every task that has one
/// left.
Index steps_of(const MultiOutputData& data);

/// Examples of the data in the order of its rows. Own rows: step t has the t-th row of every task that has
/// one.
class OnlineSource {
 public:
  /// `data` must outlive the source.
  explicit OnlineSource(const MultiOutputData& data);
  Index steps() const { return steps_; }
  std::span<const OnlineExample> step(Index t);

 private:
  OnlineExample example(Index row, Index output) const;
  const MultiOutputData& data_;
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

}  // namespace sharelearn
