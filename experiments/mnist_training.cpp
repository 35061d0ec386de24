#include "mnist_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "model/patch_predictor.hpp"
#include "run/usage.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/transform/deform.hpp"

namespace sharelearn::reproduce {
namespace {

LinearModel model_of(const ShareBoostResult& result, const Classes& classes, Index columns) {
  LinearModel model;
  model.features = result.features;
  model.names = classes.names;
  model.preprocessing.columns = columns;
  for (const ShareBoostStage& from : result.stages) {
    Stage stage{{}, from.weights, from.bias, static_cast<Index>(from.weights.size()) / classes.count(), 0};
    for (Index a = 0; a < stage.features; ++a) stage.columns.push_back(a);
    stage.parameter = static_cast<double>(stage.features);
    model.stages.push_back(std::move(stage));
  }
  model.stage = static_cast<Index>(model.stages.size()) - 1;
  return model;
}

}  // namespace

std::vector<double> Training::numbers() const {
  std::vector<double> all{cpu, wall, memory};
  all.insert(all.end(), train_error.begin(), train_error.end());
  return all;
}

Training Training::from(const std::vector<double>& all) {
  return {all[0], all[1], all[2], {all.begin() + 3, all.end()}};
}

Grid<float> patch_values(const std::vector<FeaturePtr>& of, const Dataset& images, ThreadPool& threads) {
  std::vector<const PatchFeature*> features;
  for (const FeaturePtr& feature : of) features.push_back(dynamic_cast<const PatchFeature*>(feature.get()));
  const PatchEvaluator evaluator(features);
  Grid<float> values(images.rows(), static_cast<Index>(features.size()));
  threads.for_each(blocks_of(images.rows()), [&](Index block, int) {
    PatchEvaluator::Workspace workspace(evaluator);
    std::vector<float> image(static_cast<std::size_t>(images.columns()));
    std::vector<std::uint8_t> of_image(features.size());
    const RowRange range = block_range(block, images.rows());
    for (Index i = range.begin; i < range.end; ++i) {
      gather_rows(images.x.dense(), {i, i + 1}, image.data());
      evaluator.evaluate(image, workspace, of_image.data());
      for (std::size_t f = 0; f < of_image.size(); ++f)
        values(i, static_cast<Index>(f)) = static_cast<float>(of_image[f]) / 255.0f;
    }
  });
  return values;
}

namespace {

class Trainer {
 public:
  Trainer(Run& run, const Part& part) : run_(run), part_(part) {}

  Training train(const Dataset& originals, const std::string& model_file) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const ShareBoostResult first = choose(with_copies(originals, run_.settings().seed));
    const ShareBoostResult result =
        part_.surplus == 0 ? first : choose_again(first, with_copies(originals, run_.settings().seed + 1));
    save_model(model_of(result, classes_of(originals), originals.columns()), model_file);
    training_.cpu = cpu_seconds() - cpu;
    training_.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    training_.memory = static_cast<double>(peak_bytes()) / (1 << 30);
    return training_;
  }

 private:
  Dataset with_copies(const Dataset& originals, std::uint64_t seed) const {
    if (part_.copies == 0) return originals;
    return deform(originals, {.copies = part_.copies, .seed = seed}, run_.context().threads);
  }

  /// Chooses templates from the pool. The images are released once the pool has its responses.
  ShareBoostResult choose(Dataset images) {
    const Classes classes = classes_of(images);
    const TemplateSearch& search = part_.search;
    const PatchOptions patches{.templates = search.templates,
                               .masks = {search.mask},
                               .epsilon = search.contrast,
                               .deskew = search.deskew,
                               .samples = search.samples,
                               .seed = run_.settings().seed};
    PatchPool pool(images.x, patches, run_.context().threads);
    images = Dataset();

    ShareBoostOptions options;
    options.features = part_.features + part_.surplus;
    options.norm = search.norm;
    options.penalty.ridge = part_.ridge;
    options.corrective = search.corrective;
    options.last = CorrectiveOptions{.tolerance = 1e-7};
    options.per_round_share = search.per_round_share;
    options.diverse = search.per_round_share > 0;
    options.least_score = 0;
    return boost(pool, classes, options);
  }

  /// Removes chosen templates: those whose removal raises the loss on these images least.
  ShareBoostResult choose_again(const ShareBoostResult& first, Dataset images) {
    const Classes classes = classes_of(images);
    const Matrix values(patch_values(first.features, images, run_.context().threads));
    images = Dataset();
    ColumnPool pool(values);
    ShareBoostOptions options;
    options.features = part_.features;
    options.surplus = static_cast<double>(part_.surplus) / static_cast<double>(part_.features);
    options.per_round = pool.candidates();
    options.penalty.ridge = part_.last_ridge;
    options.corrective = {.tolerance = 1e-6, .relative_gradient = 1e-3};
    options.last = CorrectiveOptions{.tolerance = 1e-7};
    options.least_score = 0;
    ShareBoostResult result = boost(pool, classes, options);
    for (std::size_t f = 0; f < result.chosen.size(); ++f) {
      result.features[f] = first.features[static_cast<std::size_t>(result.chosen[f])];
    }
    return result;
  }

  ShareBoostResult boost(Pool& pool, const Classes& classes, const ShareBoostOptions& options) {
    const auto rows = static_cast<std::size_t>(pool.rows());
    const MulticlassLogistic loss(classes.of_row, classes.count(),
                                  std::vector<double>(rows, 1.0 / static_cast<double>(rows)), 1);
    training_.train_error.clear();
    return shareboost(pool, loss, options, run_.context(),
                      [&](const ShareBoostResult& so_far, const Grid<double>& scores) {
                        training_.train_error.push_back(100 * error_rate(scores, classes.of_row));
                        run_.context().monitor.progress(
                            part_.name, static_cast<Index>(so_far.chosen.size()), options.features,
                            fmt::format("training error {:.3f}%", training_.train_error.back()));
                        return true;
                      });
  }

  Run& run_;
  const Part& part_;
  Training training_;
};

}  // namespace

Training train_part(Run& run, const Part& part, const Dataset& originals, const std::string& model_file) {
  return Trainer(run, part).train(originals, model_file);
}

}  // namespace sharelearn::reproduce
