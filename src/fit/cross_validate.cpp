#include "sharelearn/fit/cross_validate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fit/checkpoints.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

const std::vector<std::string>& choice_names() {
  static const std::vector<std::string> names = {"least", "one-standard-error"};
  return names;
}

ChoiceOfPoint choice_from(std::string_view name) {
  return name == choice_names().front() ? ChoiceOfPoint::least : ChoiceOfPoint::one_standard_error;
}

namespace {

/// The measures of a fold: those of a checkpoint, where it has them.
std::vector<double> measure_or_recall(std::size_t fold,
                                      const std::function<std::vector<double>(std::size_t fold)>& measure,
                                      const Context& context) {
  const std::string name = fmt::format("fold {}", fold + 1);
  if (context.checkpoint != nullptr) {
    if (const std::string* known = context.checkpoint->find(name)) {
      ByteReader in = context.checkpoint->reader(*known);
      return read_measures(in);
    }
  }
  std::vector<double> measures;
  try {
    const CheckpointStep step(context.checkpoint, name);
    measures = measure(fold);
  } catch (const Cancelled&) {
    require_finished(context, "cross-validation");
    throw;
  }
  require_finished(context, "cross-validation");
  if (context.checkpoint != nullptr) {
    ByteWriter out;
    write_measures(out, measures);
    context.checkpoint->put(name, out);
  }
  return measures;
}

}  // namespace

CrossValidation cross_validate(std::span<const Split> splits, const PathMeasure& measure,
                               ChoiceOfPoint choice, const Context& context) {
  const auto by_number = [&](std::size_t fold) {
    return measure(splits[fold], fmt::format("fold {} of {}", fold + 1, splits.size()));
  };
  return cross_validate(splits.size(), by_number, choice, context);
}

CrossValidation cross_validate(std::size_t count,
                               const std::function<std::vector<double>(std::size_t fold)>& measure,
                               ChoiceOfPoint choice, const Context& context) {
  std::vector<std::vector<double>> of_folds;
  std::size_t points = 0;
  for (std::size_t fold = 0; fold < count; ++fold) {
    of_folds.push_back(measure_or_recall(fold, measure, context));
    points = std::max(points, of_folds.back().size());
  }
  CrossValidation result;
  const auto folds = static_cast<double>(of_folds.size());
  for (std::size_t p = 0; p < points; ++p) {
    const auto at = [&](const std::vector<double>& path) { return path[std::min(p, path.size() - 1)]; };
    double sum = 0, squares = 0;
    for (const auto& path : of_folds) sum += at(path);
    const double mean = sum / folds;
    for (const auto& path : of_folds) squares += (at(path) - mean) * (at(path) - mean);
    result.mean.push_back(mean);
    result.standard_error.push_back(std::sqrt(squares / (folds * std::max(folds - 1, 1.0))));
  }
  result.folds = std::move(of_folds);
  if (points == 0) return result;
  result.best = static_cast<std::size_t>(std::min_element(result.mean.begin(), result.mean.end()) -
                                         result.mean.begin());
  const double bar = result.mean[result.best] +
                     (choice == ChoiceOfPoint::one_standard_error ? result.standard_error[result.best] : 0.0);
  result.chosen = static_cast<std::size_t>(
      std::find_if(result.mean.begin(), result.mean.end(), [&](double e) { return e <= bar; }) -
      result.mean.begin());
  return result;
}

std::string reason_of(const CrossValidation& result, ChoiceOfPoint choice, bool percent,
                      const std::function<std::string(std::size_t point)>& point) {
  const auto shown = [&](double value) {
    return percent ? fmt::format("{:.3g}%", 100 * value) : fmt::format("{:.4g}", value);
  };
  const double deviation = result.standard_error[result.chosen];
  std::string text = fmt::format(
      "{}: cross-validated error {} ± {}", point(result.chosen), shown(result.mean[result.chosen]),
      percent ? fmt::format("{:.2g}", 100 * deviation) : fmt::format("{:.2g}", deviation));
  if (choice == ChoiceOfPoint::least) return text + ", the least";
  return text + fmt::format(", one standard error rule (least: {} at {})", shown(result.mean[result.best]),
                            point(result.best));
}

void check_folds(Index folds, Index rows) {
  if (folds == 1)
    throw OptionError::of_value("folds", "1", "leaves nothing to learn from; give 2 or more, or 0 for none");
  if (folds > rows) {
    throw OptionError::of_value("folds", std::to_string(folds),
                                fmt::format("asks for more folds than the {} rows of the data", rows));
  }
}

void require_finished(const Context& context, std::string_view what) {
  if (context.monitor.cancelled()) throw Cancelled(fmt::format("during {}", what));
}

}  // namespace sharelearn
