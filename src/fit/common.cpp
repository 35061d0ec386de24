#include "fit/common.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "data/to_size.hpp"
#include "fit/baseline.hpp"
#include "fit/checkpoints.hpp"
#include "fit/class_weights.hpp"
#include "fit/splits.hpp"
#include "run/ranks.hpp"
#include "run/serial_sum.hpp"
#include "run/usage.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn {
namespace {

void check_finite(const Round& round) {
  for (const auto& [what, value] : {std::pair("objective", round.objective), std::pair("loss", round.loss)}) {
    if (!value || std::isfinite(*value)) continue;
    throw Failure(fmt::format(
        "the {} became {}, so there is no model: the values or the steps are too large; try `scale` "
        "minmax and a stronger penalty",
        what, *value));
  }
}

/// The rows as a data set that may change.
Dataset& own(Rows& rows, std::optional<Dataset>& copy) {
  if (!copy) copy = *rows;
  return *copy;
}

/// Fills missing values in a copy; data without missing values is not copied.
void fill(Rows& rows, const Preprocessing& input, ThreadPool& threads) {
  std::optional<Dataset> copy;
  const bool fills = has_missing(rows->x);
  if (!input.indicators.empty()) append_indicators(own(rows, copy), input.indicators);
  if (fills) fill_missing(own(rows, copy).x, input.means, threads);
  if (copy) rows = Rows(std::move(*copy));
}

void fill_missing_values(Prepared& data, const CommonFit& common) {
  const std::string missing = common.missing.value_or("error");
  ThreadPool& threads = data.context.threads;
  const Dataset& train = *data.train;
  if (missing == "mean" || missing == "indicator")
    data.input.means = column_means(train.x, threads, train.weight);
  if (missing == "median") data.input.means = column_medians(train.x, threads, train.weight);
  if (missing == "indicator") data.input.indicators = columns_with_missing(train);
  const auto prepare = [&](Rows& rows) {
    if (missing == "error" && has_missing(rows->x)) {
      throw InputError(fmt::format("{}: values are missing; `missing` mean or `missing` zero fills them in",
                                   rows->source));
    }
    fill(rows, data.input, threads);
  };
  prepare(data.train);
  if (data.test) prepare(*data.test);
}

/// Transforms counts, in copies. What is fitted, is fitted on the training rows.
void transform_counts(Prepared& data, const CommonFit& common) {
  const CountTransformKind kind = count_transform_from(common.transform.value_or("none"));
  if (kind == CountTransformKind::none) return;
  ThreadPool& threads = data.context.threads;
  data.input.transform = CountTransform::fit(data.train->x, kind, threads, data.train->weight);
  const auto apply = [&](Rows& rows) {
    Dataset changed = *rows;
    data.input.transform.apply(changed.x, threads, changed.source);
    rows = Rows(std::move(changed));
  };
  apply(data.train);
  if (data.test) apply(*data.test);
}

/// What the model must know of its data besides what learning told it.
void keep_input(Prepared& data, Model& model) {
  Preprocessing& to = model.preprocessing;
  if (!data.input.means
           .empty()) {  // a model that goes on learning may have more columns, and means of its own
    data.input.means.resize(static_cast<std::size_t>(model.columns()));
    to.means = std::move(data.input.means);
  }
  to.indicators = std::move(data.input.indicators);
  to.transform = std::move(data.input.transform);
  // A model that goes on learning may have columns in another order.
  to.categories = data.train->column_names == to.names ? data.train->categories : std::vector<Category>();
  model.label_place = data.train->label_place;
  model.zero_based = data.train->zero_based;
}

/// Rows of weight 0 are absent.
void drop_weightless(Rows& rows) {
  std::vector<Index> kept;
  for (Index i = 0; i < std::ssize(rows->weight); ++i) {
    if (rows->weight[to_size(i)] > 0) kept.push_back(i);
  }
  if (std::ssize(kept) < std::ssize(rows->weight)) rows = Rows(select_rows(*rows, kept));
}

/// Images of a file that says how wide they are need no `image-width`, and can have no other.
void take_image_width(const FitData& data, const FieldTable& table) {
  const Index width = data.train.image_width;
  if (width == 0) return;
  if (data.test != nullptr && data.test->image_width > 0 && data.test->image_width != width) {
    throw InputError(fmt::format("{}: the images are {} pixels wide, but those of {} are {}",
                                 data.test->source, data.test->image_width, data.train.source, width));
  }
  const Field* field = table.find("image-width");
  if (field == nullptr || !field->applies()) return;
  if (field->is_set() && field->get() != 0 && field->get() != width) {
    throw OptionError::of_value("image-width", field->get().dump(),
                                fmt::format("the images of {} are {} pixels wide", data.train.source, width));
  }
  field->set(width);
}

Prepared prepare(const FitData& data, const CommonFit& common, const Context& context) {
  const Alone alone(context.threads);  // every rank takes the same rows
  Prepared prepared{Rows(data.train), std::nullopt, {}, {context.threads, context.monitor, *common.seed}};
  if (data.test != nullptr) {
    prepared.test.emplace(*data.test);
    require_columns(*data.test, data.train.columns(), fmt::format("{} has", data.train.source));
    if (!data.test->weight.empty()) normalised_weights(*data.test);  // throws as for training rows
  }
  if (!data.train.weight.empty())
    normalised_weights(data.train);  // refuses weights that nothing can be learned from
  drop_weightless(prepared.train);
  if (prepared.test) drop_weightless(*prepared.test);
  fill_missing_values(prepared, common);
  if (common.holdout.value_or(0) > 0) {
    if (prepared.test) throw InputError("`holdout` cannot be combined with `test`: both give the test set");
    const Split split = holdout_split(*prepared.train, *common.holdout, *common.seed);
    prepared.test.emplace(select_rows(*prepared.train, split.test));
    prepared.train = Rows(select_rows(*prepared.train, split.train));
  }
  transform_counts(prepared, common);
  return prepared;
}

}  // namespace

