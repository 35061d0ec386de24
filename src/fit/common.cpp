#include "fit/common.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "run/usage.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {
namespace {

void check_finite(const Round& round) {
  for (const auto& [what, value] : {std::pair("objective", round.objective), std::pair("loss", round.loss)}) {
    if (!value || std::isfinite(*value)) continue;
    throw Failure(fmt::format(
        "the {} became {}, so that there is no model: the values are too large, or the steps; try `scale` "
        "minmax, and a stronger penalty",
        what, *value));
  }
}

/// Fills missing values of a copy; data without any stays as it is.
void fill(Rows& rows, std::span<const float> means, ThreadPool& threads) {
  if (!has_missing(rows->x)) return;
  Dataset filled = *rows;
  fill_missing(filled.x, means, threads);
  rows = Rows(std::move(filled));
}

void fill_missing_values(Prepared& data, const CommonFit& common) {
  const std::string missing = common.missing.value_or("error");
  ThreadPool& threads = data.context.threads;
  if (missing == "mean") data.means = column_means(data.train->x, threads, data.train->weight);
  const auto prepare = [&](Rows& rows) {
    if (missing == "error" && has_missing(rows->x)) {
      throw InputError(fmt::format("{}: values are missing; `missing` mean or `missing` zero fills them in",
                                   rows->source));
    }
    fill(rows, data.means, threads);
  };
  prepare(data.train);
  if (data.test) prepare(*data.test);
}

Prepared prepare(const FitData& data, const CommonFit& common, const Context& context) {
  Prepared prepared{Rows(data.train), std::nullopt, {}, {context.threads, context.monitor, *common.seed}};
  if (data.test != nullptr) {
    prepared.test.emplace(*data.test);
    require_columns(*data.test, data.train.columns(), fmt::format("{} has", data.train.source));
    if (!data.test->weight.empty()) normalised_weights(*data.test);  // refuses what training may not have
  }
  if (!data.train.weight.empty())
    normalised_weights(data.train);  // refuses weights that nothing can be learned from
  fill_missing_values(prepared, common);
  if (common.holdout.value_or(0) > 0) {
    if (prepared.test)
      throw InputError("`holdout` and `test` exclude each other: the test set is one or the other");
    const Split split = holdout_split(*prepared.train, *common.holdout, *common.seed);
    prepared.test.emplace(select_rows(*prepared.train, split.test));
    prepared.train = Rows(select_rows(*prepared.train, split.train));
  }
  return prepared;
}

/// What a cancelled run left is a model if it has a feature, and says that it is unfinished.
void settle_cancelled(FitReport& report) {
  if (report.end.features_used.value_or(1) == 0)
    throw Failure("cancelled before a feature was chosen: there is no model");
  report.end.stop = "cancelled";
  report.warnings.push_back("cancelled; the model is what was learned until then");
}

}  // namespace

FieldTable common_fields(CommonFit& options, const CommonTraits& traits) {
  FieldTable table;
  table.section("Data and reproducibility");
  table.add("seed", options.seed, "Seed of everything random").at_least(0).otherwise(1);
  table
      .add("missing", options.missing,
           "What a missing value is: an error, the column's mean in the training data, or zero")
      .choices({"error", "mean", "zero"})
      .otherwise("error");
  table.add("scale", options.scale, "Scaling of the columns; it belongs to the model")
      .choices({"none", "minmax", "standard"})
      .otherwise_text(traits.scale_text);
  table
      .add("holdout", options.holdout,
           "Fraction of the training rows taken as test set, spread over classes or tasks")
      .between(0, 0.999)
      .otherwise(0.0);
  if (traits.class_weight) {
    table
        .add("class-weight", options.class_weight,
             "balanced: every class counts the same, however many rows it has")
        .choices({"none", "balanced"})
        .otherwise("none");
  }
  if (traits.bias) table.add("bias", options.bias, "Intercept per class, never penalised").otherwise(true);
  if (!traits.tolerance.empty()) {
    table.add("tolerance", options.tolerance, "Accuracy of the solver")
        .above(0)
        .otherwise_text(traits.tolerance);
  }
  return table;
}

