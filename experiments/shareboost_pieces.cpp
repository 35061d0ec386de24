// Paper 000, section 7.5 and Fig. 7: a piece-wise linear predictor on MNIST's first 50 principal components,
// pieces chosen by ShareBoost from 1,500 centres x 35 radii, beside an SVM with a Gaussian kernel.
#include <fmt/core.h>

#include "curves.hpp"

namespace sharelearn::reproduce {

void shareboost_pieces(Run& run) {
  const bool quick = run.settings().quick;
  Dataset train =
      run.read("mnist/train-images-idx3-ubyte.gz",
               {.label_column = "", .task_column = "", .labels_file = "mnist/train-labels-idx1-ubyte.gz"});
  Dataset test =
      run.read("mnist/t10k-images-idx3-ubyte.gz",
               {.label_column = "", .task_column = "", .labels_file = "mnist/t10k-labels-idx1-ubyte.gz"});
  if (quick) {
    std::vector<Index> some;
    for (Index i = 0; i < 6000; ++i) some.push_back(i);
    train = select_rows(train, some);
  }
  const Problem problem("mnist", std::move(train), std::move(test), run.context().threads);
  const PoolOptions pool{
      .name = "pieces", .centres = quick ? 150 : 1500, .radii = quick ? 10 : 35, .pca = 50};
  ShareBoostOptions options = usual_options(quick ? 15 : 230, quick ? 1e-4 : 3e-5);
  options.corrective.relative_gradient = 0.2;
  run.say(fmt::format("MNIST, {} rows, PCA-50, {} centres x {} radii, ridge {}", problem.train.rows(),
                      pool.centres, pool.radii, options.penalty.ridge));
  const Curve curve =
      remembered(run, fmt::format("pieces {} {} {}", problem.train.rows(), pool.centres, pool.radii),
                 [&] { return shareboost_curve(problem, pool, options, run.context()); });

  // LIBSVM on 50 components of the same images, C 10, gamma 0.02: what bench/peers/pieces_svm.py printed.
  constexpr double kSvmError = 0.0131;
  constexpr int kSupportVectors = 8810;
  Table table({"pieces", "our test error %", "RBF SVM %", "its support vectors", "CPU s"});
  for (const double count : {1.0, 5.0, 15.0, 30.0, 50.0, 75.0, 100.0, 150.0, 200.0, 230.0}) {
    if (count > curve.features.back()) break;
    table.add({fmt::format("{:.0f}", count), percent(curve.at(count)), percent(kSvmError),
               fmt::format("{}", kSupportVectors), fmt::format("{:.0f}", curve.seconds_at(count))});
  }
  run.show(table, "shareboost-pieces");
  run.say(
      "The paper (Fig. 7) reports that 230 anchor points come close to the SVM's error; it prints no "
      "figure.");
  Series svm{"RBF SVM", {1, curve.features.back()}, {kSvmError, kSvmError}, true};
  run.show(Plot{"Pieces on MNIST, PCA-50 (Fig. 7)",
                "pieces",
                "test error",
                false,
                true,
                {curve.series("ShareBoost"), svm}},
           "shareboost-pieces");
}

}  // namespace sharelearn::reproduce
