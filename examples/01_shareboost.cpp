// A few pixels for ten digits: train, choose the number of pixels by cross-validation, save, load, predict.
#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/fit/evaluate.hpp>
#include <sharelearn/fit/shareboost.hpp>

using namespace sharelearn;

int main() {
  ThreadPool threads;
  const Dataset digits = read_dataset("examples/data/digits.csv.gz", {}, threads);

  ShareBoostFit options;
  options.features = 30;  // at most; the model keeps every smaller number
  options.folds = 3;
  options.ridge = 1e-3;
  options.common.holdout = 0.2;
  const Fitted fitted = fit({digits}, options, {threads});
  for (const Round& round : fitted.report.rounds) {
    std::printf("%2d pixels: test error %.3f\n", static_cast<int>(*round.features_used), *round.test_error);
  }

  save_model(*fitted.model, "digits.shl");
  const ModelPtr model = load_model("digits.shl");
  std::printf("chosen: %d pixels, error on all digits %.3f\n", static_cast<int>(model->features_used()),
              evaluate(*model, digits, threads).classes->error);
  const Predictions first = model->predict(digits, threads);
  std::printf("the first digit is a %s\n",
              model->output_names()[static_cast<std::size_t>(first.classes[0])].c_str());
}
