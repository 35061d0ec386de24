#include "sharelearn/model/online_cascade_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "sharelearn/pool/columns.hpp"

namespace sharelearn {
namespace {

/// The weights of a stage: [column][output], and the bias.
struct Dense {
  std::vector<double> weights, bias;
};

/// What each level adds, or all of the first `levels` together.
std::vector<Dense> weights_of(const OnlineCascade& cascade, Index levels, bool summed) {
  const Index outputs = cascade.outputs();
  std::vector<Dense> all;
  for (Index l = 0; l < levels; ++l) {
    if (all.empty() || !summed) {
      all.push_back({std::vector<double>(to_size(cascade.columns() * outputs), 0.0),
                     std::vector<double>(to_size(outputs), 0.0)});
    }
    Dense& to = all.back();
    const auto bias = cascade.bias(l);
    for (std::size_t c = 0; c < bias.size(); ++c) to.bias[c] += bias[c];
    for (Index j = 0; j < cascade.columns(); ++j) {
      const auto row = cascade.weights(l, j);
      for (Index c = 0; c < outputs; ++c) to.weights[to_size(j * outputs + c)] += row[to_size(c)];
    }
  }
  return all;
}

bool uses(const Dense& level, Index column, Index outputs) {
  const auto row = level.weights.begin() + column * outputs;
  return std::any_of(row, row + outputs, [](double w) { return w != 0; });
}

}  // namespace

OnlineCascadeModel::OnlineCascadeModel(OnlineCascade state) : cascade(std::move(state)) {
  preprocessing.columns = cascade.columns();
}

OutputKind OnlineCascadeModel::outputs_are() const {
  return is_multiclass(cascade.options().loss) ? OutputKind::classes : OutputKind::tasks;
}

void OnlineCascadeModel::grow_columns(Index columns, const std::vector<std::string>& column_names) {
  if (columns <= cascade.columns()) return;
  std::vector<std::string>& inputs = preprocessing.names;
  const auto known = static_cast<Index>(inputs.size());
  if (static_cast<Index>(column_names.size()) != columns) inputs.clear();
  if (!inputs.empty()) inputs.insert(inputs.end(), column_names.begin() + known, column_names.end());
  cascade.grow_columns(columns);
  preprocessing.columns = columns;
}

std::shared_ptr<LinearModel> OnlineCascadeModel::to_linear(bool summed) const {
  const Index used = levels > 0 ? std::min(levels, cascade.levels()) : cascade.levels();
  const Index outputs = cascade.outputs();
  const std::vector<Dense> all = weights_of(cascade, used, summed);
  auto model = std::make_shared<LinearModel>();
  model->preprocessing = preprocessing;
  model->names = names;
  model->kind_of_output = outputs_are();
  model->increments = true;
  model->stages.resize(all.size());
  for (Index j = 0; j < cascade.columns(); ++j) {
    const auto is_used = [&](const Dense& level) { return uses(level, j, outputs); };
    const auto first = std::find_if(all.begin(), all.end(), is_used) - all.begin();
    if (first == std::ssize(all)) continue;
    for (std::size_t l = to_size(first); l < all.size(); ++l) {
      Stage& stage = model->stages[l];
      ++stage.features;
      if (!is_used(all[l])) continue;
      stage.columns.push_back(std::ssize(model->features));
      const auto row = all[l].weights.begin() + j * outputs;
      stage.weights.insert(stage.weights.end(), row, row + outputs);
    }
    model->features.push_back(std::make_shared<ColumnFeature>(j));
  }
  for (std::size_t l = 0; l < all.size(); ++l) {
    model->stages[l].bias = all[l].bias;
    model->stages[l].parameter = static_cast<double>(l + 1);
  }
  model->stage = std::ssize(all) - 1;
  model->metadata = metadata;
  model->set_link(link());
  return model;
}

Grid<double> OnlineCascadeModel::prepared_scores(const Dataset& data, ThreadPool& threads) const {
  return to_linear(true)->scores(data, threads);
}

Index OnlineCascadeModel::features_used() const {
  return to_linear(true)->features_used();
}

std::string OnlineCascadeModel::describe() const {
  return fmt::format("online cascade after {} steps, {} mistakes in {} predictions\n{}", cascade.steps(),
                     cascade.mistakes(), cascade.predictions(), to_linear(false)->describe());
}

nlohmann::json OnlineCascadeModel::to_json(bool all_stages) const {
  nlohmann::json all = to_linear(!all_stages)->to_json(all_stages);
  all["kind"] = kind();
  return all;
}

std::string OnlineCascadeModel::payload() const {
  ByteWriter out;
  out.texts(names);
  out.texts(preprocessing.names);
  write_scaling(out, preprocessing.scaling);
  cascade.write(out);
  return out.bytes();
}

ModelPtr OnlineCascadeModel::read(std::string_view payload, const std::string& path) {
  ByteReader in(payload, path);
  const auto names = in.texts();
  const auto inputs = in.texts();
  Scaling scaling = read_scaling(in, -1);
  auto model = std::make_shared<OnlineCascadeModel>(OnlineCascade::read(in));
  in.expect_end();
  const auto columns = static_cast<std::size_t>(model->cascade.columns());
  if (static_cast<Index>(names.size()) != model->cascade.outputs()) in.damaged("its names do not fit");
  if (!inputs.empty() && inputs.size() != columns) in.damaged("its column names do not fit");
  if (!scaling.factor.empty() && scaling.factor.size() != columns) {
    in.damaged("its scaling does not fit its columns");
  }
  model->names = names;
  model->preprocessing.names = inputs;
  model->preprocessing.scaling = std::move(scaling);
  return model;
}

}  // namespace sharelearn
