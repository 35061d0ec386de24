// Scores of a data set along the path of a growing model. The column of each chosen feature is computed once.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/pool/feature.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

class PathEvaluator {
 public:
  /// `data` (unscaled) and `scaling` must outlive this object. `classes` are those of the model.
  PathEvaluator(const Dataset& data, const Scaling& scaling, const std::vector<std::string>& classes,
                ThreadPool& threads);

  /// For a model with any kind of outputs; there is no truth().
  PathEvaluator(const Dataset& data, const Scaling& scaling, Index outputs, ThreadPool& threads);

  /// Scores from the bias and the weights [column][class] of the first features. From call to call features
  /// may only be added.
  Grid<double> scores(const std::vector<FeaturePtr>& features, std::span<const double> weights,
                      std::span<const double> bias);
  const std::vector<std::int32_t>& truth() const { return truth_.of_row; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  ColumnView columns_;
  Classes truth_;
  Index outputs_;
  Grid<float> design_;
  std::size_t evaluated_ = 0;
  ThreadPool& threads_;
  const std::vector<double>& weights_;
};

}  // namespace sharelearn
