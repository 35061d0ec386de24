#include "sharelearn/learn/cascade_model.hpp"

#include <algorithm>

#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

bool is_used(const CompositePoint& point, Index column, Index outputs) {
  const auto row = point.weights.begin() + column * outputs;
  return std::any_of(row, row + outputs, [](double w) { return w != 0; });
}

}  // namespace

std::vector<CompositePoint> increments_of(const Cascade& cascade) {
  std::vector<CompositePoint> out;
  for (const CascadeLevel& level : cascade.levels) out.push_back(level.increment);
  return out;
}

std::shared_ptr<LinearModel> cascade_model(const std::vector<CompositePoint>& increments,
                                           const std::vector<std::string>& names, OutputKind kind,
                                           const DesignSource& source) {
  if (increments.empty()) throw Failure("cancelled before the first level was learned: there is no model");
  const auto outputs = static_cast<Index>(names.size());
  const Index columns = static_cast<Index>(increments.front().weights.size()) / outputs;
  auto model = std::make_shared<LinearModel>();
  model->preprocessing.scaling = source.scaling;
  model->preprocessing.names = source.inputs;
  model->preprocessing.columns = source.input_columns;
  model->names = names;
  model->kind_of_output = kind;
  model->increments = true;
  // Place of each design column among the model's.
  std::vector<Index> place(static_cast<std::size_t>(columns), -1);
  Index next = 0;
  for (Index j = 0; j < columns; ++j) {
    const bool used = std::any_of(increments.begin(), increments.end(),
                                  [&](const CompositePoint& p) { return is_used(p, j, outputs); });
    if (source.map == nullptr && used) model->features.push_back(std::make_shared<ColumnFeature>(j));
    if (source.map != nullptr || used) place[static_cast<std::size_t>(j)] = next++;
  }
  if (source.map != nullptr) model->features.push_back(source.map);
  std::vector<char> so_far(static_cast<std::size_t>(columns), 0);
  for (std::size_t l = 0; l < increments.size(); ++l) {
    Stage stage;
    for (Index j = 0; j < columns; ++j) {
      if (!is_used(increments[l], j, outputs)) continue;
      so_far[static_cast<std::size_t>(j)] = 1;
      stage.columns.push_back(place[static_cast<std::size_t>(j)]);
      const auto row = increments[l].weights.begin() + j * outputs;
      stage.weights.insert(stage.weights.end(), row, row + outputs);
    }
    stage.bias = increments[l].bias;
    const auto used = std::count(so_far.begin(), so_far.end(), 1);
    stage.features = source.map != nullptr ? std::min<Index>(used, 1) : static_cast<Index>(used);
    stage.parameter = static_cast<double>(l + 1);
    model->stages.push_back(std::move(stage));
  }
  model->stage = static_cast<Index>(model->stages.size()) - 1;
  return model;
}

std::vector<CompositePoint> increments_of(const LinearModel& model, Index columns) {
  if (!model.increments) throw InputError("the model is not a cascade: its stages are no increments");
  const auto outputs = static_cast<Index>(model.names.size());
  std::vector<Index> column_of;
  for (const FeaturePtr& feature : model.features) {
    const auto* column = dynamic_cast<const ColumnFeature*>(feature.get());
    for (Index w = 0; w < feature->width(); ++w)
      column_of.push_back(column != nullptr ? column->column() : w);
  }
  std::vector<CompositePoint> out;
  for (const Stage& stage : model.stages) {
    CompositePoint point;
    point.weights.assign(static_cast<std::size_t>(columns * outputs), 0.0);
    point.bias = stage.bias;
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      std::copy_n(stage.weights.begin() + static_cast<Index>(a) * outputs, outputs,
                  point.weights.begin() + column_of[static_cast<std::size_t>(stage.columns[a])] * outputs);
    }
    out.push_back(std::move(point));
  }
  return out;
}

}  // namespace sharelearn
