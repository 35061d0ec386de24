#include "sharelearn/fit/transfer.hpp"

#include <fmt/core.h>

#include <chrono>

#include "fit/common.hpp"
#include "fit/online_report.hpp"
#include "learn/online_run.hpp"
#include "model/increments.hpp"
#include "run/usage.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/learn/transfer.hpp"

namespace sharelearn {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A copy of the rows, arranged and scaled like the rows that the model was trained on.
Dataset arranged(const Model& model, const Dataset& rows, ThreadPool& threads) {
  Dataset out = rows;
  model.preprocessing.arrange(out, threads);
  require_columns(out, model.columns(), "the model was trained on");
  model.preprocessing.scaling.apply(out.x, threads);
  return out;
}

/// Test rows with the outputs of `train`.
std::optional<MultiOutputData> test_rows(const Model& known, const FitData& data,
                                         const MultiOutputData& train, ThreadPool& threads) {
  if (data.test == nullptr) return std::nullopt;
  return multi_output_data(arranged(known, *data.test, threads), train.multiclass(), &train.names,
                           train.task_labels);
}

Fitted transfer_batch(const LinearModel& known, const FitData& data, TransferFit& o, Context& context) {
  const JointLoss loss = joint_loss_from(*o.loss);
  const TransferOptions options{
      .components = *o.components,
      .cumulative = !*o.each_level,
      .cascade = {.loss = loss, .phi = o.phi.value_or(std::vector<double>()), .smoothing = *o.smoothing}};
  const MultiOutputData train =
      multi_output_data(arranged(known, data.train, context.threads), is_multiclass(loss));
  std::vector<CompositePoint> levels;
  for (Increment& level : increments_of(known, known.columns()))
    levels.push_back({std::move(level.weights), std::move(level.bias)});
  const Cascade cascade = transfer_batch(train, levels, options, context);
  context.keep_results();
  Preprocessing preprocessing = known.preprocessing;
  preprocessing.columns = known.columns();
  const auto model = cascade_model(cascade, train, loss, preprocessing);
  Fitted fitted{model, {}};
  const auto test = test_rows(known, data, train, context.threads);
  report_levels(cascade, train, test ? &*test : nullptr, *model, options.cascade.tolerance, context,
                fitted.report, {});
  o.phi.emplace();
  for (const CascadeLevel& level : cascade.levels) o.phi->push_back(level.phi);
  fitted.report.options = fields(o).values_in_effect();
  fitted.report.rows = train.rows();
  return fitted;
}

Fitted transfer_online(const OnlineCascadeModel& known, const FitData& data, Context& context) {
  refuse_row_weights(data.train);
  const bool multiclass = is_multiclass(known.cascade.options().loss);
  const std::vector<std::string> names = outline_of(data.train, multiclass).names;
  const MultiOutputData train =
      multi_output_data(arranged(known, data.train, context.threads), multiclass, &names);
  auto model =
      std::make_shared<OnlineCascadeModel>(transfer_online(known.cascade, train.outputs(), train.own_rows()));
  model->names = names;
  model->preprocessing = known.preprocessing;
  model->task_labels = train.task_labels;
  OnlineCascadeLearner learner = OnlineCascadeLearner::resume(model);
  const auto start = std::chrono::steady_clock::now();
  learner.learn(train, context);
  context.keep_results();
  const double seconds = seconds_since(start);
  require_steps(*model);
  Fitted fitted{model, learner.report(seconds)};
  fitted.report.rows = train.rows();
  const auto test = test_rows(known, data, train, context.threads);
  add_online_errors(fitted.report, *model, train, test ? &*test : nullptr, context.threads);
  return fitted;
}

Fitted transferred(const Model& known, const FitData& data, const TransferFit& options,
                   const std::string& source, Context& context) {
  TransferFit o = options;
  const FieldTable table = fields(o);
  if (const auto* online = dynamic_cast<const OnlineCascadeModel*>(&known)) {
    for (const Field& field : table.fields()) {
      if (field.is_set())
        throw OptionError(
            field.name,
            fmt::format("{} is an online cascade, which keeps the options it was learned with", source));
    }
    return transfer_online(*online, data, context);
  }
  const auto* linear = dynamic_cast<const LinearModel*>(&known);
  if (linear == nullptr || !linear->increments) throw InputError(fmt::format("{}: is not a cascade", source));
  for (const FeaturePtr& feature : linear->features) {
    if (feature->pool() != "columns") {
      throw InputError(fmt::format("{}: transfer needs a cascade of columns, this one has features of {}",
                                   source, feature->pool()));
    }
  }
  table.check();
  table.fill();
  return transfer_batch(*linear, data, o, context);
}

}  // namespace

FieldTable fields(TransferFit& o) {
  FieldTable table;
  table.section("With a batch cascade (an online cascade keeps the options it was learned with)");
  table.add("loss", o.loss, "The task and its loss: new classes, or new yes/no tasks")
      .choices(joint_loss_names())
      .otherwise("multitask-hinge");
  table
      .add("components", o.components,
           "Number of directions to take from the weights of each level: the singular vectors with the "
           "largest singular values")
      .above(0)
      .otherwise(5);
  table
      .add("phi", o.phi,
           "Weight of the penalty of each level on the weights along these directions, separated by commas")
      .at_least(0)
      .otherwise_text("0");
  table
      .add("smoothing", o.smoothing,
           "Rounding of the hinge loss; smaller is closer to the exact hinge and slower")
      .above(0)
      .otherwise(0.5);
  table
      .add("each-level", o.each_level,
           "Take the directions from the weights of each level alone, not from the sum of the levels so far")
      .otherwise(false);
  return table;
}

Fitted transfer(const Model& known, const FitData& data, const TransferFit& options, const Context& context,
                const std::string& source) {
  const auto start = std::chrono::steady_clock::now();
  Context world = context;
  const Watch watch(context);
  Fitted fitted = transferred(known, data, options, source, world);
  FitReport& report = fitted.report;
  report.method = "transfer";
  report.columns = known.columns();
  report.outputs = std::ssize(fitted.model->output_names());
  if (context.monitor.cancelled()) settle_cancelled(report);
  report.seconds = seconds_since(start);
  report.peak_bytes = peak_bytes();
  fitted.model->metadata = {{"method", "transfer"}, {"from", known.metadata}};
  return fitted;
}

}  // namespace sharelearn