FieldTable common_fields(CommonFit& options, const CommonTraits& traits) {
  FieldTable table;
  table.section("Data");
  table
      .add("missing", options.missing,
           "Missing values: report an error, or fill in zero, or the column's mean or median in the training "
           "data. indicator: the mean, and one more column that is 1 where a value is missing")
      .choices(traits.online ? std::vector<std::string>{"error", "mean", "median", "zero"}
                             : std::vector<std::string>{"error", "mean", "median", "zero", "indicator"})
      .otherwise("error");
  table
      .add("scale", options.scale,
           "Scaling of the columns, kept in the model: minmax to [-1, 1], standard to mean 0 and deviation 1")
      .choices({"none", "minmax", "standard"})
      .otherwise_text(traits.scale_text);
  if (!traits.online) {
    table
        .add("transform", options.transform,
             "Transform of counts such as words, before the scaling, kept in the model: log1p: ln(1 + x); "
             "binary: "
             "1 for any count; tfidf: counts of rare columns weigh more, rows have length 1")
        .choices({"none", "log1p", "binary", "tfidf"})
        .otherwise("none");
  }
  table
      .add("holdout", options.holdout,
           "Fraction of the training rows set aside as test set, of every class or task alike")
      .between(0, 0.999)
      .otherwise(0.0);
  if (traits.class_weight) {
    table
        .add("class-weight", options.class_weight,
             "balanced: every class counts the same, however many rows it has; or a file of lines 'class "
             "weight'")
        .choices({"none", "balanced"})
        .otherwise("none")
        .from_file();
  }
  if (traits.checkpoint) {
    table
        .add("checkpoint", options.checkpoint,
             "Keep the state of the run in this file while learning; if the file exists, go on from it")
        .as_path();
  }
  if (traits.calibration) {
    table
        .add("calibration", options.calibration,
             "Probabilities. folds: fitted to rows that are left out of the training by turns; none: as the "
             "loss defines them")
        .choices({"folds", "none"})
        .otherwise("folds");
  }
  table.add("seed", options.seed, "Seed of the random numbers").at_least(0).otherwise(1);
  return table;
}

bool has_classes_by_loss(const std::optional<std::string>& loss) {
  const std::string name = loss.value_or("multiclass");
  return name == "multiclass" || name.starts_with("binary");
}

void class_weight_needs_classes(FieldTable& table, const CommonFit& options,
                                const std::optional<std::string>& loss) {
  for (Field& field : table.fields()) {
    if (field.name != "class-weight") continue;
    field.when("a `loss` with classes: multiclass or binary", [&options, &loss] {
      return options.class_weight.value_or("none") == "none" || has_classes_by_loss(loss);
    });
  }
}

