// From a data set and options to a model and a report: what every front calls.
//
//   Fitted fitted = fit({train, &test}, ShareBoostFit{.features = 10}, {threads});
//   fitted.model->predict(...);  save_model(*fitted.model, "digits.shl");
//
// One struct of options per method (fit/shareboost.hpp, ...). The data is read only. Progress and
// cancellation go through the context's monitor, the rounds through an observer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/fit/report.hpp"
#include "sharelearn/model/model.hpp"
#include "sharelearn/run/context.hpp"
#include "sharelearn/run/fields.hpp"

namespace sharelearn {

/// Rows to learn from, and rows to report the error on. Missing values are NaN.
struct FitData {
  const Dataset& train;
  const Dataset* test = nullptr;
};

struct Fitted {
  ModelPtr model;
  FitReport report;  ///< report.options are the options in effect
};

/// Called after each round; returns false to stop there.
using FitObserver = std::function<bool(const Round& round)>;

/// Options that every batch method has.
struct CommonFit {
  std::optional<std::uint64_t> seed = {};
  std::optional<std::string> scale = {};  ///< none, minmax, standard
  std::optional<bool> bias = {};
  std::optional<double> tolerance = {};
  std::optional<std::string> missing = {};       ///< error, mean, median, zero, indicator
  std::optional<std::string> transform = {};     ///< none, log1p, binary, tfidf
  std::optional<double> holdout = {};            ///< fraction of the training rows taken as test set
  std::optional<std::string> class_weight = {};  ///< none, balanced
  std::optional<std::string> checkpoint = {};   ///< file from which the same run goes on (run/checkpoint.hpp)
  std::optional<std::string> calibration = {};  ///< of probabilities: folds, none
};

/// A method whose options a front fills in through their table.
class Method {
 public:
  virtual ~Method() = default;
  virtual std::string_view name() const = 0;
  /// One line of help.
  virtual std::string_view summary() const = 0;
  /// The table refers to this object.
  virtual FieldTable fields() = 0;
  virtual Fitted fit(const FitData& data, const Context& context, const FitObserver& after_round) = 0;
};

/// Every batch method, in the order of the help.
std::vector<std::unique_ptr<Method>> batch_methods();

}  // namespace sharelearn
