#include "sharelearn/model/online_cascade_model.hpp"

#include <fmt/format.h>

#include "sharelearn/learn/cascade_model.hpp"

namespace sharelearn {

OutputKind OnlineCascadeModel::outputs_are() const {
  return is_multiclass(cascade.options().loss) ? OutputKind::classes : OutputKind::tasks;
}

void OnlineCascadeModel::grow_columns(Index columns, const std::vector<std::string>& column_names) {
  if (columns <= cascade.columns()) return;
  const auto known = static_cast<Index>(inputs.size());
  if (static_cast<Index>(column_names.size()) != columns) inputs.clear();
  if (!inputs.empty()) inputs.insert(inputs.end(), column_names.begin() + known, column_names.end());
  cascade.grow_columns(columns);
}

std::shared_ptr<LinearModel> OnlineCascadeModel::to_linear(bool summed) const {
  const Index used = levels > 0 ? std::min(levels, cascade.levels()) : cascade.levels();
  const Index outputs = cascade.outputs();
  std::vector<CompositePoint> increments;
  for (Index l = 0; l < used; ++l) {
    if (increments.empty() || !summed) {
      increments.push_back({std::vector<double>(static_cast<std::size_t>(cascade.columns() * outputs), 0.0),
                            std::vector<double>(static_cast<std::size_t>(outputs), 0.0)});
    }
    CompositePoint& to = increments.back();
    const auto bias = cascade.bias(l);
    for (std::size_t c = 0; c < bias.size(); ++c) to.bias[c] += bias[c];
    for (Index j = 0; j < cascade.columns(); ++j) {
      const auto row = cascade.weights(l, j);
      for (Index c = 0; c < outputs; ++c) {
        to.weights[static_cast<std::size_t>(j * outputs + c)] += row[static_cast<std::size_t>(c)];
      }
    }
  }
  DesignSource source{scaling, inputs, cascade.columns(), nullptr};
  auto model = cascade_model(increments, names, outputs_are(), source);
  model->metadata = metadata;
  return model;
}

Grid<double> OnlineCascadeModel::scores(const Dataset& data, ThreadPool& threads) const {
  return to_linear(true)->scores(data, threads);
}

Index OnlineCascadeModel::features_used() const {
  return to_linear(true)->features_used();
}

std::string OnlineCascadeModel::describe() const {
  return fmt::format("online cascade after {} steps, {} mistakes in {} predictions\n{}", cascade.steps(),
                     cascade.mistakes(), cascade.predictions(), to_linear(false)->describe());
}

nlohmann::json OnlineCascadeModel::to_json() const {
  nlohmann::json all = to_linear(true)->to_json();
  all["kind"] = kind();
  return all;
}

std::string OnlineCascadeModel::payload() const {
  ByteWriter out;
  out.texts(names);
  out.texts(inputs);
  out.u8(static_cast<std::uint8_t>(scaling.kind));
  out.doubles(scaling.offset);
  out.doubles(scaling.factor);
  cascade.write(out);
  return out.bytes();
}

ModelPtr OnlineCascadeModel::read(std::string_view payload, const std::string& path) {
  ByteReader in(payload, path);
  const auto names = in.texts();
  const auto inputs = in.texts();
  Scaling scaling;
  const std::uint8_t kind = in.u8();
  if (kind > static_cast<std::uint8_t>(ScalingKind::standard)) in.damaged("its scaling is unknown");
  scaling.kind = static_cast<ScalingKind>(kind);
  scaling.offset = in.doubles();
  scaling.factor = in.doubles();
  auto model = std::make_shared<OnlineCascadeModel>(OnlineCascade::read(in));
  in.expect_end();
  const auto columns = static_cast<std::size_t>(model->cascade.columns());
  if (static_cast<Index>(names.size()) != model->cascade.outputs()) in.damaged("its names do not fit");
  if (!inputs.empty() && inputs.size() != columns) in.damaged("its column names do not fit");
  if (scaling.offset.size() != scaling.factor.size() ||
      (!scaling.factor.empty() && scaling.factor.size() != columns)) {
    in.damaged("its scaling does not fit its columns");
  }
  model->names = names;
  model->inputs = inputs;
  model->scaling = std::move(scaling);
  return model;
}

}  // namespace sharelearn
