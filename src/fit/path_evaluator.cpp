#include "fit/path_evaluator.hpp"

#include "run/ranks.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn {

PathEvaluator::PathEvaluator(const Dataset& data, const Scaling& scaling,
                             const std::vector<std::string>& classes, ThreadPool& threads)
    : PathEvaluator(data, scaling, std::ssize(classes), threads) {
  truth_ = classes_of(data, classes);
}

PathEvaluator::PathEvaluator(const Dataset& data, const Scaling& scaling, Index outputs, ThreadPool& threads)
    : columns_(data.x, scaling),
      outputs_(outputs),
      design_(data.rows(), 0),
      threads_(threads),
      weights_(data.weight) {}

Grid<double> PathEvaluator::scores(const std::vector<FeaturePtr>& features, std::span<const double> weights,
                                   std::span<const double> bias) {
  const Alone alone(threads_);
  for (; evaluated_ < features.size(); ++evaluated_) {
    const Feature& feature = *features[evaluated_];
    design_.append_columns(feature.width());
    feature.evaluate(columns_, design_, design_.cols() - feature.width());
  }
  Grid<double> scores(design_.rows(), outputs_);
  linear_scores(design_, weights, bias, scores, threads_);
  return scores;
}

}  // namespace sharelearn
