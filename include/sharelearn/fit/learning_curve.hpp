// How an online method learned: mistakes and classes against examples.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// At most 400 points: when there are more, every second one goes.
class LearningCurve {
 public:
  /// Counts so far, after one more example or step.
  void add(Index examples, Index mistakes, Index classes) {
    last_ = {examples, mistakes, classes};
    if (++since_ < step_) return;
    since_ = 0;
    points_.push_back(last_);
    if (points_.size() < 400) return;
    for (std::size_t i = 0; i < points_.size() / 2; ++i) points_[i] = points_[2 * i + 1];
    points_.resize(points_.size() / 2);
    step_ *= 2;
  }
  /// [[examples, mistakes, classes], ...], always with the last one.
  nlohmann::json to_json() const {
    nlohmann::json json = points_;
    if (since_ > 0) json.push_back(last_);
    return json;
  }

 private:
  std::vector<std::array<Index, 3>> points_;
  std::array<Index, 3> last_{};
  Index step_ = 1, since_ = 0;
};

}  // namespace sharelearn
