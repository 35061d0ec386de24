// sharelearn trim MODEL -o MODEL: one point of a model's path as a model of its own.
#include <fmt/core.h>

#include "command.hpp"
#include "help.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class TrimCommand : public Command {
 public:
  std::string_view name() const override { return "trim"; }
  std::string_view summary() const override {
    return "Keep one size of a model only: a smaller file with the same predictions";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "Model file written by fit or transfer")->required();
    app.add_option("-o,--output", output_, "Write the trimmed model to this file")
        ->type_name(kFile)
        ->required();
    point_.declare(app, "Keep");
  }
  int run() override {
    check_paths({{"-o", output_}}, {{"MODEL", model_}});
    const ModelPtr model = load_model(model_);
    auto* linear = dynamic_cast<LinearModel*>(model.get());
    if (linear == nullptr) {
      throw InputError(fmt::format("{}: a model of the kind '{}' has no path; there is nothing to trim",
                                   model_, model->kind()));
    }
    point_.choose(*model);
    linear->trim();
    forget_training(*model);
    save_model(*model, output_);
    if (output_ != "-") fmt::print("{} features kept\n", model->features_used());
    return 0;
  }

 private:
  std::string model_, output_;
  PathPoint point_;
};

}  // namespace

std::unique_ptr<Command> trim_command() {
  return std::make_unique<TrimCommand>();
}

}  // namespace sharelearn::cli
