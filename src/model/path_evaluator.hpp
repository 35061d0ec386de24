// A data set seen along the path of a model that grows: the columns of chosen features, computed once each.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/pool/feature.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

class PathEvaluator {
 public:
  /// `data` and `scaling` must outlive it; the data is as read, not scaled. `classes` are the model's.
  PathEvaluator(const Dataset& data, const Scaling& scaling, const std::vector<std::string>& classes,
                ThreadPool& threads);

  /// Scores by weights [column][class] of the first features and the bias; features only ever grow in number.
  Grid<double> scores(const std::vector<FeaturePtr>& features, std::span<const double> weights,
                      std::span<const double> bias);
  const std::vector<std::int32_t>& truth() const { return truth_.of_row; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  ColumnView columns_;
  Classes truth_;
  Grid<float> design_;
  std::size_t evaluated_ = 0;
  ThreadPool& threads_;
  const std::vector<double>& weights_;
};

}  // namespace sharelearn
