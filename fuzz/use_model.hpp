// Everything that a program does with a model that it was given: describes it, predicts with it, saves it and
// goes on learning from it.
#pragma once

#include <xxhash.h>

#include <algorithm>

#include "fuzz.hpp"
#include "sharelearn/export/export.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn::fuzz {

inline std::string with_checksum(std::string bytes) {
  const std::uint64_t checksum = XXH64(bytes.data(), bytes.size(), 0);
  return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

inline Dataset dense_rows(Index columns) {
  Dataset data;
  DenseMatrix x(5, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < 5; ++i) x(i, j) = static_cast<float>((i * 7 + j * 3) % 11 - 4);
  }
  data.x = Matrix(std::move(x));
  data.source = "rows";
  return data;
}

inline Dataset sparse_rows(Index columns) {
  SparseMatrix x;
  x.rows = 4;
  x.cols = columns;
  x.start = {0};
  for (Index j = 0; j < columns; ++j) {
    x.row.push_back(static_cast<std::uint32_t>(j % 4));
    x.value.push_back(static_cast<float>(j % 5) - 2.5F);
    x.start.push_back(static_cast<Index>(x.row.size()));
  }
  Dataset data;
  data.x = Matrix(std::move(x));
  data.source = "sparse rows";
  return data;
}

/// Millions of random Fourier features take a second per prediction, but minutes under the sanitizers.
inline bool is_slow(const Model& model) {
  constexpr Index kMostFeatures = Index{1} << 16;
  const auto* linear = dynamic_cast<const LinearModel*>(&model);
  return linear != nullptr && std::ranges::any_of(linear->features, [](const FeaturePtr& f) {
           return f->width() > kMostFeatures;
         });
}

inline void predict(const Model& model) {
  constexpr Index kMostColumns = 2000;
  if (is_slow(model)) return;
  const Index columns = std::clamp<Index>(model.columns(), 3, kMostColumns);
  const auto attempt = [&](Dataset data) {
    expect_errors_only([&] { (void)model.predict(data, threads()); });
    expect_errors_only([&] { (void)model.proba(data, threads()); });
  };
  attempt(dense_rows(columns));
  attempt(sparse_rows(columns));
  attempt(sparse_rows(columns + 3));
  if (model.column_names().empty() || std::ssize(model.column_names()) > kMostColumns) return;
  Dataset named = dense_rows(std::ssize(model.column_names()));
  named.column_names.assign(model.column_names().rbegin(), model.column_names().rend());
  attempt(std::move(named));
}

inline void choose_parts(Model& model) {
  if (auto* linear = dynamic_cast<LinearModel*>(&model)) {
    expect_errors_only([&] { linear->use_features(1); });
  } else if (auto* online = dynamic_cast<OnlineCascadeModel*>(&model)) {
    online->levels = 1;
  }
}

inline void resume(const ModelPtr& model) {
  if (model->kind() == "sharing") {
    expect_errors_only([&] {
      OnlineSharing online = OnlineSharing::resume(model, {});
      for (int round = 0; round < 3; ++round) {
        for (const char* line : {"a 1:1 2:-2", "b/c 2:1 3:5", "a 1:3", "new 4:1 7:2", "b/c 1:1", "a x y:2"}) {
          expect_errors_only([&] { (void)online.learn(line); });
        }
      }
      (void)online.checkpoint().payload();
    });
  }
  if (auto cascade = std::dynamic_pointer_cast<OnlineCascadeModel>(model)) {
    expect_errors_only([&] {
      auto learner = OnlineCascadeLearner::resume(cascade);
      const std::vector<std::string> names = cascade->names;
      for (std::size_t n = 0; n < std::min<std::size_t>(names.size(), 4); ++n) {
        const std::vector<Index> index{0, static_cast<Index>(n) + 1};
        const std::vector<float> value{1, -2};
        const SparseRow row{index, value};
        expect_errors_only([&] { learner.learn({.label = names[n], .task = {}, .features = row}); });
        expect_errors_only([&] { learner.learn({.label = "1", .task = names[n], .features = row}); });
      }
      learner.end_step();
      (void)cascade->payload();
    });
  }
}

inline void use_model(std::string_view file) {
  ModelPtr model;
  expect_errors_only([&] { model = model_from_bytes(file, "the model"); });
  if (model == nullptr) return;
  expect_errors_only([&] { (void)model->describe(); });
  expect_errors_only([&] { (void)json_text(model->to_json(false)); });
  expect_errors_only([&] { (void)json_text(model->to_json(true)); });
  expect_errors_only([&] { (void)export_model(*model, ExportTarget::onnx, "model.onnx", nullptr); });
  predict(*model);
  choose_parts(*model);
  predict(*model);
  expect_errors_only([&] { (void)model->payload(); });
  resume(model);
  predict(*model);
}

}  // namespace sharelearn::fuzz
