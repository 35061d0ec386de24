// Image templates: extraction of the pool, selection over its bytes, and prediction of one image. Prints CPU
// time on one core and multiply-adds per second.
//   bench_patches [MODEL IMAGES]
// Without arguments: random strokes, and templates learned from them. With a model of image templates and an
// IDX or CSV file of its images: prediction only.
#include "pool/patches.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "model/patch_predictor.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/random.hpp"

namespace {

using namespace sharelearn;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// 28 x 28 images of a few thick strokes.
DenseMatrix strokes(Index rows) {
  DenseMatrix images(rows, 784);
  Random random(1);
  for (Index i = 0; i < rows; ++i) {
    for (int stroke = 0; stroke < 4; ++stroke) {
      double y = random.uniform(6, 22), x = random.uniform(6, 22);
      const double dy = random.normal() / 2, dx = random.normal() / 2;
      for (int step = 0; step < 16; ++step, y += dy, x += dx) {
        const auto row = static_cast<Index>(y), column = static_cast<Index>(x);
        if (row < 4 || row > 22 || column < 4 || column > 22) break;
        for (const Index p : {0, 1, 28, 29}) images(i, row * 28 + column + p) = 255;
      }
    }
  }
  return images;
}

/// A model of `count` random candidates with random weights.
LinearModel random_model(const PatchPool& pool, Index count) {
  LinearModel model;
  model.preprocessing.columns = 784;
  Random random(2);
  Stage stage;
  for (int c = 0; c < 10; ++c) model.names.push_back(std::to_string(c));
  for (const Index candidate : random.sample(pool.candidates(), count)) {
    stage.columns.push_back(static_cast<Index>(model.features.size()));
    model.features.push_back(pool.feature(candidate));
    for (int c = 0; c < 10; ++c) stage.weights.push_back(random.normal());
  }
  stage.bias.assign(10, 0.0);
  stage.features = count;
  model.stages.push_back(std::move(stage));
  return model;
}

void predict(const LinearModel& model, const DenseMatrix& images) {
  const auto predictor = PatchPredictor::of(model);
  if (predictor == nullptr) {
    fmt::print("the model is not made of image templates\n");
    return;
  }
  PatchPredictor::Workspace workspace(*predictor);
  const auto pixels = static_cast<std::size_t>(images.cols());
  std::vector<float> rows(static_cast<std::size_t>(images.rows()) * pixels);
  gather_rows(images, {0, images.rows()}, rows.data());
  const std::vector<std::uint8_t> bytes(rows.begin(), rows.end());
  std::vector<double> scores(static_cast<std::size_t>(predictor->outputs()));
  double best = 1e30;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const double start = cpu_seconds();
    for (std::size_t at = 0; at < bytes.size(); at += pixels) {
      predictor->scores(std::span<const std::uint8_t>(bytes).subspan(at, pixels), workspace, scores);
    }
    best = std::min(best, (cpu_seconds() - start) / static_cast<double>(images.rows()));
  }
  const auto operations = static_cast<double>(predictor->multiply_adds());
  fmt::print("prediction, {} templates: {:.1f} us an image, {:.2f} million multiply-adds, {:.0f} G/s\n",
             model.features.size(), 1e6 * best, 1e-6 * operations, 1e-9 * operations / best);
}

}  // namespace

int main(int argc, char** argv) {
  ThreadPool threads(1);
  if (argc > 2) {
    const auto model = std::dynamic_pointer_cast<LinearModel>(load_model(argv[1]));
    if (model) predict(*model, read_dataset(argv[2], {}, threads).x.to_dense());
    return 0;
  }
  const Index rows = 4000;
  const Matrix images(strokes(rows));
  PatchOptions options{
      .templates = {{7, 640}, {5, 384}}, .masks = {{.support = 0.5}}, .samples = 30'000, .passes = 3};
  options.scale_rows = 64;
  const PatchPool first(images, options, threads);
  double start = cpu_seconds();
  const PatchPool pool(images, first.banks(), options, threads);
  const double extraction = cpu_seconds() - start;
  const double taps = 640.0 * 22 * 22 * 49 + 384.0 * 24 * 24 * 25;
  fmt::print("extraction, {} candidates: {:.0f} us an image, {:.0f} G multiply-adds/s\n", pool.candidates(),
             1e6 * extraction / rows, 1e-9 * taps * rows / extraction);
  Grid<float> residual(rows, 10);
  residual.fill(0.5F);
  start = cpu_seconds();
  for (int repeat = 0; repeat < 5; ++repeat)
    pool.correlate(residual, threads, [](const CandidateBlock&, int) {});
  const double selection = (cpu_seconds() - start) / 5;
  fmt::print("selection, 10 classes, every row: {:.1f} us a row, {:.0f} G multiply-adds/s\n",
             1e6 * selection / rows, 1e-9 * 10 * static_cast<double>(pool.candidates() * rows) / selection);
  predict(random_model(pool, 305), images.to_dense());
  return 0;
}
