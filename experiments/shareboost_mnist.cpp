// shareboost-mnist: Table 1 and Figures 4 to 6 of [ShareBoost11]. ShareBoost over K-means templates of image
// patches: in the paper's configuration and in ours on the 60,000 training images, and in ours on 360,000
// with five deformed copies of each. Three nearest neighbours are run for comparison.
//
// Our configuration was chosen on 10,000 images held out of the training set (docs/reproduction-mnist.md).
// The test set is used only for the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment.hpp"
#include "image_pictures.hpp"
#include "mnist_float.hpp"
#include "mnist_training.hpp"
#include "model/patch_predictor.hpp"
#include "nearest_neighbours.hpp"
#include "run/usage.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr const char* kTrainingImages = "mnist/train-images-idx3-ubyte.gz";

struct Sizes {
  Index test_rows;
  std::vector<Part> parts;
};

/// Slightly suboptimal weights cost no accuracy, because the next round continues from them; the last weights
/// are solved fully.
constexpr CorrectiveOptions kRoundCorrection{.tolerance = 0, .relative_gradient = 0.5, .max_iterations = 4};

/// The configuration found on held-out images (docs/reproduction-mnist.md).
TemplateSearch our_search(bool quick) {
  return {.templates = quick ? std::vector<TemplateGroup>{{7, 160}, {5, 96}}
                             : std::vector<TemplateGroup>{{7, 640}, {5, 384}},
          .mask = {.sigma = 7, .support = 0.5},
          .contrast = 1,
          .deskew = true,
          .samples = quick ? 50'000 : 300'000,
          .norm = Norm::l2,
          .per_round_share = 0.03,
          .corrective = kRoundCorrection};
}

/// The paper's: about 16,000 templates of 7 x 7 pixels under whole masks, images as they are, the L1 norm of
/// the gradient, one template per round.
TemplateSearch paper_search(bool quick) {
  return {.templates = {{7, quick ? 256 : 1008}},
          .mask = {},
          .contrast = 0,
          .deskew = false,
          .samples = quick ? 50'000 : 300'000,
          .norm = Norm::l1,
          .per_round_share = 0,
          .corrective = kRoundCorrection};
}

Sizes sizes_of(bool quick) {
  const TemplateSearch ours = our_search(quick), paper = paper_search(quick);
  if (quick) {
    return {2000,
            {{"4,000 images, the paper's configuration", 4000, 0, 60, NAN, 2e-5, 0, 0, paper},
             {"4,000 images", 4000, 0, 60, NAN, 2e-5, 24, 2e-5, ours},
             {"12,000 with deformations", 4000, 2, 60, NAN, 1e-5, 24, 1e-5, ours}}};
  }
  return {10'000,
          {{"60,000 images, the paper's configuration", 60'000, 0, 266, 0.71, 5e-6, 0, 0, paper},
           {"60,000 images", 60'000, 0, 266, 0.71, 5e-6, 106, 5e-6, ours},
           {"360,000 with deformations", 60'000, 5, 305, 0.47, 5e-6, 122, 2e-6, ours}}};
}

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

void show_table_1(Run& run, const std::vector<Part>& parts, const std::vector<Outcome>& outcomes,
                  double neighbours) {
  Table table({"Table 1", "error, %", "multiply-adds, million", "run time / ShareBoost's"});
  table.add({"3-nearest-neighbour (paper)", "2.7", "", "14"});
  table.add({"shape context, Belongie et al. (paper)", "0.63", "", "1000's"});
  table.add({"SVM 9-poly, DeCoste et al. (paper)", "0.56", "", "38"});
  table.add({"neural net, Ciresan et al. (paper)", "0.35", "7.5", "2.5"});
  table.add({"ShareBoost, 60,000 images, 266 (paper)", "0.71", "", ""});
  table.add({"ShareBoost, 360,000, 305 (paper)", "0.47", "3.3", "1"});
  table.add({"ours, 3-nearest-neighbour", fmt::format("{:.2f}", neighbours), "", ""});
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

/// Error of three nearest neighbours, in percent.
double neighbours_error(Run& run, Index rows, const Dataset& test) {
  const auto compute = [&] {
    const Dataset known = first_rows(run.read(kTrainingImages), rows);
    const Classes classes = classes_of(known);
    const std::vector<std::int32_t> predicted =
        nearest_neighbours(known.x.dense(), classes.of_row, test.x.dense(), run.context().threads);
    const std::vector<std::int32_t> truth = classes_of(test, classes.names).of_row;
    double wrong = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) wrong += predicted[i] != truth[i] ? 1 : 0;
    return std::vector<double>{100 * wrong / static_cast<double>(truth.size())};
  };
  return run.remember(fmt::format("3-nearest-neighbour {} {}", rows, test.rows()), compute).front();
}

}  // namespace

void shareboost_mnist(Run& run) {
  const Sizes sizes = sizes_of(run.settings().quick);
  const Dataset test = first_rows(run.read("mnist/t10k-images-idx3-ubyte.gz"), sizes.test_rows);
  const double neighbours = neighbours_error(run, sizes.parts.front().rows, test);
  run.say(fmt::format("3-nearest-neighbour: {:.2f}%", neighbours));
  std::vector<Outcome> outcomes;
  for (const Part& part : sizes.parts) {
    const std::string stem = fmt::format("shareboost-mnist-{}{}", part.rows * (1 + part.copies),
                                         part.search.deskew ? "" : "-paper");
    const std::string key =
        fmt::format("{}-{}+{}-{}", stem, part.features, part.surplus, run.settings().seed);
    const std::string model_file = fmt::format("{}/{}.model", run.settings().out, key);
    const auto compute = [&] {
      return train_part(run, part, first_rows(run.read(kTrainingImages), part.rows), model_file).numbers();
    };
    std::vector<double> numbers = run.remember(key, compute);
    // The numbers are stored, but the model file was deleted.
    if (!std::filesystem::exists(model_file)) numbers = compute();
    const Training training = Training::from(numbers);
    auto model = std::dynamic_pointer_cast<LinearModel>(load_model(model_file));
    outcomes.push_back(report_part(run, part, training, *model, test, stem));
  }
  show_table_1(run, sizes.parts, outcomes, neighbours);
}

}  // namespace sharelearn::reproduce
