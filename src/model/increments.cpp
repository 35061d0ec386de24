#include "model/increments.hpp"

#include <algorithm>

#include "data/to_size.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

bool uses(const Increment& level, Index column, Index outputs) {
  const auto row = level.weights.begin() + column * outputs;
  return std::any_of(row, row + outputs, [](double w) { return w != 0; });
}

}  // namespace

std::shared_ptr<LinearModel> model_of_increments(const std::vector<Increment>& increments,
                                                 const std::vector<std::string>& names, OutputKind kind,
                                                 const Preprocessing& preprocessing, const FeaturePtr& map) {
  const Index outputs = std::ssize(names);
  const Index columns = increments.empty() ? 0 : std::ssize(increments.front().weights) / outputs;
  auto model = std::make_shared<LinearModel>();
  model->preprocessing = preprocessing;
  model->names = names;
  model->kind_of_output = kind;
  model->increments = true;
  model->stages.resize(increments.size());
  if (map != nullptr) model->features.push_back(map);
  for (Index j = 0; j < columns; ++j) {
    const auto is_used = [&](const Increment& level) { return uses(level, j, outputs); };
    const auto first = std::find_if(increments.begin(), increments.end(), is_used) - increments.begin();
    if (first == std::ssize(increments)) continue;
    const Index place = map != nullptr ? j : std::ssize(model->features);
    for (std::size_t l = to_size(first); l < increments.size(); ++l) {
      Stage& stage = model->stages[l];
      stage.features = map != nullptr ? 1 : stage.features + 1;
      if (!is_used(increments[l])) continue;
      stage.columns.push_back(place);
      const auto row = increments[l].weights.begin() + j * outputs;
      stage.weights.insert(stage.weights.end(), row, row + outputs);
    }
    if (map == nullptr) model->features.push_back(std::make_shared<ColumnFeature>(j));
  }
  for (std::size_t l = 0; l < increments.size(); ++l) {
    model->stages[l].bias = increments[l].bias;
    model->stages[l].parameter = static_cast<double>(l + 1);
  }
  model->stage = std::ssize(increments) - 1;
  return model;
}

std::vector<Increment> increments_of(const LinearModel& model, Index columns) {
  if (!model.increments) throw InputError("the model is not a cascade: its stages do not add up");
  const Index outputs = std::ssize(model.names);
  std::vector<Index> column_of;
  for (const FeaturePtr& feature : model.features) {
    const auto* column = dynamic_cast<const ColumnFeature*>(feature.get());
    for (Index w = 0; w < feature->width(); ++w)
      column_of.push_back(column != nullptr ? column->column() : w);
  }
  std::vector<Increment> out;
  for (const Stage& stage : model.stages) {
    Increment& level = out.emplace_back(std::vector<double>(to_size(columns * outputs), 0.0), stage.bias);
    level.bias.resize(to_size(outputs), 0.0);
    for (std::size_t a = 0; a < stage.columns.size(); ++a) {
      if (column_of[to_size(stage.columns[a])] >= columns) {
        throw InputError("the model has weights of features that a cascade does not have");
      }
      std::copy_n(stage.weights.begin() + static_cast<Index>(a) * outputs, outputs,
                  level.weights.begin() + column_of[to_size(stage.columns[a])] * outputs);
    }
  }
  return out;
}

}  // namespace sharelearn
