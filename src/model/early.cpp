// Prediction that stops early: every block of rows computes the features of one checkpoint after the other,
// each for the rows that are still undecided.
#include "sharelearn/model/early.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/to_size.hpp"
#include "kernels/kernels.hpp"
#include "model/early_margin.hpp"
#include "model/early_steps.hpp"
#include "pool/patch_evaluator.hpp"
#include "pool/patch_pixels.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kRowsAtOnce = 256;
constexpr Index kImagesAtOnce = 64;  // their grey values are read together: four cache lines of each column

/// Values of the features of a step for some rows of a block.
Grid<float> values_of(const LinearModel& model, const EarlyStep& step, const Matrix& block,
                      std::span<const Index> rows) {
  Index width = 0;
  for (const std::size_t f : step.features) width += model.features[f]->width();
  Grid<float> values(std::ssize(rows), width);
  const Matrix chosen = block.select_rows(rows);
  const ColumnView view(chosen, model.preprocessing.scaling);
  Index at = 0;
  for (const std::size_t f : step.features) {
    model.features[f]->evaluate(view, values, at);
    at += model.features[f]->width();
  }
  return values;
}

/// The predictor of a model of image templates: image by image, prepared once, with panels for each step.
/// Scores are added up as PatchPredictor does.
class TemplatePredictor {
 public:
  /// Null unless all features are templates of unscaled images of one kind.
  static std::unique_ptr<TemplatePredictor> of(const LinearModel& model,
                                               const std::vector<EarlyStep>& steps) {
    if (!model.preprocessing.scaling.is_identity()) return nullptr;
    std::vector<std::vector<const PatchFeature*>> lists;
    const PatchFeature* first = nullptr;
    for (const EarlyStep& step : steps) {
      lists.emplace_back();
      for (const std::size_t f : step.features) {
        const auto* feature = dynamic_cast<const PatchFeature*>(model.features[f].get());
        if (feature == nullptr) return nullptr;
        if (first == nullptr) first = feature;
        if (!(first->parts().frame == feature->parts().frame)) return nullptr;
        lists.back().push_back(feature);
      }
    }
    if (first == nullptr) return nullptr;
    return std::unique_ptr<TemplatePredictor>(new TemplatePredictor(model, steps, lists));
  }

  void run(const Matrix& x, RowRange rows, EarlyScores& out) const {
    const auto size = to_size(evaluator_.frame().shape.pixels());
    std::vector<float> grey(to_size(kImagesAtOnce) * size);
    std::vector<std::uint8_t> pixels(grey.size()), values(value_count_);
    PatchPixels converter(evaluator_.frame());
    PatchEvaluator::Workspace workspace(evaluator_);
    Grid<double> scores(1, std::ssize(model_.names));
    for (Index i = rows.begin; i < rows.end; ++i) {
      const Index place = (i - rows.begin) % kImagesAtOnce;
      if (place == 0) {
        const RowRange next{i, std::min(rows.end, i + kImagesAtOnce)};
        gather(x, next, grey.data());
        converter.convert(std::span(grey).first(to_size(next.size()) * size), pixels.data());
      }
      evaluator_.prepare_pixels(std::span(pixels).subspan(to_size(place) * size, size), workspace);
      const std::size_t stop = run_one(workspace, values, scores);
      for (Index c = 0; c < scores.cols(); ++c) out.scores(i, c) = scores(0, c);
      out.stop[to_size(i)] = static_cast<std::int32_t>(stop);
    }
  }

 private:
  TemplatePredictor(const LinearModel& model, const std::vector<EarlyStep>& steps,
                    const std::vector<std::vector<const PatchFeature*>>& lists)
      : model_(model), steps_(steps), evaluator_(lists) {
    for (const EarlyStep& step : steps) {
      value_count_ += step.features.size();
      weights_.emplace_back();
      for (const double w : step.weights.weights) weights_.back().push_back(w / 255);
    }
  }

  static void gather(const Matrix& x, RowRange rows, float* out) {
    if (x.is_sparse()) {
      ColumnView(x).gather(rows, out);
    } else {
      gather_rows(x.dense(), rows, out);
    }
  }

