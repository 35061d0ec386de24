#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/learn/shareboost.hpp>
#include <sharelearn/loss/multiclass_logistic.hpp>
#include <sharelearn/pool/columns.hpp>
#include <sharelearn/transform/scaling.hpp>

using namespace sharelearn;

int main() {
  ThreadPool threads;
  Dataset data = read_dataset("examples/data/digits.csv.gz", {}, threads);
  const Classes classes = classes_of(data);
  Scaling::fit(data.x, ScalingKind::minmax, threads).apply(data.x, threads);

  ColumnPool pool(data.x);  // or stumps, products, kernels, pieces, patches
  const MulticlassLogistic loss(classes.of_row, classes.count(), normalised_weights(data), 1);
  const ShareBoostResult path = shareboost(pool, loss, {.features = 10}, {threads});

  for (std::size_t round = 1; round < path.stages.size(); ++round) {
    std::printf("%2zu features: column %2d, loss %.4f\n", round, static_cast<int>(path.chosen[round - 1]),
                path.stages[round].report.loss);
  }
}
