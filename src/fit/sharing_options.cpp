#include "fit/sharing_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {
namespace {

constexpr std::array<std::string_view, 4> kWords{"multi", "single", "hybrid", "hierarchy"};

ClassSets sets_of(const SharingFit& o) {
  if (is_hypotheses_word(*o.hypotheses)) return ClassSets(hypotheses_from(*o.hypotheses));
  refuse_removed(*o.hypotheses);
  if (o.hypotheses->find_first_of(" \t\n:") == std::string::npos) {
    throw OptionError(
        "hypotheses",
        fmt::format("expected multi, single, hybrid, hierarchy or lines \"set: class class ...\", "
                    "found '{}'",
                    *o.hypotheses));
  }
  ClassSets sets = ClassSets::parse(*o.hypotheses, o.hypotheses_source);
  if (o.own.value_or(false)) sets.give_every_class_its_own();
  return sets;
}

/// Options that do not apply are unset: the learner's defaults are used for them.
SharingOptions learner_options(const SharingFit& o) {
  SharingOptions options;
  const auto take = [](const auto& from, auto& to) {
    if (from) to = static_cast<std::remove_reference_t<decltype(to)>>(*from);
  };
  options.map.kind = map_from(*o.map);
  take(o.high, options.map.high);
  take(o.low, options.map.low);
  take(o.high_value, options.map.high_value);
  take(o.low_value, options.map.low_value);
  options.prototype = prototype_from(*o.prototype);
  options.kernel.kind = kernel_from(*o.kernel);
  take(o.sigma, options.kernel.sigma);
  take(o.degree, options.kernel.degree);
  take(o.offset, options.kernel.offset);
  take(o.budget, options.budget);
  options.update = update_from(*o.update);
  take(o.aggressiveness, options.aggressiveness);
  take(o.average, options.average);
  options.binary = *o.binary;
  options.unit = *o.unit;
  if (options.map.low >= options.map.high) {
    throw OptionError::of_value("low", fmt::format("{}", options.map.low),
                                fmt::format("must be below `high` {}", options.map.high));
  }
  return options;
}

/// The rule in effect where none was chosen: the paper's for kernels, whose supports have one step each.
std::string update_in_effect(const SharingFit& o) {
  return o.update.value_or(o.kernel.value_or("none") == "none" ? "adagrad" : "perceptron");
}

void add_reading_fields(SharingFit& o, FieldTable& table) {
  table.section("Data");
  table
      .add("scale", o.scale,
           "Scaling of the columns of a table, kept in the model: minmax to [-1, 1], standard to mean 0 and "
           "deviation 1")
      .choices({"none", "minmax", "standard"})
      .otherwise("none");
  table
      .add("missing", o.missing,
           "Missing values: report an error, or fill in the column's mean in the first rows, or zero")
      .choices({"error", "mean", "zero"})
      .otherwise("error");
}

void add_class_fields(SharingFit& o, FieldTable& table) {
  table.section("Which classes share, and what");
  table
      .add("hypotheses", o.hypotheses,
           "Which classes share weights: multi (none), single (all), hybrid (weights of its own for each "
           "class and shared ones), hierarchy (class names are paths as in a/b; classes with the same prefix "
           "share), or a file of lines \"set: class class ...\"")
      .otherwise("hybrid");
  table.add("own", o.own, "Every class has weights of its own beside those of the sets in the file")
      .otherwise(false)
      .when("a file of sets as `hypotheses`",
            [&o] { return o.hypotheses && !is_hypotheses_word(*o.hypotheses); });
  table
      .add("map", o.map,
           "What shared weights see of an example x and the mean p of the examples of a class: the product x "
           "p, frequency (is a word typical of the class), the difference |x - p|; with a kernel it is x - p")
      .choices({"product", "frequency", "difference"})
      .otherwise("product");
  table
      .add("prototype", o.prototype,
           "mean: p is the mean of the earlier examples of the class; first: p is its first example")
      .choices({"mean", "first"})
      .otherwise("mean");
  const auto frequency = [&o] { return o.map.value_or("") == "frequency"; };
  const FeatureMap map;
  const auto for_frequency = [&](std::string name, std::optional<double>& value, std::string help,
                                 double otherwise) {
    table.add(std::move(name), value, std::move(help))
        .otherwise(otherwise)
        .when("`map` frequency", frequency);
  };
  for_frequency("high", o.high,
                "A word is typical of a class if at least this fraction of its examples contain it",
                map.high);
  for_frequency("low", o.low,
                "A word is foreign to a class if at most this fraction of its examples contain it", map.low);
  for_frequency("high-value", o.high_value, "Value of a typical word", map.high_value);
  for_frequency("low-value", o.low_value, "Value of a foreign word", map.low_value);
}

void add_kernel_fields(SharingFit& o, FieldTable& table) {
  table.section("Kernel");
  table
      .add("kernel", o.kernel,
           "How two examples a, b are compared: a.b, exp(-|a - b|^2 / (2 sigma)), or (a.b + offset)^degree")
      .choices({"none", "gaussian", "polynomial"})
      .otherwise("none");
  const auto is = [&o](std::string_view kind) { return o.kernel.value_or("none") == kind; };
  const Kernel kernel;
  table.add("sigma", o.sigma, "Width of the Gaussian kernel: a squared distance")
      .above(0)
      .otherwise(kernel.sigma)
      .when("`kernel` gaussian", [is] { return is("gaussian"); });
  table.add("degree", o.degree, "Degree of the polynomial kernel")
      .above(0)
      .otherwise(static_cast<Index>(kernel.degree))
      .when("`kernel` polynomial", [is] { return is("polynomial"); });
  table.add("offset", o.offset, "Offset of the polynomial kernel")
      .at_least(0)
      .otherwise(kernel.offset)
      .when("`kernel` polynomial", [is] { return is("polynomial"); });
  table
      .add("budget", o.budget,
           "Number of mistakes that a kernel keeps, at most; the oldest are forgotten; 0: all are kept")
      .at_least(0)
      .otherwise(0)
      .when("`kernel` gaussian or polynomial", [is] { return !is("none"); });
}

void add_update_fields(SharingFit& o, FieldTable& table) {
  table.section("Learning");
  table
      .add("update", o.update,
           "How weights change. adagrad: a step of its own for every weight, on mistakes and on predictions "
           "that were "
           "right by too small a margin; perceptron: the same step for all, on mistakes; pa: "
           "passive-aggressive, the "
           "smallest step that gives the margin")
      .choices({"adagrad", "perceptron", "pa"})
      .otherwise_text("adagrad; perceptron with a kernel");
  table
      .add("aggressiveness", o.aggressiveness,
           "Step size: of adagrad, relative to the size of the examples; of pa, the largest step")
      .above(0)
      .otherwise_text("0.5 with adagrad, 1 with pa")
      .when("`update` adagrad or pa", [&o] { return update_in_effect(o) != "perceptron"; });
  table.add("average", o.average, "Use the mean of the weights over time for predictions after learning")
      .otherwise(false)
      .when("`update` perceptron or pa", [&o] { return update_in_effect(o) != "adagrad"; });
}

void add_example_fields(SharingFit& o, FieldTable& table) {
  table.section("Examples");
  table.add("binary", o.binary, "Count every value other than 0 as 1").otherwise(false);
  table.add("unit", o.unit, "Scale every example to length 1").otherwise(false);
  table.add("names", o.names, "Features are names (word:2, or word alone for word:1), not numbers")
      .otherwise(false);
  table
      .add("hash", o.hash,
           "Number of bits to hash features to, which saves the memory for their names; 0: no hashing")
      .between(0, 30)
      .otherwise(0);
  table.add("bias", o.bias, "Add a constant feature to every example")
      .otherwise_text("on with `update` adagrad, else off");
}

}  // namespace

