// Few examples per class: the cascade with its ridge, all of it chosen by cross-validation on the training
// rows, against its special cases chosen in the same way. On every split all methods learn from the same
// rows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cascade_methods.hpp"
#include "run/usage.hpp"
#include "sharelearn/model/multi_output_metrics.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::reproduce {

namespace {

constexpr Index kTestRows = 40;  // of each class
constexpr int kFolds = 5;

/// Every column is the sum of a square of `width` x `width` pixels.
DenseMatrix coarser(const Matrix& pixels, Index side, Index width) {
  const DenseMatrix x = pixels.to_dense();
  const Index small = side / width;
  DenseMatrix out(x.rows(), small * small);
  for (Index j = 0; j < x.cols(); ++j) {
    const Index to = (j / side / width) * small + j % side / width;
    for (Index i = 0; i < x.rows(); ++i) out(i, to) += x(i, j);
  }
  return out;
}

struct FewShotSet {
  std::string name;
  Dataset rows;
  std::map<std::int32_t, std::vector<Index>> of_class;
};

/// The classes with at least `least` rows; at most `most` of them, the first by label.
FewShotSet set_of(std::string name, Dataset rows, Index least, std::size_t most) {
  FewShotSet set{std::move(name), std::move(rows), {}};
  for (Index i = 0; i < set.rows.rows(); ++i) {
    const std::int32_t id = set.rows.label.id[static_cast<std::size_t>(i)];
    if (set.rows.label.names[static_cast<std::size_t>(id)].find(',') == std::string::npos)
      set.of_class[id].push_back(i);
  }
  std::erase_if(set.of_class, [&](const auto& entry) { return std::ssize(entry.second) < least; });
  while (set.of_class.size() > most) set.of_class.erase(std::prev(set.of_class.end()));
  return set;
}

struct FewShotSplit {
  MultiOutputData train, test;
};

/// Dense columns are mapped to [-1, 1] by the training rows.
FewShotSplit split_of(const FewShotSet& set, Index positives, std::uint64_t seed, ThreadPool& threads) {
  Random random(seed);
  std::vector<Index> learn, judge;
  for (const auto& [id, all] : set.of_class) {
    std::vector<Index> rows = all;
    random.shuffle(rows);
    learn.insert(learn.end(), rows.begin(), rows.begin() + positives);
    const Index end = std::min(positives + kTestRows, std::ssize(rows));
    judge.insert(judge.end(), rows.begin() + positives, rows.begin() + end);
  }
  std::ranges::sort(learn);
  std::ranges::sort(judge);
  Dataset train = select_rows(set.rows, learn), test = select_rows(set.rows, judge);
  if (!train.x.is_sparse()) {
    const Scaling scaling = Scaling::fit(train.x, ScalingKind::minmax, threads);
    for (Dataset* data : {&train, &test}) scaling.apply(data->x, threads);
  }
  const std::vector<std::string> names = classes_of(train).names;
  return {multi_output_data(std::move(train), true, &names),
          multi_output_data(std::move(test), true, &names)};
}

/// Accuracy of each split, and CPU seconds of the choice on each.
struct FewShotResult {
  std::vector<double> accuracy, seconds;
};

FewShotResult result_of(Run& run, const FewShotSet& set, const JointMethod& method, Index positives,
                        int splits) {
  FewShotResult out;
  for (int s = 0; s < splits; ++s) {
    const auto numbers = run.remember(fmt::format("{}/{}/{}/{}", set.name, positives, method.name, s), [&] {
      const FewShotSplit split = split_of(
          set, positives, run.settings().seed * 100 + static_cast<std::uint64_t>(s), run.context().threads);
      const double start = cpu_seconds();
      const auto scales = choose_scales_by_folds(method, split.train, kFolds, {}, run.context());
      const double seconds = cpu_seconds() - start;
      const Cascade cascade = learn(method, scales, split.train, run.context());
      return std::vector<double>{accuracy(split.test, scores_of(cascade, split.test, run.context())),
                                 seconds};
    });
    out.accuracy.push_back(numbers[0]);
    out.seconds.push_back(numbers[1]);
  }
  return out;
}

double standard_error(const std::vector<double>& values) {
  return deviation_of(values) / std::sqrt(static_cast<double>(values.size()));
}

/// What was counted over all cells of the table.
struct Tally {
  int cells = 0, first = 0, within = 0;
  double seconds = 0, seconds_of_net = 0;
};

void one_cell(Run& run, const FewShotSet& set, Index positives, int splits, Table& table, Tally& tally) {
  const auto methods = with_ridges(JointLoss::multiclass_hinge, 5);
  std::vector<FewShotResult> results;
  std::vector<std::string> row{fmt::format("{}, {} classes", set.name, set.of_class.size()),
                               fmt::format("{}", positives)};
  for (const JointMethod& method : methods) {
    results.push_back(result_of(run, set, method, positives, splits));
    row.push_back(fmt::format("{:.2f} ± {:.2f}", 100 * mean_of(results.back().accuracy),
                              100 * standard_error(results.back().accuracy)));
  }
  const auto best = std::ranges::max_element(results.begin() + 1, results.end(), {},
                                             [](const FewShotResult& r) { return mean_of(r.accuracy); });
  std::vector<double> lead = results[0].accuracy;
  for (std::size_t s = 0; s < lead.size(); ++s) lead[s] -= best->accuracy[s];
  const double ahead = mean_of(lead), error = standard_error(lead);
  row.push_back(fmt::format("{:+.2f} ± {:.2f} ({})", 100 * ahead, 100 * error,
                            methods[static_cast<std::size_t>(best - results.begin())].name));
  table.add(row);
  ++tally.cells;
  tally.first += ahead > 0 ? 1 : 0;
  tally.within += ahead >= -error ? 1 : 0;
  tally.seconds += mean_of(results[0].seconds);
  tally.seconds_of_net += mean_of(results.back().seconds);
}

}  // namespace

