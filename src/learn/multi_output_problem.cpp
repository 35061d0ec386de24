#include "learn/multi_output_problem.hpp"

#include "data/to_size.hpp"
#include "sharelearn/loss/multiclass_hinge.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/multitask_hinge.hpp"
#include "sharelearn/loss/task_losses.hpp"

namespace sharelearn {

std::unique_ptr<Loss> make_loss(const MultiOutputData& data, JointLoss loss, double smoothing) {
  const Index columns = data.score_columns();
  switch (loss) {
    case JointLoss::multiclass_hinge:
      return std::make_unique<MulticlassHinge>(data.label, columns, data.weights, smoothing);
    case JointLoss::multiclass_logistic:
      return std::make_unique<MulticlassLogistic>(data.label, columns, data.weights, 0.0);
    case JointLoss::multitask_hinge:
      return std::make_unique<MultitaskHinge>(data.sign, columns, data.weights, smoothing);
    case JointLoss::multitask_logistic:
      break;
  }
  Tasks tasks{std::vector<std::string>(to_size(columns)), data.sign};
  return std::make_unique<MultitaskLogistic>(tasks, data.weights);
}

Design make_design(const MultiOutputData& data, bool bias, ThreadPool& threads) {
  if (data.own_rows()) return Design(data.x, data.task_begin, data.weights, bias, threads);
  return Design(data.x, data.outputs(), data.weights, bias, threads);
}

}  // namespace sharelearn
