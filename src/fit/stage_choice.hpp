// How many rounds a baseline uses, chosen by cross-validation over the stages of its model.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

struct StageChoice {
  Index folds;
  ChoiceOfPoint choice;
  std::size_t first;  ///< the simplest stage that may be chosen
  /// The model of some of the rows, whose features enter in the order of its stages.
  std::function<std::shared_ptr<LinearModel>(const Dataset& part)> learn;
  /// The words for the size of a stage.
  std::function<std::string(std::size_t stage)> name;
};

/// Compares the errors of the stages from `first` on over folds of the rows, and says in the report why one
/// is chosen. Points of the result count from `first`.
CrossValidation choose_stage(const StageChoice& how, const Dataset& train, const Classes& classes,
                             const Context& context, FitReport& report);

/// The options `folds` and `choose`; `what` is chosen.
void add_stage_choice(FieldTable& table, std::optional<Index>& folds, std::optional<std::string>& choose,
                      const std::string& what);

}  // namespace sharelearn