void refuse_removed(std::string_view hypotheses) {
  if (hypotheses == "learned") {
    throw OptionError("hypotheses",
                      "learned sets were removed: they made no fewer mistakes than hybrid; use hybrid");
  }
}

bool is_hypotheses_word(std::string_view text) {
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

FieldTable fields(SharingFit& o) {
  FieldTable table;
  add_reading_fields(o, table);
  add_class_fields(o, table);
  add_kernel_fields(o, table);
  add_update_fields(o, table);
  add_example_fields(o, table);
  return table;
}

SharingFit with_options_of(const Model& model, SharingFit o) {
  const auto* learned = dynamic_cast<const SharingModel*>(&model);
  const auto options = model.metadata.find("options");
  if (learned == nullptr || options == model.metadata.end() || !options->is_object()) return o;
  const FieldTable table = fields(o);
  std::vector<const Field*> taken;
  for (const Field& field : table.fields()) {
    const auto value = options->find(field.name);
    const bool is_file = field.name == "hypotheses" && !(value != options->end() && value->is_string() &&
                                                         is_hypotheses_word(value->get<std::string>()));
    // Scaling decides how a front reads the input, before it reads the model.
    if (field.is_set() || value == options->end() || value->is_null() || is_file || field.name == "scale")
      continue;
    // Earlier versions wrote whole numbers as others, and options that do not apply, too.
    const bool whole = field.type == FieldType::whole && value->is_number_float();
    field.set(whole ? nlohmann::json(value->get<Index>()) : *value);
    taken.push_back(&field);
  }
  for (const Field* field : taken) {
    if (!field->applies()) field->clear();
  }
  return o;
}

SharingFit resolved(SharingFit o) {
  const FieldTable table = fields(o);
  table.check();
  o.update = update_in_effect(o);
  if (*o.update == "adagrad" && o.kernel.value_or("none") != "none")
    throw OptionError("update", "adagrad needs `kernel` none; kernels learn by perceptron or pa");
  if (!o.bias) o.bias = *o.update == "adagrad";
  if (!o.aggressiveness && *o.update != "perceptron") o.aggressiveness = *o.update == "adagrad" ? 0.5 : 1;
  table.fill();
  return o;
}

std::shared_ptr<SharingModel> empty_sharing_model(const SharingFit& o) {
  auto model = std::make_shared<SharingModel>(learner_options(o), sets_of(o),
                                              FeatureNumbering(*o.names, static_cast<int>(*o.hash), *o.bias));
  model->preprocessing.scaling.kind = scaling_from(*o.scale);
  return model;
}

std::vector<std::string> differing_options(const SharingModel& a, const SharingModel& b) {
  std::vector<std::string> names;
  const auto expect = [&](bool same, std::string_view name) {
    if (!same) names.push_back(fmt::format("`{}`", name));
  };
  const bool same_sets = a.sets.same_rule(b.sets);
  expect(same_sets, "hypotheses");
  if (!same_sets && a.sets.kind() == b.sets.kind()) names.emplace_back("`own`");
  const SharingOptions &p = a.options, &q = b.options;
  expect(p.map.kind == q.map.kind, "map");
  expect(p.map.high == q.map.high, "high");
  expect(p.map.low == q.map.low, "low");
  expect(p.map.high_value == q.map.high_value, "high-value");
  expect(p.map.low_value == q.map.low_value, "low-value");
  expect(p.prototype == q.prototype, "prototype");
  expect(p.kernel.kind == q.kernel.kind, "kernel");
  expect(p.kernel.sigma == q.kernel.sigma, "sigma");
  expect(p.kernel.degree == q.kernel.degree, "degree");
  expect(p.kernel.offset == q.kernel.offset, "offset");
  expect(p.budget == q.budget, "budget");
  expect(p.update == q.update, "update");
  expect(p.aggressiveness == q.aggressiveness, "aggressiveness");
  expect(p.average == q.average, "average");
  expect(p.binary == q.binary, "binary");
  expect(p.unit == q.unit, "unit");
  expect(a.features.by_name() == b.features.by_name(), "names");
  expect(a.features.hash_bits() == b.features.hash_bits(), "hash");
  expect(a.features.bias() == b.features.bias(), "bias");
  expect(a.preprocessing.scaling.kind == b.preprocessing.scaling.kind, "scale");
  return names;
}

}  // namespace sharelearn
