// The text of `sharelearn describe` for a sharing model.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sharelearn/model/sharing_model.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostFeatures = 20;  // strongest features of the common hypothesis that are shown
constexpr std::size_t kMostClasses = 40;   // a longer list is cut

std::string describe_options(const SharingModel& model) {
  const SharingOptions& o = model.options;
  std::string text = fmt::format("hypotheses {}", name_of(model.sets.kind()));
  if (model.sets.any_shared() && !model.uses_kernel()) {
    text += fmt::format("; map {} of each class's {}", name_of(o.map.kind),
                        o.prototype == Prototype::mean ? "mean" : "first example");
  }
  if (o.kernel.kind == KernelKind::gaussian)
    text += fmt::format("; gaussian kernel, sigma {}", o.kernel.sigma);
  if (o.kernel.kind == KernelKind::polynomial) {
    text += fmt::format("; polynomial kernel, degree {}, offset {}", o.kernel.degree, o.kernel.offset);
  }
  if (o.average) text += "; mean weights";
  return text + '\n';
}

/// The name of a feature, or of its column where columns have names.
std::string shown_name(const SharingModel& model, std::uint32_t id) {
  const std::string name = model.features.name_of(id);
  const std::vector<std::string>& names = model.preprocessing.names;
  if (model.features.by_name() || model.features.hash_bits() > 0) return name;
  std::size_t column = names.size();
  std::from_chars(name.data(), name.data() + name.size(), column);
  return column < names.size() ? names[column] : name;
}

std::string describe_common(const SharingModel& model) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < model.weights.common.size(); ++i) {
    if (model.weights.common[i] != 0) order.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(model.weights.common[a]) > std::abs(model.weights.common[b]);
  });
  std::string text = "\nstrongest features of the hypothesis all classes share:\n";
  for (std::size_t i = 0; i < std::min(order.size(), kMostFeatures); ++i) {
    text += fmt::format("  {:<24} {:>12.6g}\n", shown_name(model, order[i]), model.weights.common[order[i]]);
  }
  return order.empty() ? "" : text;
}

}  // namespace

std::string SharingModel::describe() const {
  std::string text =
      fmt::format("{} classes, {} features; {} examples, {} mistakes, {} first occurrences, {} updates\n",
                  classes.size(), features_used(), examples, mistakes, first_occurrences, updates);
  text += describe_options(*this);
  if (uses_kernel())
    text += fmt::format("{} supports, {} bytes\n", supports.size(), plain.bytes() + centred.bytes());
  for (const ClassGroup& group : sets.groups()) {
    if (group.members.empty()) continue;
    text += fmt::format("set {}:", group.name);
    for (const std::uint32_t r : group.members) text += ' ' + classes[r];
    text += '\n';
  }
  text += "\nclass                      examples\n";
  for (std::size_t r = 0; r < std::min(classes.size(), kMostClasses); ++r) {
    text += fmt::format("{:<24} {:>10}\n", classes[r], examples_of[r]);
  }
  if (classes.size() > kMostClasses) text += fmt::format("(+{} more)\n", classes.size() - kMostClasses);
  if (!uses_kernel() && sets.common()) text += describe_common(*this);
  return text;
}

}  // namespace sharelearn
