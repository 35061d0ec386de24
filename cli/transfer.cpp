// sharelearn transfer MODEL NEWTASKS: new classes or tasks learned with what a cascade knows (section 5 of
// [ZweigWeinshall13]): batch by projections, online by concatenation.
#include "sharelearn/learn/transfer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cascade_support.hpp"
#include "command.hpp"
#include "options.hpp"
#include "sharelearn/learn/online_run.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class TransferCommand : public Command {
 public:
  std::string_view name() const override { return "transfer"; }
  std::string_view summary() const override {
    return "Learn new classes or tasks with the help of a cascade: transfer MODEL NEWTASKS";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "A model that fit cascade wrote, batch or online")->required();
    app.add_option("NEWTASKS", data_, "Data of the new classes or tasks; - is standard input")->required();
    app.add_option("--test", test_, "Data to report the error on");
    app.add_option("-o,--output", output_, "Where to write the model of the new classes or tasks");
    app.add_option("--report", report_, "Where to write the report (JSON)");
    table_ = std::make_unique<OptionSet>(app);
    batch_only_ = {
        table_->add_choice(
            "--loss", loss_,
            {"multiclass-hinge", "multiclass-logistic", "multitask-hinge", "multitask-logistic"},
            "Batch: loss of the new tasks"),
        table_->add("--components", options_.components, "Batch: singular vectors of each level's weights")
            ->check(positive()),
        table_
            ->add_numbers("--phi", options_.cascade.phi, non_negative(),
                          "Batch: penalty of each level on the projected weights")
            ->default_str("0"),
        table_->add("--smoothing", options_.cascade.smoothing, "Batch: mu of the smoothed hinge")
            ->check(positive()),
        table_->add_flag("--each-level", each_level_,
                         "Batch: project onto each level's own weights, not onto their sum so far")};
    app.add_flag("--quiet", quiet_, "No progress and no table");
    data_options_.declare(app);
  }
  int run() override;

 private:
  Dataset read(const Model& model, const Scaling& scaling, const std::string& path,
               ThreadPool& threads) const;
  nlohmann::json run_batch(const LinearModel& known, Context& context);
  nlohmann::json run_online(const OnlineCascadeModel& known, Context& context);

  std::string model_, data_, test_, output_, report_, loss_ = "multitask-hinge";
  TransferOptions options_;
  bool each_level_ = false, quiet_ = false;
  DataOptions data_options_;
  std::unique_ptr<OptionSet> table_;
  std::vector<const CLI::Option*> batch_only_;
};

Dataset TransferCommand::read(const Model& model, const Scaling& scaling, const std::string& path,
                              ThreadPool& threads) const {
  Dataset data = read_for_model(model, path, data_options_, true, threads);
  model.preprocessing.arrange(data, threads);
  require_columns(data, model.columns(), "the model was trained on");
  scaling.apply(data.x, threads);
  return data;
}

/// The report's `data`.
nlohmann::json size_of(const MultiOutputData& data) {
  return {{"m", data.rows()}, {"d", data.x.cols()}, {"k", data.outputs()}};
}

nlohmann::json TransferCommand::run_batch(const LinearModel& known, Context& context) {
  options_.cascade.loss = joint_loss_from(loss_);
  options_.cumulative = !each_level_;
  const bool multiclass = is_multiclass(options_.cascade.loss);
  for (const FeaturePtr& feature : known.features) {
    if (feature->pool() != "columns")
      throw InputError(fmt::format("{}: transfer needs a cascade of columns", model_));
  }
  const MultiOutputData data =
      joint_data(read(known, known.preprocessing.scaling, data_, context.threads), multiclass);
  const auto increments = increments_of(known, known.columns());
  const Cascade cascade = transfer_batch(data, increments, options_, context);
  const auto model =
      cascade_model(increments_of(cascade), data.names, multiclass ? OutputKind::classes : OutputKind::tasks,
                    {known.preprocessing.scaling, known.column_names(), known.columns(), nullptr});
  model->task_labels = data.task_labels;
  std::optional<MultiOutputData> test;
  if (!test_.empty()) {
    test = joint_data(read(known, known.preprocessing.scaling, test_, context.threads), multiclass,
                      &data.names, data.task_labels);
  }
  warn_of_levels(cascade, options_.cascade.tolerance, context.monitor);
  nlohmann::json report{{"data", size_of(data)}, {"options", table_->values()}};
  report["options"]["phi"] = nlohmann::json::array();
  for (const CascadeLevel& level : cascade.levels) report["options"]["phi"].push_back(level.phi);
  report["rounds"] = level_reports(cascade, data, test ? &*test : nullptr, *model, context.threads);
  finish_report(report, *model);
  add_stop(report, context.monitor);
  model->metadata = {{"method", "transfer"}, {"from", known.metadata}};
  model->preprocessing.means = known.preprocessing.means;
  if (!output_.empty()) save_model(*model, output_);
  if (shows_tables(quiet_, output_, report_)) print_levels(report);
  return report;
}

