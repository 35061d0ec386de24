// A cascade of two levels: first features shared by all digits, then features of single digits. phi is chosen
// by cross-validation.
#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/fit/cascade.hpp>
#include <sharelearn/fit/evaluate.hpp>

using namespace sharelearn;

int main() {
  ThreadPool threads;
  const Dataset digits = read_dataset("examples/data/digits.csv.gz", {}, threads);

  CascadeFit options;
  options.loss = "multiclass-logistic";
  options.levels = 2;
  options.folds = 2;
  options.phi_scales = {0.1, 0.01};
  options.common.holdout = 0.2;
  const Fitted fitted = fit({digits}, options, {threads});
  for (const Round& level : fitted.report.rounds) {
    std::printf("level %d: phi %.4f, %d pixels, test error %.3f\n", static_cast<int>(*level.round),
                *level.phi, static_cast<int>(*level.features_used), *level.test_error);
  }

  save_model(*fitted.model, "cascade.shl");
  const ModelPtr model = load_model("cascade.shl");
  std::printf("error on all digits %.3f\n", evaluate(*model, digits, threads).classes->error);
  const Predictions first = model->predict(digits, threads);
  std::printf("the first digit is a %s\n",
              model->output_names()[static_cast<std::size_t>(first.classes[0])].c_str());
}
