// A method of `sharelearn fit`: its options and its run. One file a method, one line in methods.cpp.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "options.hpp"
#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::cli {

/// Options every method of `fit` has.
struct CommonOptions {
  std::string train;   ///< data to learn from; "-": standard input
  std::string test;    ///< data to report the error on
  std::string model;   ///< where to write the model
  std::string report;  ///< where to write the JSON report
  DataOptions data;    ///< how to read, and the threads
  std::uint64_t seed = 1;
  std::string scale;  ///< none|minmax|standard; empty: the method's default
  bool bias = true;
  double tolerance = 0;               ///< 0: the method's default
  double holdout = 0;                 ///< fraction of the training rows held out as test set
  std::string class_weight = "none";  ///< none|balanced
  bool quiet = false;

  void declare(CLI::App& app, OptionSet& options);
  /// Throws InputError if the model, the report or a method's own output could not be written, or would
  /// replace what is read or another output, or if standard input is named twice.
  void check_files(const std::vector<NamedPath>& own_outputs, const std::vector<NamedPath>& own_inputs) const;
  /// The bias as the user said, or the method's own default.
  bool bias_or(bool otherwise) const {
    return bias_option != nullptr && bias_option->count() > 0 ? bias : otherwise;
  }
  const CLI::Option* bias_option = nullptr;
  bool shows_tables() const { return cli::shows_tables(quiet, model, report); }
  ScalingKind scaling(ScalingKind otherwise) const { return scale.empty() ? otherwise : scaling_from(scale); }
};

/// What a batch method gets: the data as read (not yet scaled) and the world.
struct FitInput {
  Dataset train;
  std::optional<Dataset> test;
  const CommonOptions& common;
  Context context;
  Index rows = 0;  ///< that are learned from: those of `train` as read, less what a method holds out of them

  /// Weights of the training rows, summing to 1, class weights included where asked for.
  std::vector<double> weights(const Classes* classes) const { return weights_of(train, classes); }
  /// The same of a part of them.
  std::vector<double> weights_of(const Dataset& part, const Classes* classes) const;
};

/// The training set, and the means that stand for missing values, here and wherever the model is used.
Dataset read_train(const Reading& read, ReadOptions options, std::vector<float>& means, ThreadPool& threads);

/// Gives sparse data at least so many columns; those only another set has are no use to it, but must not stop
/// it either.
void widen(Dataset& data, Index columns);

struct FitResult {
  ModelPtr model;
  /// The method's part of the report: objective, loss, rounds ... (DESIGN's fields); the driver adds method,
  /// options, data, seconds and peak_bytes.
  nlohmann::json report;
  /// Options whose value in effect is not the one on the command line: the method's own default, what it
  /// chose, or what the model to go on from was learned with. Report and model keep these.
  nlohmann::json options = nlohmann::json::object();
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// Declares the method's own options.
  virtual void declare(OptionSet& options) = 0;
  /// Learns. Called by run().
  virtual FitResult fit(FitInput& input) = 0;
  /// Scaling when the user names none.
  virtual ScalingKind default_scaling() const { return ScalingKind::minmax; }
  /// Files it writes beside model and report.
  virtual std::vector<NamedPath> own_outputs() const { return {}; }
  /// Files it reads beside the data; "-" is standard input.
  virtual std::vector<NamedPath> own_inputs() const { return {}; }
  /// Writes its own outputs, once model and report are safe.
  virtual void write_own(const nlohmann::json& /*report*/) const {}
  /// The whole of `fit METHOD`: read, learn, write. Methods that stream override it.
  virtual int run(const CommonOptions& common, const nlohmann::json& options);
};

/// Refuses a number of folds that leaves nothing to learn from or to judge by; 0 is none.
void check_folds(int folds, Index rows);
/// Throws Failure if Ctrl-C came while `what` was under way, so that it found nothing.
void require_finished(const Context& context, std::string_view what);

/// The rounds as a table on standard output: features, objective, errors; long paths are thinned.
void print_rounds(const nlohmann::json& rounds);

/// A model over features of the training data, still without stages.
std::shared_ptr<LinearModel> model_over(std::vector<FeaturePtr> features, std::vector<std::string> names,
                                        const Dataset& train, const Scaling& scaling);

/// Fields of the report that any linear model gives: features_used, nonzero_rows, nonzero_weights.
void add_sparsity(const LinearModel& model, nlohmann::json& report);

/// Every method, in the order of the help.
std::vector<std::unique_ptr<Method>> all_methods();

}  // namespace sharelearn::cli