void cascade_fewshot(Run& run) {
  const bool quick = run.settings().quick;
  const std::vector<Index> sizes = quick ? std::vector<Index>{5, 20} : std::vector<Index>{5, 10, 20, 40};
  const int splits = quick ? 3 : 10;
  const std::size_t classes = quick ? 10 : 36;
  const Index least = sizes.back() + kTestRows / 2;
  Dataset letters =
      run.read("chars74k_fnt/images-idx3-ubyte.gz",
               {.label_column = "", .task_column = "", .labels_file = "chars74k_fnt/labels-idx1-ubyte.gz"});
  letters.x = coarser(letters.x, 28, 2);
  Dataset words = run.read("reuters21578/docs.svm.gz");
  weigh_words(words.x);
  const std::vector<FewShotSet> sets{set_of("Isolet", run.read("isolet/train.csv.gz"), least, classes),
                                     set_of("Letter", run.read("letter/letter.csv.gz"), least, classes),
                                     set_of("Chars74k", std::move(letters), least, classes),
                                     set_of("Reuters", std::move(words), least, classes)};
  std::vector<std::string> header{"set", "positives per class"};
  for (const JointMethod& method : with_ridges(JointLoss::multiclass_hinge, 5)) header.push_back(method.name);
  header.emplace_back("H - best of the others");
  Table table(header);
  Tally tally;
  for (const FewShotSet& set : sets) {
    for (const Index positives : sizes) one_cell(run, set, positives, splits, table, tally);
  }
  run.say(
      fmt::format("Accuracy in percent with standard errors over {} splits; everything is chosen by {} folds "
                  "of the training "
                  "rows. Last column: mean and standard error of the paired differences.",
                  splits, kFolds));
  run.show(table, "cascade-fewshot");
  run.say(
      fmt::format("H is ahead of the best other method in {} of {} cells, and within a standard error of it "
                  "or ahead in {}. CPU of "
                  "its choice: {:.1f} times that of the elastic net's, one level over the same grids.",
                  tally.first, tally.cells, tally.within, tally.seconds / tally.seconds_of_net));
}

}  // namespace sharelearn::reproduce
