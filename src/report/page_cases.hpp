// Labelled data as cases: what a model should have answered and what it did.
#pragma once

#include <functional>

#include "sharelearn/model/model.hpp"

namespace sharelearn {

/// One answer: the class of a row, one task of a row, or a number.
struct Case {
  Index row = 0;
  Index task = 0;        ///< 0 unless outputs are tasks
  double truth = 0;      ///< class (their number stands for an unknown one), 0 or 1 of a task, or the value
  double predicted = 0;  ///< the same
  /// Probability of the prediction; without probabilities, the lead over the second best score (classes) or
  /// the score's magnitude (tasks). Values: the absolute error.
  double strength = 0;
  double loss = 0;  ///< -ln p(truth); NaN where not defined. Values: the squared error
  bool right() const { return truth == predicted; }
};

/// Weight of a row of the data.
double weight_of(const Dataset& data, Index row);

/// The labels of a data set as a model understands them.
class Truth {
 public:
  /// Throws InputError if labels are missing.
  Truth(const Model& model, const Dataset& data);
  /// Calls `visit` for every labelled case, rows in ascending order. `scores` of the rows of the data.
  void visit(Grid<double> scores, const std::function<void(const Case&)>& visit) const;
  bool has_probabilities() const { return probabilities_; }

 private:
  Case class_case(const Grid<double>& scores, Index row) const;
  Case task_case(const Grid<double>& scores, Index row, Index task) const;

  OutputKind kind_;
  const Model& model_;
  bool probabilities_;
  std::vector<std::int32_t> classes_;
  Tasks tasks_;
  std::vector<double> values_;
};

}  // namespace sharelearn
