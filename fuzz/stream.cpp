// Lines that arrive one at a time: the line reader, and the two online learners behind it. The first two
// bytes choose the learner and its options.
#include <array>

#include "data/line_source.hpp"
#include "fuzz.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/fit/sharing.hpp"

namespace {

using namespace sharelearn;

void learn_sharing(unsigned choice, unsigned more, LineSource& source) {
  constexpr std::array kHypotheses{"multi", "single", "hybrid", "hierarchy", "s: a b\nt: b c\nu: c"};
  constexpr std::array kMaps{"product", "frequency", "difference"};
  SharingFit options;
  options.hypotheses = kHypotheses[choice % kHypotheses.size()];
  options.names = choice / 8 % 2 == 1;
  if (choice / 16 % 2 == 1) options.hash = 4;
  options.bias = choice / 32 % 2 == 1;
  options.update = choice / 64 % 2 == 1 ? "pa" : "perceptron";
  const unsigned kernel = more % 3;
  if (kernel > 0) {
    options.kernel = kernel == 1 ? "gaussian" : "polynomial";
    options.budget = 2;
  } else {
    options.map = kMaps[more / 4 % kMaps.size()];
  }
  if (more / 16 % 2 == 1) options.average = true;
  if (more / 32 % 2 == 1) options.unit = true;
  OnlineSharing online = OnlineSharing::begin(options);
  std::string_view line;
  while (source.next(line) && source.lines() < 200) {
    fuzz::expect_errors_only([&] { (void)online.learn(line, Unlabelled::predict); });
  }
  // A checkpoint continues as the learner itself would.
  (void)online.checkpoint();
  (void)online.finish(nullptr, fuzz::threads());
}

void learn_cascade(unsigned choice, LineSource& source) {
  constexpr std::array kLosses{"multiclass-hinge", "multiclass-logistic", "multitask-hinge",
                               "multitask-logistic"};
  OnlineCascadeFit options;
  options.loss = kLosses[choice % kLosses.size()];
  options.phi = {{0.5, 0.2}};
  const bool multiclass = choice % kLosses.size() < 2;
  auto learner = OnlineCascadeLearner::begin(options, outline_of({"a", "b", "1"}, multiclass));
  LineReader reader(LineReaderOptions{.label_required = false});
  LineExample example;
  std::string_view line;
  while (source.next(line) && source.lines() < 200) {
    if (reader.read(line, example) || example.blank) continue;
    fuzz::expect_errors_only([&] { learner.learn({example.label, example.task, example.features}); });
  }
  learner.end_step();
  (void)learner.model().payload();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const unsigned choice = fuzz::take_choice(input), more = fuzz::take_choice(input);
  const fuzz::MemoryFile file(input);
  fuzz::expect_errors_only([&] {
    LineSource source(file.path());
    if (choice >= 128) {
      learn_cascade(choice, source);
    } else {
      learn_sharing(choice, more, source);
    }
  });
  return 0;
}
