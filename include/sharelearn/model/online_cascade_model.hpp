// The online cascade as a model: predicts with What_t of all levels, and holds everything needed to go on
// learning, so a model file is a checkpoint, too.
#pragma once

#include <memory>

#include "sharelearn/learn/online_cascade.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

class OnlineCascadeModel : public Model {
 public:
  explicit OnlineCascadeModel(OnlineCascade learner) : cascade(std::move(learner)) {}

  OnlineCascade cascade;
  std::vector<std::string> names;  ///< classes or tasks
  std::vector<std::string> inputs;
  Scaling scaling;
  Index levels = 0;  ///< levels predictions use; 0: all

  std::string_view kind() const override { return "online-cascade"; }
  OutputKind outputs_are() const override;
  const std::vector<std::string>& output_names() const override { return names; }
  Index columns() const override { return cascade.columns(); }
  const std::vector<std::string>& column_names() const override { return inputs; }
  Grid<double> scores(const Dataset& data, ThreadPool& threads) const override;
  Index features_used() const override;
  std::string describe() const override;
  nlohmann::json to_json() const override;
  std::string payload() const override;
  static ModelPtr read(std::string_view payload, const std::string& path);

  /// Makes room for columns met for the first time. `names` of all columns: those of the data that brings
  /// them; without, a model that names its columns forgets the names, as it cannot name all of them.
  void grow_columns(Index columns, const std::vector<std::string>& names = {});

  /// The same predictor with a stage a level, or with their sum as its only stage.
  std::shared_ptr<LinearModel> to_linear(bool summed) const;
};

}  // namespace sharelearn
