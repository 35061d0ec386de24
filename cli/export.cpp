// sharelearn export MODEL --to c|js|python|onnx -o FILE: the model as a program in another language, or as
// an ONNX graph.
#include "sharelearn/export/export.hpp"

#include <fmt/core.h>

#include "command.hpp"
#include "help.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class ExportCommand : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view summary() const override {
    return "Write a model as a program in C, JavaScript or Python, or as ONNX";
  }
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "Model file written by fit, transfer or early")->required();
    app.add_option("--to", target_,
                   "Language: C99 (a header), JavaScript (an ES module), Python (NumPy), or an ONNX graph")
        ->check(CLI::IsMember({"c", "js", "python", "onnx"}))
        ->required();
    app.add_option("-o,--output", output_, "File to write; names in C follow the file's name")
        ->type_name(kFile)
        ->required();
    app.add_option(
           "--features", features_,
           "Use the model with at most N features, of those that the training kept; without stopping early")
        ->check(non_negative());
    app.add_option("--check", check_,
                   "Rows of data: also write a program that compares the exported model with predictions of "
                   "sharelearn, FILE_check")
        ->type_name(kFile);
    app.add_option("--check-rows", rows_, "With --check: number of rows")
        ->check(positive())
        ->capture_default_str();
    app.add_option(
           "--arithmetic", arithmetic_,
           "With --to c: float, or integers (fixed point) with weights of 16 or 8 bits; integers need "
           "--check, whose rows give the range of every column")
        ->check(CLI::IsMember({"float", "int16", "int8"}))
        ->capture_default_str();
    reading_.declare(app);
  }
  int run() override;

 private:
  std::string model_, target_, output_, check_, arithmetic_ = "float";
  Index features_ = -1, rows_ = 100;
  DataOptions reading_;
};

void print_cost(const ExportCost& cost) {
  fmt::print("flash: {} bytes of tables, and the code; RAM: {} bytes; multiply-adds per prediction: {}",
             cost.table_bytes, cost.ram_bytes, cost.multiply_adds);
  if (cost.mean_multiply_adds > 0)
    fmt::print(" at most, {:.0f} on average over the rows of --check", cost.mean_multiply_adds);
  fmt::print("\n");
  if (cost.bound) fmt::print("largest possible error of a score: {:.3g}\n", *cost.bound);
}

int ExportCommand::run() {
  check_paths({{"-o", output_}}, {{"MODEL", model_}, {"--check", check_}});
  if (output_ == "-" && !check_.empty()) {
    throw InputError("--check: the program is written beside FILE, so -o cannot be standard output");
  }
  const ModelPtr model = load_model(model_);
  if (features_ >= 0) {
    PathPoint{.features = features_}.choose(*model);
    model->early = nullptr;  // its thresholds belong to another number of features
  }
  const Arithmetic arithmetic = arithmetic_from(arithmetic_);
  ThreadPool threads(reading_.threads);
  std::optional<TestVector> vector;
  if (!check_.empty()) {
    const Dataset data = read_for_model(*model, check_, reading_, {}, threads);
    vector = test_vector(*model, data, rows_, threads, arithmetic);
  }
  const Exported exported =
      export_model(*model, export_target_from(target_), output_, vector ? &*vector : nullptr, arithmetic);
  write_file(output_, exported.text);
  if (exported.cost && output_ != "-") print_cost(*exported.cost);
  if (!exported.check.empty()) {
    write_file(exported.check_path, exported.check);
    fmt::print("check it with: {}\n", exported.command);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> export_command() {
  return std::make_unique<ExportCommand>();
}

}  // namespace sharelearn::cli
