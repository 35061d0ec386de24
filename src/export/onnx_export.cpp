#include "export/onnx_export.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "data/to_size.hpp"
#include "export/onnx_walk.hpp"
#include "model/early_steps.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn {
namespace {

/// The names as numbers if every name is an integer written in the plain way, else empty.
std::vector<Index> integer_names(const std::vector<std::string>& names) {
  std::vector<Index> numbers;
  for (const std::string& name : names) {
    Index number = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (problem != std::errc() || std::to_string(number) != name) return {};
    numbers.push_back(number);
  }
  return numbers;
}

void check_utf8(const std::string& name) {
  try {
    nlohmann::json(name).dump();
  } catch (const nlohmann::json::type_error&) {
    throw InputError("ONNX: the name of a class is not valid UTF-8; rename it in the training data");
  }
}

std::vector<formula::Formula> formulas_of(const LinearModel& model,
                                          const std::vector<std::size_t>& features) {
  std::vector<formula::Formula> formulas;
  for (const std::size_t f : features) formulas.push_back(model.features[f]->formula());
  return formulas;
}

bool is_template(const formula::Formula& f) {
  return std::holds_alternative<formula::TemplateMaximum>(static_cast<const formula::Node::variant&>(*f));
}

/// The graph from raw rows to scores, the answer and probabilities.
class OnnxFile {
 public:
  explicit OnnxFile(const LinearModel& model);
  std::string content();

 private:
  using Members = std::vector<std::size_t>;  ///< positions in step_.features

  void add_group(const Members& members);
  std::string scores();
  void add_label(const std::string& scores);
  std::string link_of(const std::string& scores);
  std::string mapped(const std::string& top);
  std::string confident(const std::string& p);
  void add_probabilities(const std::string& scores);

