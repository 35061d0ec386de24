#include "sharelearn/model/linear_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/kernels.hpp"
#include "model/patch_predictor.hpp"
#include "model/stage_bytes.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

/// Sum of the weights of all stages in use, [design column][output], and which columns have a weight.
struct Effective {
  std::vector<double> weights;
  std::vector<char> used;
  std::vector<double> bias;
};

Effective effective(const LinearModel& model, Index columns) {
  const std::size_t k = model.names.size();
  Effective sum{std::vector<double>(static_cast<std::size_t>(columns) * k, 0.0),
                std::vector<char>(static_cast<std::size_t>(columns), 0), std::vector<double>(k, 0.0)};
  for (Index s = model.increments ? 0 : model.stage; s <= model.stage; ++s) {
    const Stage& stage = model.stages[static_cast<std::size_t>(s)];
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      const auto column = static_cast<std::size_t>(stage.columns[a]);
      sum.used[column] = 1;
      for (std::size_t c = 0; c < k; ++c) sum.weights[column * k + c] += stage.weights[a * k + c];
    }
    for (std::size_t c = 0; c < stage.bias.size(); ++c) sum.bias[c] += stage.bias[c];
  }
  return sum;
}

bool any_used(const Effective& e, Index first, Index width) {
  return std::any_of(e.used.begin() + first, e.used.begin() + first + width, [](char u) { return u != 0; });
}

}  // namespace

void write_stage(ByteWriter& out, const Stage& stage) {
  out.indices(stage.columns);
  out.doubles(stage.weights);
  out.doubles(stage.bias);
  out.index(stage.features);
  out.f64(stage.parameter);
}

void read_stage(ByteReader& in, Stage& stage, Index columns, std::size_t outputs) {
  stage.columns = in.indices(0, columns - 1);
  stage.weights = in.doubles();
  stage.bias = in.doubles();
  stage.features = in.index(0, columns);
  stage.parameter = in.f64();
  if (stage.weights.size() != stage.columns.size() * outputs)
    in.damaged("a stage has the wrong number of weights");
  if (!stage.bias.empty() && stage.bias.size() != outputs)
    in.damaged("a stage has the wrong number of biases");
  if (std::ranges::adjacent_find(stage.columns, std::ranges::greater_equal{}) != stage.columns.end()) {
    std::vector<Index> sorted = stage.columns;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
      in.damaged("a stage has two weights of one column");
  }
}

std::vector<Index> LinearModel::first_columns() const {
  std::vector<Index> first{0};
  for (const FeaturePtr& feature : features) first.push_back(first.back() + feature->width());
  return first;
}

Stage LinearModel::current_stage() const {
  const Effective sum = effective(*this, first_columns().back());
  const auto k = std::ssize(names);
  Stage result{{}, {}, sum.bias, features_used(), 0};
  for (Index column = 0; column < std::ssize(sum.used); ++column) {
    if (sum.used[static_cast<std::size_t>(column)] == 0) continue;
    result.columns.push_back(column);
    const auto row = sum.weights.begin() + column * k;
    result.weights.insert(result.weights.end(), row, row + k);
  }
  return result;
}

Grid<double> LinearModel::prepared_scores(const Dataset& data, ThreadPool& threads) const {
  if (const auto templates = PatchPredictor::of(*this)) return templates->scores(data.x, threads);
  const auto k = static_cast<Index>(names.size());
  const std::vector<Index> first = first_columns();
  const Effective w = effective(*this, first.back());
  Grid<double> result(data.rows(), k);
  for (Index c = 0; c < k; ++c)
    std::fill_n(result.column(c), data.rows(), w.bias[static_cast<std::size_t>(c)]);

  // Only features with a weight are computed, a few at a time, so that memory does not grow with their
  // number.
  constexpr Index kAtOnce = 32;
  const ColumnView columns(data.x, preprocessing.scaling);
  std::vector<std::size_t> used;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (any_used(w, first[f], features[f]->width())) used.push_back(f);
  }
  for (std::size_t begin = 0; begin < used.size();) {
    std::size_t end = begin;
    Index width = 0;
    std::vector<double> weights;
    std::vector<Index> at;
    for (; end < used.size() && (end == begin || width < kAtOnce); ++end) {
      const std::size_t f = used[end];
      at.push_back(width);
      width += features[f]->width();
      weights.insert(weights.end(), w.weights.begin() + first[f] * k, w.weights.begin() + first[f + 1] * k);
    }
    Grid<float> values(data.rows(), width);
    threads.for_each(static_cast<Index>(end - begin), [&](Index f, int) {
      const auto offset = static_cast<std::size_t>(f);
      features[used[begin + offset]]->evaluate(columns, values, at[offset]);
    });
    threads.for_each(blocks_of(data.rows()), [&](Index block, int) {
      const RowRange rows = block_range(block, data.rows());
      kernels::multiply_add({values.data() + rows.begin, values.stride(), width}, weights.data(), k,
                            rows.size(), result.data() + rows.begin, result.stride());
    });
    begin = end;
  }
  return result;
}