FieldTable solver_fields(CommonFit& options, const CommonTraits& traits) {
  FieldTable table;
  table.section("Intercept and solver");
  if (traits.bias) table.add("bias", options.bias, "Intercept per class, never penalised").otherwise(true);
  if (!traits.tolerance.empty()) {
    table.add("tolerance", options.tolerance, "Accuracy of the solver; smaller is slower")
        .above(0)
        .otherwise_text(traits.tolerance);
  }
  return table;
}

void resolve_common(CommonFit& options, const PoolOptions& pool, double tolerance, std::string_view scale) {
  if (!options.scale) options.scale = pool.name.value_or("columns") == "patches" ? "none" : scale;
  if (!options.tolerance) options.tolerance = tolerance;
}

nlohmann::json metadata_of(const FitReport& report) {
  const nlohmann::json json = to_json(report);
  nlohmann::json metadata{{"method", json["method"]}, {"options", json["options"]}, {"data", json["data"]}};
  for (const char* key :
       {"objective", "loss", "penalty", "train_error", "test_error", "features_used", "columns_read",
        "candidates", "lambda", "examples", "mistakes", "first_occurrences"}) {
    if (json.contains(key)) metadata["summary"][key] = json[key];
  }
  return metadata;
}

void settle_cancelled(FitReport& report) {
  if (report.end.features_used.value_or(1) == 0) throw Cancelled("before a feature was chosen");
  report.end.stop = "cancelled";
  report.warnings.push_back("cancelled; the model is what was learned up to that point");
}

void require_scores(std::string_view method, Index rows, Index outputs, int arrays) {
  const double numbers =
      static_cast<double>(arrays) * static_cast<double>(rows) * static_cast<double>(outputs);
  require_memory(sizeof(double) * numbers,
                 fmt::format("{} with {} rows and {} classes or tasks", method, rows, outputs));
}

Fitted run_fit(std::string_view method, const FitData& data, const CommonFit& common, const FieldTable& table,
               const Context& context, const std::function<Fitted(Prepared&)>& learn) {
  const auto start = std::chrono::steady_clock::now();
  take_folds(data.train, table);
  table.check();
  table.fill();
  take_image_width(data, table);
  const auto checkpoint = open_checkpoint(common, method, table, data, context.threads.ranks());
  const Watch watch(context);
  Prepared prepared = prepare(data, common, context);
  prepared.context.checkpoint = checkpoint.get();
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
  const Dataset& shown = prepared.test ? **prepared.test : *prepared.train;
  if (const auto baseline = baseline_error(*fitted.model, *prepared.train, shown))
    report.extra["baseline_error"] = *baseline;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_bytes = peak_bytes();
  keep_input(prepared, *fitted.model);
  if (report.end.features_used && fitted.model->columns() > 0)
    report.end.columns_read = fitted.model->columns_read();
  fitted.model->metadata = metadata_of(report);
  return fitted;
}

std::vector<double> row_weights(const Dataset& part, const CommonFit& common, const Classes* classes) {
  const std::string kind = common.class_weight.value_or("none");
  if (kind == "none" || classes == nullptr) return normalised_weights(part);
  if (kind == "balanced") return normalised_weights(part, classes);
  const std::vector<double> of_class = class_weights_from(kind, classes->names);
  std::vector<double> weights = normalised_weights(part);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (classes->of_row[i] >= 0) weights[i] *= of_class[to_size(classes->of_row[i])];
  }
  double sum = 0;
  serial_sum(std::ssize(weights), {&sum, 1}, [&](RowRange block, std::span<double> to) {
    for (Index i = block.begin; i < block.end; ++i) to[0] += weights[to_size(i)];
  });
  for (double& weight : weights) weight /= sum;
  return weights;
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

std::vector<double> doubled(const std::vector<double>& single) {
  std::vector<double> both;
  for (const double w : single) both.insert(both.end(), {0.0, w});
  return both;
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

Index ColumnCounter::count(std::span<const FeaturePtr> features) {
  if (features.size() < counted_) *this = {};
  for (; counted_ < features.size(); ++counted_) {
    for (const Index column : features[counted_]->inputs()) {
      if (std::ssize(seen_) <= column) seen_.resize(to_size(column) + 1, 0);
      if (std::exchange(seen_[to_size(column)], 1) == 0) ++columns_;
    }
  }
  return columns_;
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
