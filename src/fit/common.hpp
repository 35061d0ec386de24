// What the fits of all batch methods share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/fit/fit.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

/// Which of the common options a method has, and its defaults.
struct CommonTraits {
  bool bias = true;
  bool class_weight = true;
  std::string tolerance = {};                    ///< default in words; empty: the method has none
  std::function<std::string()> scale = nullptr;  ///< the default scaling; null: minmax
  std::string scale_text = "minmax";
};
FieldTable common_fields(CommonFit& options, const CommonTraits& traits);

/// What depends on the method: minmax, but images are taken as they are; the tolerance given.
void resolve_common(CommonFit& options, const PoolOptions& pool, double tolerance);
inline constexpr std::string_view kPoolScaleText = "minmax; none with `pool` patches";

/// A part of a data set that is there, or a copy that belongs to this object.
class Rows {
 public:
  explicit Rows(const Dataset& whole) : whole_(&whole) {}
  explicit Rows(Dataset&& part) : part_(std::make_unique<Dataset>(std::move(part))), whole_(part_.get()) {}
  const Dataset& operator*() const { return *whole_; }
  const Dataset* operator->() const { return whole_; }

 private:
  std::unique_ptr<Dataset> part_;
  const Dataset* whole_;
};

/// The data of a fit, ready to be learned from: rows held out taken away, missing values filled in.
struct Prepared {
  Rows train;
  std::optional<Rows> test;
  std::vector<float> means;  ///< that stand for missing values; empty: there were none to fill
  Context context;
  const Dataset* test_data() const { return test ? &**test : nullptr; }
};

/// The frame of every batch fit: checks and fills the table, prepares the data, learns, and completes the
/// report and what the model knows of itself. Throws Failure where the outcome is not a model (numbers that
/// are not finite, a run cancelled before the first feature).
Fitted run_fit(std::string_view method, const FitData& data, const CommonFit& common, const FieldTable& table,
               const Context& context, const std::function<Fitted(Prepared&)>& learn);

/// What a model keeps of its report: nothing that differs between two equal runs, so that its bytes depend on
/// data, options and seed alone.
nlohmann::json metadata_of(const FitReport& report);

/// Weights of rows that sum to 1, class weights included where asked for.
std::vector<double> row_weights(const Dataset& part, const CommonFit& common, const Classes* classes);

/// A model over features of the training data, still without stages.
std::shared_ptr<LinearModel> model_over(std::vector<FeaturePtr> features, std::vector<std::string> names,
                                        const Dataset& train, const Scaling& scaling);

/// features_used, nonzero_rows, nonzero_weights of the current stage.
void add_sparsity(const LinearModel& model, Round& end);

/// Scores that are the bias alone.
Grid<double> constant_scores(Index rows, Index outputs, std::span<const double> bias);

/// What Feature::describe says of features [first, end).
nlohmann::json described(const std::vector<FeaturePtr>& features, std::size_t first,
                         const std::vector<std::string>& names);

/// Calls the observer, if there is one; false: stop.
inline bool observed(const FitObserver& observer, const Round& round) {
  return !observer || observer(round);
}

}  // namespace sharelearn