nlohmann::json TransferCommand::run_online(const OnlineCascadeModel& known, Context& context) {
  for (const CLI::Option* option : batch_only_) {
    if (option->count() == 0) continue;
    throw InputError(fmt::format("{}: {} is an online cascade, which takes its own options to the new tasks",
                                 option->get_name(), model_));
  }
  const bool multiclass = is_multiclass(known.cascade.options().loss);
  Dataset raw = read(known, known.preprocessing.scaling, data_, context.threads);
  refuse_row_weights(raw);
  const auto names = names_by_appearance(raw, multiclass);
  const MultiOutputData data = joint_data(std::move(raw), multiclass, &names);
  OnlineCascadeModel model(transfer_online(known.cascade, data.outputs(), data.own_rows()));
  model.names = names;
  model.preprocessing = known.preprocessing;
  model.task_labels = data.task_labels;
  OnlineSource source(data);
  const auto start = std::chrono::steady_clock::now();
  sharelearn::run_online(model.cascade, source, 0, context);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  require_steps(model);
  nlohmann::json report = online_report(model, seconds);
  report["data"] = size_of(data);
  report["options"] = options_of(model);
  add_stop(report, context.monitor);
  report["examples_per_second"] = static_cast<double>(model.cascade.examples()) / std::max(seconds, 1e-9);
  std::optional<MultiOutputData> test;
  if (!test_.empty()) {
    test = joint_data(read(known, known.preprocessing.scaling, test_, context.threads), multiclass, &names,
                      data.task_labels);
  }
  add_online_errors(report, model, data, test ? &*test : nullptr, context.threads);
  model.metadata = {{"method", "transfer"}, {"from", known.metadata}};
  if (!output_.empty()) save_model(model, output_);
  if (shows_tables(quiet_, output_, report_)) print_online(report);
  return report;
}

int TransferCommand::run() {
  const auto start = std::chrono::steady_clock::now();
  check_paths({{"-o", output_}, {"--report", report_}}, {{"MODEL", model_},
                                                         {"NEWTASKS", data_},
                                                         {"--test", test_},
                                                         {"--labels", data_options_.read.labels_file}});
  const ModelPtr model = load_model(model_);
  ThreadPool threads(data_options_.threads);
  const auto monitor = terminal_monitor(quiet_);
  Context context{threads, *monitor, 1};
  nlohmann::json report;
  if (const auto* online = dynamic_cast<const OnlineCascadeModel*>(model.get())) {
    report = run_online(*online, context);
  } else if (const auto* linear = dynamic_cast<const LinearModel*>(model.get());
             linear != nullptr && linear->increments) {
    report = run_batch(*linear, context);
  } else {
    throw InputError(fmt::format("{}: is no cascade; fit one with 'sharelearn fit cascade'", model_));
  }
  report["method"] = "transfer";
  report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report["peak_bytes"] = peak_bytes();
  write_report(report_, report);
  return 0;
}

}  // namespace

std::unique_ptr<Command> transfer_command() {
  return std::make_unique<TransferCommand>();
}

}  // namespace sharelearn::cli
