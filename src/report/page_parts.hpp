// The parts of a report page's data, each a JSON value. report/page/src/data.ts names their members.
#pragma once

#include <nlohmann/json.hpp>

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/report/page.hpp"

namespace sharelearn {

/// The stages of a model that its page shows, each as a model of its own. A page has room for so many numbers
/// only: of a long path, stages at equal distances are kept, always with the first, the last and the model's
/// own.
struct PageStages {
  std::vector<std::shared_ptr<LinearModel>> models;
  std::vector<Index> number;  ///< of the stage in the whole path
  Index chosen = 0;           ///< index into `models` of the model's own stage
};
/// `rows`: of the labelled data, which also take room; 0: none.
PageStages page_stages(const LinearModel& model, Index rows);

/// Weights of features (rows) for outputs, for one stage. A feature of several columns shows the norm of its
/// weights.
struct WeightRows {
  std::vector<Index> features;
  std::vector<double> values;  ///< [feature][output]
};
WeightRows weight_rows(const LinearModel& model);
/// Whole numbers of 16 bits, scaled per feature; a weight other than 0 stays so.
nlohmann::json weights_json(const WeightRows& rows, std::size_t outputs);
/// {features, outputs}: orders in which blocks show.
nlohmann::json order_json(const WeightRows& rows, std::size_t features, std::size_t outputs);

/// Members stages, chosen, axis, features, weights, order, and levels of a cascade.
void add_linear(const LinearModel& model, const PageStages& stages, nlohmann::json& page);
/// The same of a model of `sharing`, which has one stage, and its sets.
void add_sharing(const SharingModel& model, nlohmann::json& page);

/// Member early, for a model with thresholds: the work up to each checkpoint and, with labelled data (may be
/// null), what is answered there.
void add_early(const Model& model, const Dataset* data, ThreadPool& threads, nlohmann::json& page);

/// What the models (one per stage) do on labelled data: measures, confusions, reliability, examples. Empty
/// `linear`: `model` is the only stage.
nlohmann::json data_json(const Model& model, const PageStages& stages, const PageOptions& options,
                         const Dataset& data, ThreadPool& threads);

}  // namespace sharelearn
