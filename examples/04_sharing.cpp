// Digits as a stream whose classes appear one after another: learn, save in the middle, continue from the
// file, predict.
#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/fit/evaluate.hpp>
#include <sharelearn/fit/sharing.hpp>

using namespace sharelearn;

int main() {
  ThreadPool threads;
  const Dataset digits = read_dataset("examples/data/digits.csv.gz", {}, threads);

  SharingFit options;
  options.hypotheses = "hybrid";  // every class has its own hypothesis, and one hypothesis is shared by all
  options.unit = true;

  OnlineSharing online = OnlineSharing::begin(options);
  online.learn(digits, threads, {.after_row = [&](const SharingTrial&) { return online.position() < 900; }});
  save_model(online.checkpoint(), "stream.shl");

  OnlineSharing later = OnlineSharing::resume(load_model("stream.shl"), options);
  later.learn(digits, threads, {.first = later.position()});
  const Fitted fitted = later.finish(&digits, threads);
  std::printf("%d examples, %d mistakes while learning; error afterwards %.3f\n",
              static_cast<int>(later.model().examples), static_cast<int>(later.model().mistakes),
              evaluate(*fitted.model, digits, threads).classes->error);
  const Predictions first = fitted.model->predict(digits, threads);
  std::printf("the first digit is a %s\n",
              fitted.model->output_names()[static_cast<std::size_t>(first.classes[0])].c_str());
}
