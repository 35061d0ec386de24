#include "learn/multi_output_problem.hpp"

#include "data/to_size.hpp"
#include "sharelearn/loss/multiclass_hinge.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/loss/multitask_hinge.hpp"
#include "sharelearn/loss/smooth_insensitive.hpp"
#include "sharelearn/loss/squared.hpp"
#include "sharelearn/loss/task_losses.hpp"

namespace sharelearn {

namespace {

/// By columns of the scores.
Grid<double> values_by_column(const MultiOutputData& data) {
  Grid<double> values(data.rows(), data.score_columns());
  for (Index c = 0; c < values.cols(); ++c) {
    for (Index i = 0; i < values.rows(); ++i) values(i, c) = data.value_of(i, c);
  }
  return values;
}

std::vector<double> flat(const Grid<double>& values) {
  std::vector<double> all;
  for (Index c = 0; c < values.cols(); ++c) {
    const auto column = values.column_span(c);
    all.insert(all.end(), column.begin(), column.end());
  }
  return all;
}

}  // namespace

std::unique_ptr<Loss> make_loss(const MultiOutputData& data, JointLoss loss, double smoothing,
                                double epsilon) {
  const Index columns = data.score_columns();
  switch (loss) {
    case JointLoss::multiclass_hinge:
      return std::make_unique<MulticlassHinge>(data.label, columns, data.weights, smoothing);
    case JointLoss::multiclass_logistic:
      return std::make_unique<MulticlassLogistic>(data.label, columns, data.weights, 0.0);
    case JointLoss::multitask_hinge:
      return std::make_unique<MultitaskHinge>(data.sign, columns, data.weights, smoothing);
    case JointLoss::multitask_squared:
      return std::make_unique<Squared>(values_by_column(data), data.weights);
    case JointLoss::multitask_insensitive:
      return std::make_unique<SmoothInsensitive>(flat(values_by_column(data)), data.weights, epsilon);
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
