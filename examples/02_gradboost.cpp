// A path of sparse models, each with a proven optimality gap; cross-validation chooses lambda.
#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/fit/evaluate.hpp>
#include <sharelearn/fit/structural.hpp>

using namespace sharelearn;

int main() {
  ThreadPool threads;
  const Dataset digits = read_dataset("examples/data/digits.csv.gz", {}, threads);

  GradBoostFit options;
  options.penalty = "l1l2";  // a pixel is dropped for all digits at once
  options.path = 12;
  options.path_min = 0.05;
  options.folds = 3;
  const Fitted fitted = fit({digits}, options, {threads});
  for (const Round& round : fitted.report.rounds) {
    std::printf("lambda %.4f: %2d pixels, within %.0e of the optimum\n", *round.lambda,
                static_cast<int>(*round.features_used), *round.gap);
  }

  save_model(*fitted.model, "path.shl");
  const ModelPtr model = load_model("path.shl");
  std::printf("chosen: lambda %.4f, %d pixels, error %.3f\n", *fitted.report.end.lambda,
              static_cast<int>(model->features_used()), evaluate(*model, digits, threads).classes->error);
  std::printf("probability of the first digit's class: %.3f\n", model->proba(digits, threads)(0, 0));
}
