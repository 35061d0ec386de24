#include "sharelearn/model/online_cascade_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "model/increments.hpp"

namespace sharelearn {
namespace {

/// What each level adds, or all of the first `levels` together.
std::vector<Increment> weights_of(const OnlineCascade& cascade, Index levels, bool summed) {
  const Index outputs = cascade.outputs();
  std::vector<Increment> all;
  for (Index l = 0; l < levels; ++l) {
    if (all.empty() || !summed) {
      all.push_back({std::vector<double>(to_size(cascade.columns() * outputs), 0.0),
                     std::vector<double>(to_size(outputs), 0.0)});
    }
    Increment& to = all.back();
    const auto bias = cascade.bias(l);
    for (std::size_t c = 0; c < bias.size(); ++c) to.bias[c] += bias[c];
    for (Index j = 0; j < cascade.columns(); ++j) {
      const auto row = cascade.weights(l, j);
      for (Index c = 0; c < outputs; ++c) to.weights[to_size(j * outputs + c)] += row[to_size(c)];
    }
  }
  return all;
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
  auto model = model_of_increments(weights_of(cascade, used, summed), names, outputs_are(), preprocessing);
  model->metadata = metadata;
  model->set_link(link());
  if (!summed) model->early = early;
  return model;
}

Grid<double> OnlineCascadeModel::prepared_scores(const Dataset& data, ThreadPool& threads) const {
  return to_linear(true)->scores(data, threads);
}

EarlyScores OnlineCascadeModel::prepared_early_scores(const Dataset& data, ThreadPool& threads) const {
  return to_linear(false)->early_scores(data, threads);
}

Index OnlineCascadeModel::features_used() const {
  return to_linear(true)->features_used();
}

std::string OnlineCascadeModel::describe() const {
  return fmt::format("online cascade after {} steps, {} mistakes in {} predictions\n{}", cascade.steps(),
                     cascade.mistakes(), cascade.predictions(), to_linear(false)->describe());
}

nlohmann::json OnlineCascadeModel::to_json(bool all_stages) const {
  nlohmann::json all = to_linear(false)->to_json(all_stages);
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
  auto model = std::make_shared<OnlineCascadeModel>(OnlineCascade::read(in, std::ssize(names)));
  in.expect_end();
  const auto columns = static_cast<std::size_t>(model->cascade.columns());
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