  const LinearModel& model_;
  const EarlyStep step_;  ///< all features in use, their values and weights
  const Index k_, width_;
  const std::vector<formula::Formula> formulas_;  ///< of step_.features
  const bool rounded_;                            ///< values are rounded to float32
  OnnxGraph graph_;
  OnnxWalk walk_;
  std::vector<Index> first_;           ///< number of the first value of each, then the number of values
  std::vector<double> value_weights_;  ///< [value][output]
  std::vector<std::string> blocks_;    ///< values of groups, rows x numbers
  std::vector<double> weights_;        ///< [number][output], in the order of the blocks
};

OnnxFile::OnnxFile(const LinearModel& model)
    : model_(model),
      step_(early_steps(model, {}).front()),
      k_(std::ssize(model.names)),
      width_(model.columns()),
      formulas_(formulas_of(model, step_.features)),
      rounded_(!model.preprocessing.scaling.is_identity() || !std::ranges::all_of(formulas_, is_template)),
      walk_(graph_, model.preprocessing, columns_read(formulas_), width_),
      first_{0} {
  for (const std::size_t f : step_.features) first_.push_back(first_.back() + model.features[f]->width());
  value_weights_.resize(to_size(first_.back() * k_), 0.0);
  for (std::size_t a = 0; a < step_.position.size(); ++a)
    std::copy_n(step_.weights.weights.begin() + static_cast<Index>(a) * k_, k_,
                value_weights_.begin() + step_.position[a] * k_);
}

/// Formulas of equal structure: their weights, and their values as one block.
void OnnxFile::add_group(const Members& members) {
  std::vector<formula::Formula> group;
  for (const std::size_t f : members) {
    group.push_back(formulas_[f]);
    weights_.insert(weights_.end(), value_weights_.begin() + first_[f] * k_,
                    value_weights_.begin() + first_[f + 1] * k_);
  }
  blocks_.push_back(graph_.add("Flatten", {walk_.values_of_features(group, rounded_).name}));
}

std::string OnnxFile::scores() {
  std::map<std::string, std::size_t> group_of;
  std::vector<Members> groups;  // in order of the first member
  for (std::size_t f = 0; f < formulas_.size(); ++f) {
    const auto [found, is_new] = group_of.try_emplace(signature(formulas_[f]), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(f);
  }
  for (const Members& group : groups) add_group(group);
  if (blocks_.empty()) {  // a bias alone
    const std::string rows = graph_.add("Shape", {"x"}, {{"start", 0}, {"end", 1}});
    const std::string shape = graph_.add("Concat", {rows, graph_.axes({k_})}, {{"axis", 0}});
    return graph_.add("Expand", {graph_.doubles(step_.weights.bias, {1, k_}), shape});
  }
  const std::string all = blocks_.size() == 1 ? blocks_[0] : graph_.add("Concat", blocks_, {{"axis", 1}});
  return graph_.add(
      "Gemm", {all, graph_.doubles(weights_, {first_.back(), k_}), graph_.doubles(step_.weights.bias, {k_})});
}

void OnnxFile::add_label(const std::string& scores) {
  if (model_.kind_of_output == OutputKind::tasks) {
    graph_.add("Cast", {graph_.add("Greater", {scores, graph_.number(0, true)})},
               {{"to", static_cast<Index>(Element::int64)}}, "positive");
    graph_.output("positive", Element::int64, k_);
    return;
  }
  const std::string best = graph_.add("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 0}});
  const std::vector<Index> numbers = integer_names(model_.names);
  std::ranges::for_each(model_.names, check_utf8);
  const std::string names = numbers.empty() ? graph_.texts(model_.names) : graph_.axes(numbers);
  graph_.add("Gather", {names, best}, {}, "label");
  graph_.output("label", numbers.empty() ? Element::text : Element::int64, 0);
}

std::string OnnxFile::link_of(const std::string& scores) {
  constexpr double e = std::numbers::e;
  const Link link = model_.link();
  const bool twice = link == Link::softmax_of_twice || link == Link::logistic_of_twice;
  const double gain = (twice ? 2 : 1) / model_.temperature;
  const std::string logits = gain == 1 ? scores : graph_.add("Mul", {scores, graph_.number(gain, true)});
  if (link == Link::logistic || link == Link::logistic_of_twice) return graph_.add("Sigmoid", {logits});
  std::string q = graph_.add("Softmax", {logits}, {{"axis", 1}});
  if (link != Link::margin_softmax) return q;
  // q = softmax(s), p_c ~ q_c (e - (e - 1) q_c)
  const std::string rest =
      graph_.add("Sub", {graph_.number(e, true), graph_.add("Mul", {q, graph_.number(e - 1, true)})});
  const std::string p = graph_.add("Mul", {q, rest});
  return graph_.add("Div", {p, graph_.add("ReduceSum", {p, graph_.axes({1})})});
}

/// What the map of the confidence has for the numbers `top`: to_0 + sum_i slope_i min(max(top - from_i, 0),
/// width_i).
std::string OnnxFile::mapped(const std::string& top) {
  const std::vector<double>&from = model_.confidence.from, &to = model_.confidence.to;
  const Index pieces = std::ssize(from) - 1;
  std::vector<double> widths, slopes;
  for (std::size_t i = 0; i + 1 < from.size(); ++i) {
    widths.push_back(from[i + 1] - from[i]);
    slopes.push_back((to[i + 1] - to[i]) / widths.back());
  }
  const std::string first = graph_.number(to[0], true), zero = graph_.number(0, true);
  if (pieces == 0) return graph_.add("Add", {graph_.add("Mul", {top, zero}), first});
  const std::vector<double> starts(from.begin(), from.end() - 1);
  const std::string above = graph_.add("Sub", {top, graph_.doubles(starts, {1, pieces})});
  const std::string inside =
      graph_.add("Min", {graph_.add("Max", {above, zero}), graph_.doubles(widths, {1, pieces})});
  return graph_.add("Add", {graph_.add("MatMul", {inside, graph_.doubles(slopes, {pieces, 1})}), first});
}

/// map_confidence() of model/link.hpp.
std::string OnnxFile::confident(const std::string& p) {
  if (model_.confidence.from.empty() || k_ < 2) return p;
  std::vector<Index> classes(to_size(k_));
  std::iota(classes.begin(), classes.end(), Index{0});
  const std::string best = graph_.add("ArgMax", {p}, {{"axis", 1}, {"keepdims", 1}});
  const std::string is_best =
      graph_.cast(graph_.add("Equal", {best, graph_.integers(classes, {1, k_})}), Element::float64);
  const std::string one = graph_.number(1, true);
  const std::string others = graph_.add("Mul", {p, graph_.add("Sub", {one, is_best})});
  const std::string sum = graph_.add("ReduceSum", {others, graph_.axes({1})});
  const std::string least = graph_.number(std::numeric_limits<double>::min(), true);
  const std::string share = graph_.add("Div", {others, graph_.add("Max", {sum, least})});
  const std::string second = graph_.add("ReduceMax", {share, graph_.axes({1})});
  const std::string bound = graph_.add(
      "Mul", {graph_.add("Div", {second, graph_.add("Add", {second, one})}), graph_.number(1 + 1e-9, true)});
  const std::string top = graph_.add("ReduceMax", {p, graph_.axes({1})});
  const std::string confidence = graph_.add("Max", {mapped(top), bound});
  return graph_.add("Add", {graph_.add("Mul", {is_best, confidence}),
                            graph_.add("Mul", {share, graph_.add("Sub", {one, confidence})})});
}

void OnnxFile::add_probabilities(const std::string& scores) {
  if (!gives_probabilities(model_.link())) return;
  graph_.add("Cast", {confident(link_of(scores))}, {{"to", static_cast<Index>(Element::float32)}},
             "probabilities");
  graph_.output("probabilities", Element::float32, k_);
}

std::string OnnxFile::content() {
  graph_.input("x", Element::float32, width_);
  const bool regression = model_.kind_of_output == OutputKind::value;
  // Sums are double until here: float32 would leave few digits where the terms of a score cancel.
  const std::string sums = scores();
  const std::string last = graph_.add("Cast", {sums}, {{"to", static_cast<Index>(Element::float32)}},
                                      regression ? "value" : "scores");
  if (!regression) {
    add_label(sums);
    add_probabilities(sums);
  }
  graph_.output(last, Element::float32, k_);
  graph_.property("outputs", json_text(model_.names));
  graph_.property("columns", json_text(model_.column_names()));
  return graph_.file();
}

}  // namespace

std::string export_onnx(const LinearModel& model) {
  if (model.early != nullptr && model.early->stage == model.stage) {
    throw InputError(
        "an ONNX graph computes all features and cannot stop early; give `features` to export the model "
        "without its thresholds, or export to c, js or python");
  }
  return OnnxFile(model).content();
}

}  // namespace sharelearn
