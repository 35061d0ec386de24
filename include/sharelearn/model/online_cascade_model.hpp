// The online cascade as a model: predicts with What_t of all levels, and holds everything needed to go on
// learning, so a model file is a checkpoint, too.
#pragma once

#include <memory>

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/state/online_cascade.hpp"

namespace sharelearn {

class OnlineCascadeModel : public Model {
 public:
  explicit OnlineCascadeModel(OnlineCascade state);

  OnlineCascade cascade;
  std::vector<std::string> names;  ///< classes or tasks
  Index levels = 0;                ///< levels predictions use; 0: all

  std::string_view kind() const override { return "online-cascade"; }
  OutputKind outputs_are() const override;
  const std::vector<std::string>& output_names() const override { return names; }
  Index features_used() const override;
  std::string describe() const override;
  /// As a linear model.
  nlohmann::json to_json(bool all_stages = false) const override;
  std::string payload() const override;
  static ModelPtr read(std::string_view payload, const std::string& path);

  /// Makes room for columns met for the first time. `names` of all columns: those of the data that brings
  /// them; without, a model that names its columns forgets the names, as it cannot name all of them.
  void grow_columns(Index columns, const std::vector<std::string>& names = {});

  /// The same predictor with one stage per level, or with their sum as its only stage. Columns that no level
  /// uses get no feature.
  std::shared_ptr<LinearModel> to_linear(bool summed) const;

 protected:
  Grid<double> prepared_scores(const Dataset& data, ThreadPool& threads) const override;
  EarlyScores prepared_early_scores(const Dataset& data, ThreadPool& threads) const override;
};

}  // namespace sharelearn
