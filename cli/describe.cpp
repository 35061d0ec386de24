// sharelearn describe MODEL: features in order of choice and which classes use them.
#include <fmt/core.h>

#include "command.hpp"

namespace sharelearn::cli {
namespace {

class DescribeCommand : public Command {
 public:
  std::string_view name() const override { return "describe"; }
  std::string_view summary() const override { return "Show what a model uses: describe MODEL"; }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "A model that fit wrote")->required();
    app.add_option("--features", features_, "Show the model of at most this many features")
        ->check(CLI::NonNegativeNumber);
  }
  int run() override {
    const ModelPtr model = load_model(model_);
    if (features_ >= 0) use_features(*model, features_);
    fmt::print("method {}\n", model->about.value("method", "unknown"));
    if (model->about.contains("summary")) {
      for (const auto& [key, value] : model->about["summary"].items())
        fmt::print("{} {}\n", key, value.dump());
    }
    fmt::print("{}", model->describe());
    return 0;
  }

 private:
  std::string model_;
  Index features_ = -1;
};

}  // namespace

std::unique_ptr<Command> describe_command() {
  return std::make_unique<DescribeCommand>();
}

}  // namespace sharelearn::cli
