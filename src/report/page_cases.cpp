#include "report/page_cases.hpp"

#include <cmath>
#include <limits>

namespace sharelearn {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double weight_of(const Dataset& data, Index row) {
  return data.weight.empty() ? 1 : data.weight[static_cast<std::size_t>(row)];
}

Truth::Truth(const Model& model, const Dataset& data)
    : kind_(model.outputs_are()), model_(model), probabilities_(gives_probabilities(model.link())) {
  if (kind_ == OutputKind::classes) classes_ = classes_of(data, model.output_names()).of_row;
  if (kind_ == OutputKind::tasks) tasks_ = tasks_of(data, &model.output_names(), model.task_labels);
  if (kind_ == OutputKind::value) values_ = values_of(data);
}

/// `scores`: logarithms of probabilities, where there are any.
Case Truth::class_case(const Grid<double>& scores, Index row) const {
  Index best = 0;
  double second = -std::numeric_limits<double>::infinity();
  for (Index c = 1; c < scores.cols(); ++c) {
    if (scores(row, c) > scores(row, best)) {
      second = scores(row, best);
      best = c;
    } else {
      second = std::max(second, scores(row, c));
    }
  }
  const std::int32_t truth = classes_[static_cast<std::size_t>(row)];
  Case result{row, 0, static_cast<double>(truth < 0 ? scores.cols() : truth), static_cast<double>(best)};
  result.strength = probabilities_ ? std::exp(scores(row, best)) : scores(row, best) - second;
  result.loss = probabilities_ && truth >= 0 ? -scores(row, truth) : kUndefined;
  return result;
}

/// `scores`: logarithms of the probability of "yes", where there are probabilities.
Case Truth::task_case(const Grid<double>& scores, Index row, Index task) const {
  const double score = scores(row, task);
  const bool truth = tasks_.sign[static_cast<std::size_t>(row * tasks_.count() + task)] > 0;
  const double yes = std::exp(score);
  const bool predicted = probabilities_ ? yes > 0.5 : score > 0;
  Case result{row, task, truth ? 1.0 : 0.0, predicted ? 1.0 : 0.0};
  result.strength = probabilities_ ? std::max(yes, 1 - yes) : std::abs(score);
  const double least = std::numeric_limits<double>::min();
  result.loss = !probabilities_ ? kUndefined : truth ? -score : -std::log(std::max(1 - yes, least));
  return result;
}

void Truth::visit(Grid<double> scores, const std::function<void(const Case&)>& visit) const {
  if (probabilities_) scores = model_.log_proba(std::move(scores));
  for (Index i = 0; i < scores.rows(); ++i) {
    if (kind_ == OutputKind::classes) visit(class_case(scores, i));
    for (Index t = 0; t < tasks_.count(); ++t) {
      if (tasks_.sign[static_cast<std::size_t>(i * tasks_.count() + t)] != 0) visit(task_case(scores, i, t));
    }
    if (kind_ == OutputKind::value) {
      const double truth = values_[static_cast<std::size_t>(i)], error = scores(i, 0) - truth;
      visit({i, 0, truth, scores(i, 0), std::abs(error), error * error});
    }
  }
}

}  // namespace sharelearn
