// Selected features, weights and bias: the result of every batch method. The model keeps a whole path of
// stages (a number of features, a lambda, a level of a cascade) compactly: features are stored once, and each
// stage has its weights.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/model/model.hpp"
#include "sharelearn/pool/feature.hpp"

namespace sharelearn {

/// Weights of one point of the path.
struct Stage {
  /// Design columns used: ascending positions in the order of the model's features.
  std::vector<Index> columns;
  /// Outputs x columns.size(), the outputs of a feature side by side: [column][output].
  std::vector<double> weights;
  std::vector<double> bias;  ///< one per output; empty: none
  Index features = 0;        ///< number of features (not columns) with a weight
  double parameter = 0;      ///< lambda of a path, or the number of features asked for
};

class LinearModel : public Model {
 public:
  std::vector<FeaturePtr> features;  ///< in order of choice
  std::vector<std::string> names;    ///< classes or tasks
  OutputKind kind_of_output = OutputKind::classes;
  std::vector<Stage> stages;
  bool increments = false;  ///< stages add up (cascade) instead of being alternatives (path)
  Index stage = 0;          ///< the stage used for predictions (with increments: all stages up to it)

  std::string_view kind() const override { return "linear"; }
  OutputKind outputs_are() const override { return kind_of_output; }
  const std::vector<std::string>& output_names() const override { return names; }
  Index features_used() const override;
  std::vector<char> columns_needed() const override;
  std::string describe() const override;
  nlohmann::json to_json(bool all_stages = false) const override;
  std::string payload() const override;

  /// Position of the first design column of each feature, followed by the total number of columns.
  std::vector<Index> first_columns() const;
  /// The weights in use as one stage: those of the current stage, or the sum of all levels up to it.
  Stage current_stage() const;
  /// Chooses the last stage with at most `count` features; throws InputError if there is none.
  void use_features(Index count);
  /// Whether the stages are solutions for descending lambdas.
  bool is_lambda_path() const;
  /// Chooses the stage of a path whose lambda is nearest, by ratio; throws InputError if the path does not
  /// reach it.
  void use_lambda(double lambda);
  /// Keeps only the stage in use and the features with a weight in it, and no early stop. Predictions stay
  /// the same.
  void trim();
  /// Weights of the current stage: [design column][output].
  std::vector<double> weights() const;
  /// Bias of each output at the current stage (zeros if there is none).
  std::vector<double> bias() const;

  static ModelPtr read(std::string_view payload, const std::string& path);

 protected:
  Grid<double> prepared_scores(const Dataset& data, ThreadPool& threads) const override;
  EarlyScores prepared_early_scores(const Dataset& data, ThreadPool& threads) const override;
};

}  // namespace sharelearn
