#include "sharelearn/learn/onevsrest.hpp"

#include <chrono>
#include <map>

#include "sharelearn/loss/task_losses.hpp"

namespace sharelearn {
namespace {

Tasks one_class(const Classes& classes, Index c) {
  Tasks task;
  task.names = {classes.names[static_cast<std::size_t>(c)]};
  for (const std::int32_t y : classes.of_row) task.sign.push_back(y == c ? 1 : -1);
  return task;
}

/// Merges the classes' paths, round by round: the union of their features, with each class's weights in its
/// own output.
class Union {
 public:
  Union(const std::vector<ShareBoostResult>& of_class, Index width) : of_class_(of_class), width_(width) {
    for (const ShareBoostResult& path : of_class) rounds_ = std::max(rounds_, path.stages.size());
  }

  OneVsRestResult merged() {
    OneVsRestResult result;
    for (std::size_t round = 0; round < rounds_; ++round) {
      for (const ShareBoostResult& path : of_class_) {
        if (round == 0 || round > path.chosen.size()) continue;
        const auto [at, is_new] = place_.try_emplace(path.chosen[round - 1], result.chosen.size());
        if (!is_new) continue;
        result.chosen.push_back(path.chosen[round - 1]);
        result.features.push_back(path.features[round - 1]);
      }
      result.stages.push_back(stage(round, result.chosen.size()));
    }
    return result;
  }

 private:
  OneVsRestStage stage(std::size_t round, std::size_t features) const {
    const std::size_t k = of_class_.size(), width = static_cast<std::size_t>(width_);
    OneVsRestStage stage;
    for (std::size_t f = 0; f < features; ++f) stage.features.push_back(static_cast<Index>(f));
    stage.weights.assign(features * width * k, 0.0);
    for (std::size_t c = 0; c < k; ++c) {
      const ShareBoostResult& path = of_class_[c];
      const ShareBoostStage& from = path.stages[std::min(round, path.stages.size() - 1)];
      for (std::size_t column = 0; column < from.weights.size(); ++column) {
        const std::size_t to = place_.at(path.chosen[column / width]) * width + column % width;
        stage.weights[to * k + c] = from.weights[column];
      }
      stage.loss += from.report.loss;
      stage.penalty += from.report.penalty;
      stage.score += round < path.stages.size() ? from.score : 0;
      stage.seconds += from.seconds;
      stage.bias.insert(stage.bias.end(), from.bias.begin(), from.bias.end());
    }
    return stage;
  }

  const std::vector<ShareBoostResult>& of_class_;
  Index width_;
  std::size_t rounds_ = 0;
  std::map<Index, std::size_t> place_;
};

}  // namespace

OneVsRestResult one_vs_rest(Pool& pool, const Classes& classes, const std::vector<double>& weights,
                            const ShareBoostOptions& options, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<ShareBoostResult> of_class;
  for (Index c = 0; c < classes.count(); ++c) {
    const MultitaskLogistic loss(one_class(classes, c), weights);
    of_class.push_back(shareboost(pool, loss, options, context));
    context.monitor.progress("classes", c + 1, classes.count(), "");
  }
  OneVsRestResult result = Union(of_class, pool.width()).merged();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace sharelearn