  /// The step that decides; `scores` are those of that step.
  std::size_t run_one(PatchEvaluator::Workspace& workspace, std::vector<std::uint8_t>& values,
                      Grid<double>& scores) const {
    std::size_t computed = 0;
    std::vector<double> sums;
    for (std::size_t s = 0;; ++s) {
      const EarlyStep& step = steps_[s];
      evaluator_.evaluate_list(s, workspace, values.data() + computed);
      computed += step.features.size();
      sums = step.weights.bias;
      for (std::size_t a = 0; a < step.position.size(); ++a) {
        const double value = values[to_size(step.position[a])];
        const double* weights = weights_[s].data() + a * sums.size();
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += value * weights[c];
      }
      for (std::size_t c = 0; c < sums.size(); ++c) scores(0, static_cast<Index>(c)) = sums[c];
      if (s + 1 == steps_.size() || margin_of(scores, 0, model_.kind_of_output) > step.threshold) return s;
    }
  }

  const LinearModel& model_;
  const std::vector<EarlyStep>& steps_;
  PatchEvaluator evaluator_;
  std::vector<std::vector<double>> weights_;  ///< of each step, in units of 1/255
  std::size_t value_count_ = 0;
};

/// The rows of one block that are undecided, and their values so far.
struct Undecided {
  std::vector<Index> rows;  ///< within the block
  Grid<float> values;       ///< one row per entry of `rows`

  void append(const Grid<float>& more) {
    const Index old = values.cols();
    if (old == 0) {
      values = more;
      return;
    }
    values.append_columns(more.cols());
    for (Index c = 0; c < more.cols(); ++c) std::copy_n(more.column(c), more.rows(), values.column(old + c));
  }
  /// Keeps the entries `kept`, ascending.
  void keep(const std::vector<std::size_t>& kept) {
    Grid<float> rest(std::ssize(kept), values.cols());
    for (Index c = 0; c < values.cols(); ++c) {
      for (std::size_t r = 0; r < kept.size(); ++r)
        rest(static_cast<Index>(r), c) = values(static_cast<Index>(kept[r]), c);
    }
    values = std::move(rest);
    std::vector<Index> numbers;
    for (const std::size_t r : kept) numbers.push_back(rows[r]);
    rows = std::move(numbers);
  }
};

class BlockPredictor {
 public:
  BlockPredictor(const LinearModel& model, const std::vector<EarlyStep>& steps)
      : model_(model), steps_(steps) {}

  void run(const Matrix& x, RowRange block, EarlyScores& out) const {
    Undecided open;
    for (Index i = 0; i < block.size(); ++i) open.rows.push_back(i);
    for (std::size_t s = 0; s < steps_.size() && !open.rows.empty(); ++s) {
      if (!steps_[s].features.empty()) open.append(values_of(model_, steps_[s], x, open.rows));
      const Grid<double> scores = scores_at(steps_[s], open);
      std::vector<std::size_t> rest;
      for (std::size_t r = 0; r < open.rows.size(); ++r) {
        const auto at = static_cast<Index>(r);
        const bool last = s + 1 == steps_.size();
        if (!last && !(margin_of(scores, at, model_.kind_of_output) > steps_[s].threshold)) {
          rest.push_back(r);
          continue;
        }
        const Index row = block.begin + open.rows[r];
        for (Index c = 0; c < scores.cols(); ++c) out.scores(row, c) = scores(at, c);
        out.stop[to_size(row)] = static_cast<std::int32_t>(s);
      }
      if (rest.size() < open.rows.size()) open.keep(rest);
    }
  }

 private:
  Grid<double> scores_at(const EarlyStep& step, const Undecided& open) const {
    const auto rows = std::ssize(open.rows), k = std::ssize(model_.names);
    Grid<double> scores(rows, k);
    for (Index c = 0; c < k; ++c) std::fill_n(scores.column(c), rows, step.weights.bias[to_size(c)]);
    Grid<float> used(rows, std::ssize(step.position));
    for (std::size_t a = 0; a < step.position.size(); ++a)
      std::copy_n(open.values.column(step.position[a]), rows, used.column(static_cast<Index>(a)));
    kernels::multiply_add({used.data(), used.stride(), used.cols()}, step.weights.weights.data(), k, rows,
                          scores.data(), scores.stride());
    return scores;
  }

