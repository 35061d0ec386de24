// `sharelearn describe --json` of a sharing model: all that a prediction needs (docs/model-json.md).
#include "sharelearn/model/sharing_model.hpp"

namespace sharelearn {
namespace {

using nlohmann::json;

/// Calls visit(class, number) for the entries of a row.
template <class Visit>
void for_each_entry(const ClassTable::RowView& row, Index classes, const Visit& visit) {
  const Index entries = row.dense() ? classes : static_cast<Index>(row.size);
  for (Index e = 0; e < entries; ++e) visit(row.dense() ? e : static_cast<Index>(row.cls[e]), row.value[e]);
}

/// [feature, class, number] of all entries other than 0: the table, less `share` of another.
json table_json(const ClassTable& table, Index classes, const ClassTable* less = nullptr, double share = 0) {
  json all = json::array();
  for (Index f = 0; f < table.features(); ++f) {
    for_each_entry(table.row(f), classes, [&](Index r, double value) {
      const double number = value - (less == nullptr ? 0 : less->value(f, r) * share);
      if (number != 0) all.push_back({f, r, number});
    });
  }
  return all;
}

json means_json(const SharingModel& model) {
  json all = json::array();
  for (Index f = 0; f < model.sums.features(); ++f) {
    for_each_entry(model.sums.row(f), model.class_count(), [&](Index r, double sum) {
      if (sum != 0) all.push_back({f, r, model.mean(f, r)});
    });
  }
  return all;
}

/// The weights that predictions use: with `average` the mean over all examples, w - (sum of t * update) / T.
json weights_json(const SharingModel& model) {
  const bool averaged = model.options.average && model.examples > 0;
  const double share = averaged ? 1 / static_cast<double>(model.examples) : 0;
  const ClassTable* own = averaged ? &model.weighted.own : nullptr;
  const ClassTable* group = averaged ? &model.weighted.group : nullptr;
  std::vector<double> common = model.weights.common;
  for (std::size_t f = 0; f < std::min(common.size(), model.weighted.common.size()); ++f) {
    common[f] -= share * model.weighted.common[f];
  }
  return {{"own", table_json(model.weights.own, model.class_count(), own, share)},
          {"common", common},
          {"groups", table_json(model.weights.group, std::ssize(model.sets.groups()), group, share)}};
}

json supports_json(const SharingModel& model) {
  json all = json::array();
  for (Index j = 0; j < std::ssize(model.supports); ++j) {
    const SupportEntry& support = model.supports[static_cast<std::size_t>(j)];
    const double share = model.options.average ? 1 - support.born / static_cast<double>(model.examples) : 1;
    json entry{{"right", support.right}, {"wrong", support.wrong}, {"step", support.step * share}};
    if (model.keeps_plain_supports()) entry["x"] = model.plain.get(j);
    if (model.keeps_centred_supports()) {
      entry["centred_right"] = model.centred.get(2 * j);
      entry["centred_wrong"] = model.centred.get(2 * j + 1);
    }
    all.push_back(std::move(entry));
  }
  return all;
}

json ids_json(const FeatureNumbering& ids) {
  return {{"by_name", ids.by_name()},
          {"hash_bits", ids.hash_bits()},
          {"bias", ids.bias()},
          {"names", ids.names()},
          {"large_indices", ids.large_indices()}};
}

json sets_json(const SharingModel& model) {
  json own = json::array(), groups = json::array();
  for (Index r = 0; r < model.class_count(); ++r) own.push_back(model.sets.own(r));
  for (const ClassGroup& group : model.sets.groups()) {
    groups.push_back({{"name", group.name}, {"classes", group.members}});
  }
  return {{"own", own}, {"common", model.sets.common()}, {"groups", groups}};
}

}  // namespace

json SharingModel::to_json(bool) const {
  json all = Model::to_json();
  const FeatureMap& map = options.map;
  const Kernel& kernel = options.kernel;
  all["ids"] = ids_json(features);
  all["example"] = {{"binary", options.binary}, {"unit", options.unit}};
  all["hypotheses"] = name_of(sets.kind());
  all["map"] = {{"kind", name_of(map.kind)},
                {"high", map.high},
                {"low", map.low},
                {"high_value", map.high_value},
                {"low_value", map.low_value}};
  all["kernel"] = {{"kind", name_of(kernel.kind)},
                   {"sigma", kernel.sigma},
                   {"degree", kernel.degree},
                   {"offset", kernel.offset}};
  all["sets"] = sets_json(*this);
  all["class_means"] = means_json(*this);
  all[uses_kernel() ? "supports" : "weights"] = uses_kernel() ? supports_json(*this) : weights_json(*this);
  return all;
}

}  // namespace sharelearn
