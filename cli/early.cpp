// sharelearn early MODEL DATA -o MODEL: thresholds at which a prediction may stop before all features are
// computed.
#include "sharelearn/model/early.hpp"

#include <fmt/core.h>

#include "command.hpp"
#include "help.hpp"

namespace sharelearn::cli {
namespace {

class EarlyCommand : public Command {
 public:
  std::string_view name() const override { return "early"; }
  std::string_view summary() const override {
    return "Choose where predictions of a model may stop early (predict --early)";
  }
  void declare(CLI::App& app) override {
    const std::string group = "Stopping early";
    app.add_option("-o,--output", output_, "Write the model with its thresholds to this file")
        ->type_name(kFile)
        ->required()
        ->group(group);
    app.add_option("--disagreement", options_.disagreement,
                   "Largest share of answers that may differ from those of all features")
        ->check(between(1e-9, 0.999999))
        ->capture_default_str()
        ->group(group);
    app.add_option("--confidence", options_.confidence, "Probability with which this share is kept")
        ->check(between(0.01, 0.999999))
        ->capture_default_str()
        ->group(group);
    app.add_option("--seed", options_.seed, "Seed of the split into rows that design and rows that test")
        ->capture_default_str()
        ->group(group);
    input_.declare(app,
                   "Rows that the model was not trained on, with or without labels; - is standard input");
  }
  int run() override {
    input_.check_output({"-o", output_});
    const ModelPtr model = input_.load();
    ThreadPool threads(input_.reading.threads);
    const Dataset data = read_for_model(*model, input_.data, input_.reading, {}, threads);
    model->early = std::make_shared<const EarlyStop>(fit_early(*model, data, options_, threads));
    save_model(*model, output_);
    if (output_ != "-") print(*model);
    return 0;
  }

 private:
  static void print(const Model& model);
  ModelInput input_;
  std::string output_;
  EarlyOptions options_;
};

void EarlyCommand::print(const Model& model) {
  const EarlyStop& early = *model.early;
  const auto work = early_work(*as_linear(model, "early"), early);
  fmt::print("{:>10} {:>10} {:>14} {:>12}\n", "features", "columns", "multiply-adds", "margin above");
  for (std::size_t c = 0; c < work.size(); ++c) {
    fmt::print("{:>10} {:>10} {:>14} {:>12}\n", work[c].features, work[c].columns, work[c].multiply_adds,
               c < early.checkpoints.size() ? fmt::format("{:.4g}", early.checkpoints[c].threshold) : "any");
  }
  if (early.checkpoints.empty())
    fmt::print("no rule keeps the bound: every prediction computes all features\n");
  fmt::print("answers that differ: {} of {} rows; at most {:.3g} with confidence {}\n", early.disagreeing,
             early.rows, early.upper_bound, early.confidence);
}

}  // namespace

std::unique_ptr<Command> early_command() {
  return std::make_unique<EarlyCommand>();
}

}  // namespace sharelearn::cli