  const LinearModel& model_;
  const std::vector<EarlyStep>& steps_;
};

}  // namespace

std::vector<EarlyStep> early_steps(const LinearModel& model, const EarlyStop& early) {
  std::vector<EarlyStep> steps;
  for (const EarlyCheckpoint& point : early.checkpoints)
    steps.push_back({{}, {}, point.weights, point.threshold});
  steps.push_back({{}, {}, model.current_stage(), 0});
  const std::vector<Index> first = model.first_columns();
  std::vector<Index> place(to_size(first.back()), -1);  // of each design column among the values
  Index computed = 0;
  for (EarlyStep& step : steps) {
    for (const Index column : step.weights.columns) {
      const auto f = to_size(std::upper_bound(first.begin(), first.end(), column) - first.begin() - 1);
      if (place[to_size(column)] < 0) {
        step.features.push_back(f);
        for (Index c = first[f]; c < first[f + 1]; ++c) place[to_size(c)] = computed++;
      }
      step.position.push_back(place[to_size(column)]);
    }
    step.weights.bias.resize(model.names.size(), 0.0);
  }
  return steps;
}

EarlyScores LinearModel::prepared_early_scores(const Dataset& data, ThreadPool& threads) const {
  if (stage != early->stage) {
    throw InputError(
        fmt::format("the thresholds for stopping early belong to the model with {} features, and {} are "
                    "asked for; leave `features` out, or fit thresholds for this size",
                    stages[to_size(early->stage)].features, features_used()));
  }
  const std::vector<EarlyStep> steps = early_steps(*this, *early);
  const auto templates = TemplatePredictor::of(*this, steps);
  const BlockPredictor predictor(*this, steps);
  EarlyScores out{Grid<double>(data.rows(), std::ssize(names)),
                  std::vector<std::int32_t>(to_size(data.rows()))};
  threads.for_each((data.rows() + kRowsAtOnce - 1) / kRowsAtOnce, [&](Index piece, int) {
    const RowRange block{piece * kRowsAtOnce, std::min(data.rows(), (piece + 1) * kRowsAtOnce)};
    if (templates != nullptr) {
      templates->run(data.x, block, out);
      return;
    }
    std::vector<Index> rows;
    for (Index i = block.begin; i < block.end; ++i) rows.push_back(i);
    predictor.run(data.x.select_rows(rows), block, out);
  });
  return out;
}

std::vector<Work> early_work(const LinearModel& model, const EarlyStop& early) {
  std::set<const void*> counted;
  std::set<Index> columns;
  Work sum;
  std::vector<Work> result;
  for (const EarlyStep& step : early_steps(model, early)) {
    for (const std::size_t f : step.features) {
      const Feature& feature = *model.features[f];
      sum.features += 1;
      sum.multiply_adds += formula::multiply_adds(feature.formula(), counted);
      const std::vector<Index> inputs = feature.inputs();
      columns.insert(inputs.begin(), inputs.end());
    }
    sum.columns = std::ssize(columns);
    sum.multiply_adds += std::ssize(step.weights.weights);
    result.push_back(sum);
  }
  return result;
}

Work full_work(const LinearModel& model) {
  return early_work(model, {}).back();
}

std::shared_ptr<const LinearModel> as_linear(const Model& model, std::string_view what) {
  if (const auto* linear = dynamic_cast<const LinearModel*>(&model)) {
    return {std::shared_ptr<const LinearModel>(), linear};  // the caller keeps the model
  }
  if (const auto* online = dynamic_cast<const OnlineCascadeModel*>(&model)) return online->to_linear(false);
  throw InputError(
      fmt::format("{}: the model is of the kind '{}', a linear model is needed", what, model.kind()));
}

}  // namespace sharelearn
