// Functions shared by the fits of all batch methods.
#pragma once

#include <memory>
#include <span>
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
  bool checkpoint = false;
  bool online = false;  ///< rows may go on coming: nothing that adds columns to them
  bool calibration = true;
  std::string tolerance = {};                    ///< default in words; empty: the method has none
  std::function<std::string()> scale = nullptr;  ///< the default scaling; null: minmax
  std::string scale_text = "minmax";
};
/// What is done with the data: every method has these first.
FieldTable common_fields(CommonFit& options, const CommonTraits& traits);
/// Whether a loss of this name, or the default one, has classes.
bool has_classes_by_loss(const std::optional<std::string>& loss);
/// Refuses `class-weight` with a loss that has none. The table refers to both arguments.
void class_weight_needs_classes(FieldTable& table, const CommonFit& options,
                                const std::optional<std::string>& loss);
/// `bias` and `tolerance`.
FieldTable solver_fields(CommonFit& options, const CommonTraits& traits);

/// Fills in the defaults that depend on the method: scaling `scale` (images are taken as they are) and the
/// tolerance given.
void resolve_common(CommonFit& options, const PoolOptions& pool, double tolerance,
                    std::string_view scale = "minmax");
inline constexpr std::string_view kPoolScaleText = "minmax; none with `pool` patches";

/// A data set held elsewhere, or a copy that belongs to this object.
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

/// The data of a fit, ready for learning: held-out rows are removed, missing values are filled in, counts are
/// transformed.
struct Prepared {
  Rows train;
  std::optional<Rows> test;
  Preprocessing input;  ///< what was done to the data: its means, indicators and transform
  Context context;
  const Dataset* test_data() const { return test ? &**test : nullptr; }
};

/// The frame of every batch fit: checks and fills the table, prepares the data, learns, and completes the
/// report and the model's metadata. Throws Failure if the result is not a model (numbers that are not finite,
/// a run cancelled before the first feature).
Fitted run_fit(std::string_view method, const FitData& data, const CommonFit& common, const FieldTable& table,
               const Context& context, const std::function<Fitted(Prepared&)>& learn);

/// Throws Failure, before any of it is taken, where a method's arrays of one number per row and output do not
/// fit into the memory. `arrays`: how many it needs at least.
void require_scores(std::string_view method, Index rows, Index outputs, int arrays);

/// A cancelled run leaves a model if it has at least one feature; the report then says that it is unfinished.
void settle_cancelled(FitReport& report);

/// The part of a report that a model stores: nothing that differs between two equal runs, so that its bytes
/// depend on data, options and seed alone.
nlohmann::json metadata_of(const FitReport& report);

/// Row weights that sum to 1, including class weights if asked for.
std::vector<double> row_weights(const Dataset& part, const CommonFit& common, const Classes* classes);

/// A model over features of the training data, still without stages.
std::shared_ptr<LinearModel> model_over(std::vector<FeaturePtr> features, std::vector<std::string> names,
                                        const Dataset& train, const Scaling& scaling);

/// Two classes with one output become a model of two outputs, the first of which is zero.
std::vector<double> doubled(const std::vector<double>& single);

/// features_used, nonzero_rows, nonzero_weights of the current stage.
void add_sparsity(const LinearModel& model, Round& end);

/// Counts the different columns that a growing list of features reads.
class ColumnCounter {
 public:
  /// `features`: those of the last call, and more; or fewer, which are counted anew.
  Index count(std::span<const FeaturePtr> features);

 private:
  std::vector<char> seen_;
  std::size_t counted_ = 0;
  Index columns_ = 0;
};

/// Scores that are the bias alone.
Grid<double> constant_scores(Index rows, Index outputs, std::span<const double> bias);

/// Descriptions (Feature::describe) of the features [first, end).
nlohmann::json described(const std::vector<FeaturePtr>& features, std::size_t first,
                         const std::vector<std::string>& names);

/// Calls the observer, if there is one; false: stop.
inline bool observed(const FitObserver& observer, const Round& round) {
  return !observer || observer(round);
}

}  // namespace sharelearn