void resolve_common(CommonFit& options, const PoolOptions& pool, double tolerance) {
  if (!options.scale) options.scale = pool.name.value_or("columns") == "patches" ? "none" : "minmax";
  if (!options.tolerance) options.tolerance = tolerance;
}

nlohmann::json metadata_of(const FitReport& report) {
  const nlohmann::json json = to_json(report);
  nlohmann::json metadata{{"method", json["method"]}, {"options", json["options"]}, {"data", json["data"]}};
  for (const char* key : {"objective", "loss", "penalty", "train_error", "test_error", "features_used",
                          "candidates", "lambda", "examples", "mistakes", "first_occurrences"}) {
    if (json.contains(key)) metadata["summary"][key] = json[key];
  }
  return metadata;
}

Fitted run_fit(std::string_view method, const FitData& data, const CommonFit& common, const FieldTable& table,
               const Context& context, const std::function<Fitted(Prepared&)>& learn) {
  const auto start = std::chrono::steady_clock::now();
  table.check();
  table.fill();
  Prepared prepared = prepare(data, common, context);
  Fitted fitted = learn(prepared);
  FitReport& report = fitted.report;
  check_finite(report.end);
  for (const Round& round : report.rounds) check_finite(round);
  if (context.monitor.cancelled()) settle_cancelled(report);
  report.method = method;
  report.options = table.values_in_effect();
  if (report.rows == 0) report.rows = prepared.train->rows();
  report.columns = prepared.train->columns();
  report.outputs = std::ssize(fitted.model->output_names());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_bytes = peak_bytes();
  if (!prepared.means.empty()) {  // a model that goes on learning may have more columns, and means of its own
    prepared.means.resize(static_cast<std::size_t>(fitted.model->columns()));
    fitted.model->preprocessing.means = std::move(prepared.means);
  }
  fitted.model->metadata = metadata_of(report);
  return fitted;
}

std::vector<double> row_weights(const Dataset& part, const CommonFit& common, const Classes* classes) {
  return normalised_weights(part, common.class_weight.value_or("none") == "balanced" ? classes : nullptr);
}

std::shared_ptr<LinearModel> model_over(std::vector<FeaturePtr> features, std::vector<std::string> names,
                                        const Dataset& train, const Scaling& scaling) {
  auto model = std::make_shared<LinearModel>();
  model->features = std::move(features);
  model->preprocessing.scaling = scaling;
  model->names = std::move(names);
  model->preprocessing.names = train.column_names;
  model->preprocessing.columns = train.columns();
  return model;
}

void add_sparsity(const LinearModel& model, Round& end) {
  const std::vector<double> all = model.weights();
  const auto outputs = std::ssize(model.names);
  Index rows = 0, weights = 0;
  for (auto column = all.begin(); column != all.end(); column += outputs) {
    const auto nonzero = std::count_if(column, column + outputs, [](double w) { return w != 0; });
    rows += nonzero > 0 ? 1 : 0;
    weights += nonzero;
  }
  end.features_used = model.features_used();
  end.nonzero_rows = rows;
  end.nonzero_weights = weights;
}

Grid<double> constant_scores(Index rows, Index outputs, std::span<const double> bias) {
  Grid<double> scores(rows, outputs);
  for (std::size_t c = 0; c < bias.size(); ++c)
    std::fill_n(scores.column(static_cast<Index>(c)), rows, bias[c]);
  return scores;
}

nlohmann::json described(const std::vector<FeaturePtr>& features, std::size_t first,
                         const std::vector<std::string>& names) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t f = first; f < features.size(); ++f) all.push_back(features[f]->describe(names));
  return all;
}

}  // namespace sharelearn
