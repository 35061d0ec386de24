// shareboost-mnist: Table 1 and Figures 4 to 6 of [ShareBoost11]. ShareBoost over K-means templates of image
// patches, on the 60,000 training images and on 360,000 with five deformed copies of each.
//
// The configuration was chosen on 10,000 images held out of the training set (docs/reproduction-mnist.md).
// The test set is used only for the report.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "experiment.hpp"
#include "image_pictures.hpp"
#include "mnist_float.hpp"
#include "model/patch_predictor.hpp"
#include "pool/patches.hpp"
#include "run/usage.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/transform/deform.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn::reproduce {
namespace {

/// One of the paper's two training sets.
struct Part {
  std::string name;
  Index rows;          // the first training images
  Index copies;        // deformed copies of each
  Index features;      // T
  double paper_error;  // percent, at that T
  double ridge;
  Index surplus;      // templates chosen in addition to T, then removed
  double last_ridge;  // ridge while they are removed
};

struct Sizes {
  std::vector<TemplateGroup> templates;
  Index samples;
  Index test_rows;
  std::vector<Part> parts;
};

Sizes sizes_of(bool quick) {
  if (quick) {
    return {{{7, 160}, {5, 96}},
            50'000,
            2000,
            {{"4,000 images", 4000, 0, 60, NAN, 2e-5, 24, 2e-5},
             {"12,000 with deformations", 4000, 2, 60, NAN, 1e-5, 24, 1e-5}}};
  }
  return {{{7, 640}, {5, 384}},
          300'000,
          10'000,
          {{"60,000 images", 60'000, 0, 266, 0.71, 5e-6, 106, 5e-6},
           {"360,000 with deformations", 60'000, 5, 305, 0.47, 5e-6, 122, 2e-6}}};
}

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

/// Numbers of a part's training besides the model, which Run::remember() can keep.
struct Training {
  double cpu = 0, wall = 0, memory = 0;
  std::vector<double> train_error;  // one per stored model
  std::vector<double> numbers() const {
    std::vector<double> all{cpu, wall, memory};
    all.insert(all.end(), train_error.begin(), train_error.end());
    return all;
  }
  static Training from(const std::vector<double>& all) {
    return {all[0], all[1], all[2], {all.begin() + 3, all.end()}};
  }
};

/// Values of the features on every image, in [0, 1]. Each patch is computed once for all features.
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

class Trainer {
 public:
  Trainer(Run& run, const Sizes& sizes, const Part& part) : run_(run), sizes_(sizes), part_(part) {}

  Training train(const Dataset& originals, const std::string& model_file) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const ShareBoostResult first = choose(with_copies(originals, run_.settings().seed));
    const ShareBoostResult result = choose_again(first, with_copies(originals, run_.settings().seed + 1));
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
    PatchOptions patches;
    patches.templates = sizes_.templates;
    patches.samples = sizes_.samples;
    patches.masks = {{.sigma = 7, .support = 0.5}};
    patches.deskew = true;
    patches.seed = run_.settings().seed;
    PatchPool pool(images.x, patches, run_.context().threads);
    images = Dataset();

    ShareBoostOptions options;
    options.features = part_.features + part_.surplus;
    options.norm = Norm::l2;
    options.penalty.ridge = part_.ridge;
    // Slightly suboptimal weights cost no accuracy, because the next round continues from them. The last
    // weights are solved fully.
    options.corrective.tolerance = 0;
    options.corrective.relative_gradient = 0.5;
    options.corrective.max_iterations = 4;
    options.last = CorrectiveOptions{.tolerance = 1e-7};
    options.per_round_share = 0.03;
    options.diverse = true;
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
  const Sizes& sizes_;
  const Part& part_;
  Training training_;
};

/// Test error in percent of each stage except the first.
std::vector<double> test_curve(const LinearModel& model, const Dataset& test, const Classes& truth,
                               ThreadPool& threads) {
  const Grid<float> values = patch_values(model.features, test, threads);
  std::vector<double> curve;
  Grid<double> scores(test.rows(), truth.count());
  for (std::size_t s = 1; s < model.stages.size(); ++s) {
    const Stage& stage = model.stages[s];
    Grid<float> used(test.rows(), stage.features);
    for (Index f = 0; f < stage.features; ++f) std::copy_n(values.column(f), test.rows(), used.column(f));
    linear_scores(used, stage.weights, stage.bias, scores, threads);
    curve.push_back(100 * error_rate(scores, truth.of_row));
  }
  return curve;
}

/// CPU microseconds of one prediction on one core, from bytes to scores.
double microseconds_an_image(const PatchPredictor& predictor, const Dataset& test) {
  const auto pixels = static_cast<std::size_t>(test.columns());
  std::vector<float> row(pixels);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(test.rows()) * pixels);
  for (Index i = 0; i < test.rows(); ++i) {
    gather_rows(test.x.dense(), {i, i + 1}, row.data());
    std::ranges::transform(row, bytes.begin() + i * test.columns(),
                           [](float v) { return static_cast<std::uint8_t>(v); });
  }
  PatchPredictor::Workspace workspace(predictor);
  std::vector<double> scores(static_cast<std::size_t>(predictor.outputs()));
  const double start = cpu_seconds();
  for (Index i = 0; i < test.rows(); ++i) {
    predictor.scores(
        std::span<const std::uint8_t>(bytes).subspan(static_cast<std::size_t>(i) * pixels, pixels), workspace,
        scores);
  }
  return 1e6 * (cpu_seconds() - start) / static_cast<double>(test.rows());
}

void draw_mistakes(Run& run, const Dataset& test, const Classes& truth,
                   const std::vector<std::int32_t>& predicted, const std::string& file) {
  std::vector<Mistake> mistakes;
  for (Index i = 0; i < test.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (predicted[at] == truth.of_row[at]) continue;
    Mistake mistake{std::vector<float>(static_cast<std::size_t>(test.columns())),
                    truth.names[static_cast<std::size_t>(truth.of_row[at])],
                    truth.names[static_cast<std::size_t>(predicted[at])]};
    gather_rows(test.x.dense(), {i, i + 1}, mistake.pixels.data());
    mistakes.push_back(std::move(mistake));
  }
  write_file(file, mistakes_picture(mistakes, shape_of(test.columns())));
  run.say(fmt::format("the {} misclassified test images (Fig. 6): {}", mistakes.size(), file));
}

/// Error of the largest model with at most `most` templates; empty if the path ends earlier.
std::string error_at(const Series& curve, double most) {
  if (curve.x.empty() || curve.x.back() < most) return "";
  std::size_t at = 0;
  while (at + 1 < curve.x.size() && curve.x[at + 1] <= most) ++at;
  return fmt::format("{:.2f}", curve.y[at]);
}

/// The number of templates from which on the error is below 1%.
std::string below_one_percent(const Series& curve) {
  std::size_t at = curve.y.size();
  while (at > 0 && curve.y[at - 1] < 1) --at;
  return at < curve.y.size() ? fmt::format("{}", curve.x[at]) : "never";
}

struct Outcome {
  double error;
  Index multiply_adds;
  double microseconds;
};

Outcome report_part(Run& run, const Part& part, const Training& training, LinearModel& model,
                    const Dataset& test, const std::string& stem) {
  ThreadPool& threads = run.context().threads;
  const Classes truth = classes_of(test, model.names);
  Series curve{"test", {}, test_curve(model, test, truth, threads)};
  for (std::size_t s = 1; s < model.stages.size(); ++s) {
    curve.x.push_back(static_cast<double>(model.stages[s].features));
  }
  Table rounds({"test error, % with", "10", "30", "75", "150", "266", "305", "below 1% from"});
  rounds.add({"paper (Fig. 4, text)", "", "", "< 1", "", part.copies == 0 ? "0.71" : "",
              part.copies > 0 ? "0.47" : "", "75"});
  std::vector<std::string> ours{"ours"};
  for (const double templates : {10, 30, 75, 150, 266, 305}) ours.push_back(error_at(curve, templates));
  ours.push_back(below_one_percent(curve));
  rounds.add(ours);
  run.say(fmt::format("\n## {}: {} templates", part.name, model.features.size()));
  run.show(rounds, stem + "-rounds");
  run.say(fmt::format("training: {:.0f} CPU seconds, {:.0f} s, {:.2f} GB at the peak; training error {:.3f}%",
                      training.cpu, training.wall, training.memory, training.train_error.back()));

  run.show(Plot{"ShareBoost on MNIST, " + part.name,
                "templates",
                "error, %",
                false,
                true,
                {{"training", curve.x, training.train_error},
                 curve,
                 {"paper, last round", {curve.x.back()}, {part.paper_error}, true, true}}},
           stem + "-curve");

  const auto predictor = PatchPredictor::of(model);
  const std::vector<std::int32_t> predicted = predicted_classes(predictor->scores(test.x, threads));
  const std::vector<std::int32_t> in_float = predicted_classes(float_scores(model, test, threads));
  Index same = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) same += predicted[i] == in_float[i] ? 1 : 0;
  const Outcome outcome{curve.y.back(), predictor->multiply_adds(), microseconds_an_image(*predictor, test)};
  Table prediction({"prediction of one image", "ours", "paper"});
  prediction.add({"multiply-adds, million",
                  fmt::format("{:.2f}", 1e-6 * static_cast<double>(outcome.multiply_adds)), "3.3"});
  prediction.add({"CPU microseconds on one core", fmt::format("{:.1f}", outcome.microseconds), ""});
  prediction.add(
      {"labels equal to a float32 evaluation, %",
       fmt::format("{:.2f}", 100.0 * static_cast<double>(same) / static_cast<double>(predicted.size())), ""});
  run.show(prediction, stem + "-prediction");
  const std::string folder = run.settings().out + "/";
  write_file(folder + stem + "-templates.svg", templates_picture(model, 30));
  run.say(fmt::format("the first 30 templates, their masks and weights (Fig. 5): {}{}-templates.svg", folder,
                      stem));
  draw_mistakes(run, test, truth, predicted, folder + stem + "-mistakes.svg");
  return outcome;
}

void show_table_1(Run& run, const std::vector<Part>& parts, const std::vector<Outcome>& outcomes) {
  Table table({"Table 1", "error, %", "multiply-adds, million", "run time / ShareBoost's"});
  table.add({"3-nearest-neighbour (paper)", "2.7", "", "14"});
  table.add({"shape context, Belongie et al. (paper)", "0.63", "", "1000's"});
  table.add({"SVM 9-poly, DeCoste et al. (paper)", "0.56", "", "38"});
  table.add({"neural net, Ciresan et al. (paper)", "0.35", "7.5", "2.5"});
  table.add({"ShareBoost, 60,000 images, 266 (paper)", "0.71", "", ""});
  table.add({"ShareBoost, 360,000, 305 (paper)", "0.47", "3.3", "1"});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    table.add({fmt::format("ours, {}, {}", parts[p].name, parts[p].features),
               fmt::format("{:.2f}", outcomes[p].error),
               fmt::format("{:.2f}", 1e-6 * static_cast<double>(outcomes[p].multiply_adds)), ""});
  }
  run.show(table, "shareboost-mnist");
}

Dataset first_rows(Dataset data, Index count) {
  if (count >= data.rows()) return data;
  std::vector<Index> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = i;
  return select_rows(data, rows);
}

}  // namespace

void shareboost_mnist(Run& run) {
  const Sizes sizes = sizes_of(run.settings().quick);
  const Dataset test = first_rows(run.read("mnist/t10k-images-idx3-ubyte.gz"), sizes.test_rows);
  std::vector<Outcome> outcomes;
  for (const Part& part : sizes.parts) {
    const std::string stem = fmt::format("shareboost-mnist-{}", part.rows * (1 + part.copies));
    const std::string key =
        fmt::format("{}-{}+{}-{}", stem, part.features, part.surplus, run.settings().seed);
    const std::string model_file = fmt::format("{}/{}.model", run.settings().out, key);
    const auto compute = [&] {
      return Trainer(run, sizes, part)
          .train(first_rows(run.read("mnist/train-images-idx3-ubyte.gz"), part.rows), model_file)
          .numbers();
    };
    std::vector<double> numbers = run.remember(key, compute);
    // The numbers are stored, but the model file was deleted.
    if (!std::filesystem::exists(model_file)) numbers = compute();
    const Training training = Training::from(numbers);
    auto model = std::dynamic_pointer_cast<LinearModel>(load_model(model_file));
    outcomes.push_back(report_part(run, part, training, *model, test, stem));
  }
  show_table_1(run, sizes.parts, outcomes);
}

}  // namespace sharelearn::reproduce