Index LinearModel::features_used() const {
  const std::vector<Index> first = first_columns();
  const Effective w = effective(*this, first.back());
  Index count = 0;
  for (std::size_t f = 0; f < features.size(); ++f) {
    const auto begin = w.weights.begin() + first[f] * static_cast<Index>(names.size());
    const auto end = w.weights.begin() + first[f + 1] * static_cast<Index>(names.size());
    if (std::any_of(begin, end, [](double v) { return v != 0; })) ++count;
  }
  return count;
}

std::vector<char> LinearModel::columns_needed() const {
  if (preprocessing.transform.reads_whole_rows()) return {};
  const std::vector<Index> first = first_columns();
  const Effective w = effective(*this, first.back());
  require_memory(static_cast<double>(columns()), fmt::format("data with the model's {} columns", columns()));
  std::vector<char> needed(static_cast<std::size_t>(columns()), 0);
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!any_used(w, first[f], features[f]->width())) continue;
    for (const Index column : features[f]->inputs()) needed[static_cast<std::size_t>(column)] = 1;
  }
  return needed;
}

std::vector<double> LinearModel::weights() const {
  return effective(*this, first_columns().back()).weights;
}

std::vector<double> LinearModel::bias() const {
  return effective(*this, first_columns().back()).bias;
}

void LinearModel::use_features(Index count) {
  Index best = -1;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].features <= count) best = static_cast<Index>(s);
  }
  if (best < 0) throw InputError(fmt::format("the model has no stage with at most {} features", count));
  stage = best;
}

bool LinearModel::is_lambda_path() const {
  return !increments && stages.size() > 1 && stages.front().parameter > stages.back().parameter &&
         stages.back().parameter > 0;
}

void LinearModel::use_lambda(double lambda) {
  if (!is_lambda_path()) throw InputError("the model has no path of lambdas to choose from");
  constexpr double kRounding = 1.001;  // as tables print them
  const double first = stages.front().parameter, last = stages.back().parameter;
  if (!(lambda <= first * kRounding && lambda * kRounding >= last)) {
    throw InputError(fmt::format("lambda {}: the path goes from {:.4g} down to {:.4g}", lambda, first, last));
  }
  const auto ratio = [&](const Stage& s) { return std::abs(std::log(s.parameter / lambda)); };
  stage = std::ranges::min_element(stages, {}, ratio) - stages.begin();
}

void LinearModel::trim() {
  const std::vector<Index> first = first_columns();
  Stage kept = current_stage();
  kept.parameter = stages[static_cast<std::size_t>(stage)].parameter;
  std::vector<FeaturePtr> used;
  std::vector<Index> place(static_cast<std::size_t>(first.back()));  // of each column that stays
  Index next = 0;
  for (std::size_t f = 0; f < features.size(); ++f) {
    const auto in_use = [&](Index column) { return column >= first[f] && column < first[f + 1]; };
    if (std::ranges::none_of(kept.columns, in_use)) continue;
    for (Index column = first[f]; column < first[f + 1]; ++column) {
      place[static_cast<std::size_t>(column)] = next++;
    }
    used.push_back(features[f]);
  }
  for (Index& column : kept.columns) column = place[static_cast<std::size_t>(column)];
  features = std::move(used);
  stages = {std::move(kept)};
  stage = 0;
  increments = false;
  early = nullptr;
}

std::string LinearModel::payload() const {
  ByteWriter out;
  out.index(preprocessing.columns);
  out.u8(static_cast<std::uint8_t>(kind_of_output));
  out.texts(names);
  out.texts(preprocessing.names);
  write_scaling(out, preprocessing.scaling);
  out.u64(features.size());
  for (const FeaturePtr& feature : features) write_feature(out, *feature);
  out.u8(increments ? 1 : 0);
  out.u64(stages.size());
  for (const Stage& s : stages) write_stage(out, s);
  out.index(stage);
  return out.bytes();
}

ModelPtr LinearModel::read(std::string_view payload, const std::string& path) {
  ByteReader in(payload, path);
  auto model = std::make_shared<LinearModel>();
  Preprocessing& input = model->preprocessing;
  input.columns = in.index(1, Index{1} << 40);
  const std::uint8_t output = in.u8();
  if (output > static_cast<std::uint8_t>(OutputKind::value)) in.damaged("its kind of output is unknown");
  model->kind_of_output = static_cast<OutputKind>(output);
  model->names = in.texts();
  if (model->names.empty()) in.damaged("it has no outputs");
  input.names = in.texts();
  if (!input.names.empty() && std::ssize(input.names) != input.columns) {
    in.damaged("it names another number of columns than it has");
  }
  input.scaling = read_scaling(in, input.columns);
  const std::uint64_t count = in.u64();
  for (std::uint64_t f = 0; f < count; ++f) model->features.push_back(read_feature(in, input.columns));
  model->increments = in.u8() != 0;
  const std::uint64_t stages = in.u64();
  const Index columns = model->first_columns().back();
  require_memory(8.0 * static_cast<double>(columns) * static_cast<double>(model->names.size() + 1),
                 fmt::format("a model of {} features and {} outputs", columns, model->names.size()));
  for (std::uint64_t s = 0; s < stages; ++s) {
    read_stage(in, model->stages.emplace_back(), columns, model->names.size());
  }
  if (model->stages.empty()) in.damaged("it has no weights");
  model->stage = in.index(0, static_cast<Index>(model->stages.size()) - 1);
  in.expect_end();
  return model;
}

}  // namespace sharelearn
