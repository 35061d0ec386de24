#include "sharelearn/state/sharing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "kernels/class_rows.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

MapKind map_from(std::string_view name) {
  if (name == "product") return MapKind::product;
  if (name == "frequency") return MapKind::frequency;
  if (name == "difference") return MapKind::difference;
  throw InputError(fmt::format("map: expected product, frequency or difference, got \"{}\"", name));
}

std::string_view name_of(MapKind kind) {
  return kind == MapKind::product ? "product" : kind == MapKind::frequency ? "frequency" : "difference";
}

Prototype prototype_from(std::string_view name) {
  if (name == "mean") return Prototype::mean;
  if (name == "first") return Prototype::first;
  throw InputError(fmt::format("prototype: expected mean or first, got \"{}\"", name));
}

UpdateRule update_from(std::string_view name) {
  if (name == "perceptron") return UpdateRule::perceptron;
  if (name == "pa") return UpdateRule::passive_aggressive;
  if (name == "adagrad") return UpdateRule::adagrad;
  throw InputError(fmt::format("update: expected adagrad, perceptron or pa, got \"{}\"", name));
}

void SharingWeights::write(ByteWriter& out) const {
  own.write(out);
  out.doubles(common);
  group.write(out);
}

SharingWeights SharingWeights::read(ByteReader& in, Index classes, Index groups) {
  SharingWeights weights;
  weights.own = ClassTable::read(in, classes);
  weights.common = in.doubles();
  weights.group = ClassTable::read(in, groups);
  return weights;
}

SharingState::SharingState(const SharingOptions& chosen, ClassSets collection, FeatureNumbering ids)
    : options(chosen), features(std::move(ids)), sets(std::move(collection)) {
  options.hypotheses = sets.kind();
}

Index SharingState::find_class(const std::string& name) const {
  const auto found = class_of_name_.find(name);
  return found == class_of_name_.end() ? -1 : found->second;
}

Index SharingState::add_class(std::string_view name) {
  const Index cls = class_count();
  classes.emplace_back(name);
  class_of_name_.emplace(name, cls);
  sets.add_class(name);
  for (ClassTable* table : {&sums, &weights.own, &weighted.own, &adaptive.squares.own})
    table->grow_classes(cls + 1);
  const auto padded = static_cast<std::size_t>(kernels::padded_classes(cls + 1));
  if (examples_of.size() < padded) {
    examples_of.resize(padded, 0);
    divisor.resize(padded, 1);
    inverse.resize(padded, 1);
  }
  return cls;
}

void ExampleBuilder::clear(const SharingState& state) {
  feature_.clear();
  value_.clear();
  if (state.features.bias()) {
    feature_.push_back(0);
    value_.push_back(1);
  }
}

void ExampleBuilder::merge() {
  std::map<std::uint32_t, float> sum;
  for (std::size_t e = 0; e < feature_.size(); ++e) sum[feature_[e]] += value_[e];
  if (sum.size() == feature_.size()) return;
  feature_.clear();
  value_.clear();
  for (const auto& [id, value] : sum) {
    feature_.push_back(id);
    value_.push_back(value);
  }
}

void ExampleBuilder::finish(const SharingState& state) {
  if (state.features.hash_bits() > 0) merge();
  if (!state.options.unit) return;
  double squares = 0;
  for (const float v : value_) squares += static_cast<double>(v) * static_cast<double>(v);
  if (squares == 0) return;
  for (float& v : value_) v = static_cast<float>(static_cast<double>(v) / std::sqrt(squares));
}

}  // namespace sharelearn
