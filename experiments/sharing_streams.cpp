// Online learning with the defaults against the paper's algorithm, on two streams of text and two of numbers.
// bench/peers/sharing.py --streams runs other tools on the same streams.
#include <fmt/format.h>

#include "sharelearn/fit/sharing.hpp"
#include "sharing_support.hpp"

namespace sharelearn::reproduce {
namespace {

struct Way {
  std::string name;
  SharingFit options;
};

std::vector<Way> ways() {
  SharingFit words{.hypotheses = "hybrid", .map = "frequency", .update = "perceptron"};
  words.binary = true;
  return {{"default (hybrid)", {}},
          {"multi", {.hypotheses = "multi"}},
          {"paper, hybrid", {.hypotheses = "hybrid", .update = "perceptron"}},
          {"paper, hybrid, frequency map", words}};
}

void one_stream(Run& run, const std::string& name, const Dataset& rows, Table& table) {
  for (const Way& way : ways()) {
    const std::string key = fmt::format("{} {} {}", name, way.name, run.settings().seed);
    const auto numbers = run.remember(key, [&] {
      OnlineSharing stream = OnlineSharing::begin(way.options);
      stream.learn(rows, run.context().threads);
      const FitReport report = stream.finish(nullptr, run.context().threads).report;
      const auto count = [&](const char* what) {
        return static_cast<double>(report.extra[what].get<Index>());
      };
      return std::vector<double>{count("mistakes"), count("first_occurrences"), count("examples"),
                                 count("examples") / report.learning_seconds.value_or(1)};
    });
    const double mistakes = numbers[0], firsts = numbers[1], examples = numbers[2];
    table.add({name, fmt::format("{}", examples), fmt::format("{}", firsts), way.name,
               fmt::format("{:.2f}", 100 * mistakes / examples),
               fmt::format("{:.2f}", 100 * (mistakes + firsts) / examples),
               fmt::format("{:.0f}", numbers[3])});
  }
}

Dataset first_rows(const Run& run, Dataset rows) {
  constexpr Index kQuickRows = 2000;
  if (!run.settings().quick || rows.rows() <= kQuickRows) return rows;
  std::vector<Index> first(static_cast<std::size_t>(kQuickRows));
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<Index>(i);
  return select_rows(rows, first);
}

}  // namespace

void sharing_streams(Run& run) {
  Table table({"stream", "examples", "classes", "sharelearn", "mistakes %", "with first occurrences %",
               "examples/s"});
  const auto add = [&](const std::string& name, Dataset rows) {
    one_stream(run, name, first_rows(run, std::move(rows)), table);
  };
  add("Reuters, one topic, by time", single_labels(run.read("reuters21578/docs.svm.gz")));
  add("Enron by owner", run.read("enron_aeslc/docs.svm.gz"));
  add("Letter", run.read("letter/letter.csv.gz"));
  const Dataset spoken = run.read("isolet/train.csv.gz");
  add("Isolet, shuffled", select_rows(spoken, shuffled(spoken.rows(), run.settings().seed)));
  run.say(
      "One pass, every example predicted before it is learned, values as in the files. CPU time of learning "
      "from rows in memory, on this machine.");
  run.show(table, "sharing-streams");
}

}  // namespace sharelearn::reproduce
