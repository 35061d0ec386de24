// sharelearn describe MODEL: features in order of choice and which classes use them, as a table or as JSON.
#include <fmt/core.h>

#include "command.hpp"
#include "option_fields.hpp"
#include "sharelearn/analysis/bounds.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn::cli {
namespace {

class DescribeCommand : public Command {
 public:
  std::string_view name() const override { return "describe"; }
  std::string_view summary() const override { return "Show the features and weights of a model"; }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "Model file written by fit or transfer")->required();
    point_.declare(app, "Show");
    app.add_option(
           "--vocabulary", vocabulary_,
           "Names of the columns of a model whose data had none, one per line (the text before a tab)")
        ->type_name(kFile)
        ->group(kDataSection);
    auto* json =
        app.add_flag("--json", json_, "Print the whole model as JSON: everything that a prediction needs");
    app.add_flag("--stages", stages_,
                 "With --json: the weights of every step of a path and of every level of a cascade")
        ->needs(json);
    app.add_flag("--bounds", bounds_,
                 "Show what theory guarantees for this model ([ShareBoost11]): how far its true error can "
                 "exceed the training error, and how many features suffice")
        ->excludes(json);
    app.add_option("--delta", delta_, "With --bounds: probability with which the bound on the error may fail")
        ->check(between(1e-12, 1.0))
        ->capture_default_str();
  }
  int run() override {
    const ModelPtr model = load_model(model_);
    point_.choose(*model);
    if (point_.chosen()) forget_training(*model);
    if (!vocabulary_.empty()) name_features(*model);
    if (json_) {
      nlohmann::json all = model->to_json(stages_);
      all.update(model->metadata);
      fmt::print("{}\n", json_text(all, 1));
      return 0;
    }
    std::string text = fmt::format("method {}\n", model->metadata.value("method", "unknown"));
    if (model->metadata.contains("summary")) {
      for (const auto& [key, value] : model->metadata["summary"].items())
        text += fmt::format("{} {}\n", key, json_text(value));
    }
    print_text(stdout, text + model->describe());
    if (bounds_) print_bounds(*model);
    return 0;
  }

 private:
  void print_bounds(const Model& model) const;
  void name_features(Model& model) const;
  std::string model_, vocabulary_;
  PathPoint point_;
  bool bounds_ = false, json_ = false, stages_ = false;
  double delta_ = 0.05;
};

void DescribeCommand::name_features(Model& model) const {
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  if (sharing != nullptr && (sharing->features.by_name() || sharing->features.hash_bits() > 0))
    throw InputError(
        fmt::format("{}: its features are known by name or hash: leave {} out", model_, vocabulary_));
  Dataset none;  // with the columns of the model, but without rows
  none.source = model_;
  none.column_names = model.preprocessing.names;
  SparseMatrix x;
  x.cols = sharing != nullptr ? sharing->feature_count - (sharing->features.bias() ? 1 : 0) : model.columns();
  x.start.assign(static_cast<std::size_t>(x.cols) + 1, 0);
  none.x = std::move(x);
  name_columns(none, read_text(vocabulary_), vocabulary_);
  model.preprocessing.names = none.column_names;
}

/// Theorems 1 and 2 of [ShareBoost11] with the model's own figures; W* of Theorem 2 is the model's W.
void DescribeCommand::print_bounds(const Model& model) const {
  const auto* linear = dynamic_cast<const LinearModel*>(&model);
  const nlohmann::json& metadata = model.metadata;
  if (linear == nullptr || linear->kind_of_output != OutputKind::classes || linear->increments) {
    throw InputError(fmt::format("{}: --bounds needs a model of classes with one set of weights", model_));
  }
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json& data = metadata.contains("data") ? metadata["data"] : none;
  const nlohmann::json& summary = metadata.contains("summary") ? metadata["summary"] : none;
  const RunSize run{.features = model.features_used(),
                    .classes = std::ssize(model.output_names()),
                    .candidates = summary.value("candidates", data.value("d", model.columns())),
                    .rows = data.value("m", Index{0})};
  if (run.rows < 1) throw InputError(fmt::format("{}: the model does not say how many rows it saw", model_));
  const Stage& stage = linear->stages[static_cast<std::size_t>(linear->stage)];
  const double norm = linf1_norm(stage.weights, run.classes);
  fmt::print("bounds: T {} features, k {} classes, d {} candidates, {} rows, delta {}\n", run.features,
             run.classes, run.candidates, run.rows, delta_);
  fmt::print(
      "theorem 1: true error <= training error {}+ O({:.4g})\n",
      summary.contains("train_error") ? fmt::format("{:.4g} ", summary["train_error"].get<double>()) : "",
      generalisation_term(run, delta_));
  fmt::print("theorem 2: ||W||_inf,1 {:.6g}; rounds sufficient for the loss of this W + epsilon:", norm);
  for (const double epsilon : {1.0, 0.1, 0.01}) {
    fmt::print(" {:.0f} (epsilon {})", rounds_sufficient(norm, epsilon), epsilon);
  }
  fmt::print("\n");
}

}  // namespace

std::unique_ptr<Command> describe_command() {
  return std::make_unique<DescribeCommand>();
}

}  // namespace sharelearn::cli
