#include "export/onnx_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "data/to_size.hpp"
#include "export/onnx_template.hpp"
#include "export/raw_threshold.hpp"

namespace sharelearn {
namespace {

template <class Operation>
const Operation& as(const formula::Formula& f) {
  return std::get<Operation>(static_cast<const formula::Node::variant&>(*f));
}

/// The operand of every formula of the group.
template <class Operation>
std::vector<formula::Formula> operands(OnnxWalk::Group group) {
  std::vector<formula::Formula> all;
  for (const auto& f : group) all.push_back(as<Operation>(f).of);
  return all;
}

struct Signature {
  std::string of(const formula::Formula& f) const {
    return fmt::format("{}({})", f->index(),
                       std::visit([&](const auto& n) { return (*this)(n); },
                                  static_cast<const formula::Node::variant&>(*f)));
  }
  std::string of(const std::vector<formula::Formula>& list) const {
    std::string text;
    for (const auto& each : list) text += of(each) + ";";
    return text;
  }
  std::string operator()(const formula::Columns& n) const { return std::to_string(n.columns.size()); }
  std::string operator()(const formula::AllColumns& n) const { return std::to_string(n.count); }
  std::string operator()(const formula::Constant&) const { return ""; }
  std::string operator()(const formula::Affine& n) const {
    return fmt::format("{} {}", of(n.of), n.offset.size());
  }
  std::string operator()(const formula::Sum& n) const { return of(n.of); }
  std::string operator()(const formula::Product& n) const { return of(n.of); }
  std::string operator()(const formula::LessThan& n) const { return of(n.of); }
  std::string operator()(const formula::SquaredDistance& n) const { return of(n.of); }
  std::string operator()(const formula::Exp& n) const { return of(n.of); }
  std::string operator()(const formula::Cos& n) const { return of(n.of); }
  std::string operator()(const formula::Projection& n) const {
    return fmt::format("{} {} {} {}", of(n.of), n.directions.size(), n.rounded, fmt::ptr(n.identity));
  }
  std::string operator()(const formula::Concatenation& n) const { return of(n.of); }
  std::string operator()(const formula::TemplateMaximum& n) const {
    return fmt::format("{} {} {} {} {} {} {} {}", of(n.of), n.height, n.width, n.low, n.high, n.deskew,
                       n.contrast, n.size);
  }
};

}  // namespace

std::string signature(const formula::Formula& formula) {
  return Signature{}.of(formula);
}

std::vector<Index> columns_read(std::span<const formula::Formula> formulas) {
  std::set<Index> read;
  const auto visit = [&](const auto& self, const formula::Formula& f) -> void {
    const auto each = [&]<class Operation>(const Operation& n) {
      if constexpr (std::is_same_v<Operation, formula::Columns>) {
        read.insert(n.columns.begin(), n.columns.end());
      } else if constexpr (std::is_same_v<Operation, formula::AllColumns>) {
        for (Index j = 0; j < n.count; ++j) read.insert(j);
      } else if constexpr (requires { n.of.size(); }) {
        for (const auto& of : n.of) self(self, of);
      } else if constexpr (requires { n.of; }) {
        self(self, n.of);
      }
    };
    std::visit(each, static_cast<const formula::Node::variant&>(*f));
  };
  for (const auto& f : formulas) visit(visit, f);
  return {read.begin(), read.end()};
}

OnnxWalk::OnnxWalk(OnnxGraph& graph, const Preprocessing& preprocessing, std::vector<Index> columns,
                   Index width)
    : graph_(graph), preprocessing_(preprocessing), columns_(std::move(columns)), raw_("x") {
  if (columns_.empty()) return;
  if (std::ssize(columns_) < width) raw_ = graph_.add("Gather", {raw_, graph_.axes(columns_)}, {{"axis", 1}});
  if (preprocessing_.means.empty()) return;
  std::vector<double> means;
  for (const Index j : columns_) means.push_back(preprocessing_.means[to_size(j)]);
  raw_ =
      graph_.add("Where", {graph_.add("IsNaN", {raw_}), graph_.floats(means, {1, std::ssize(means)}), raw_});
}

std::vector<Index> OnnxWalk::places(std::span<const Index> columns) const {
  std::vector<Index> found;
  for (const Index j : columns) found.push_back(std::ranges::lower_bound(columns_, j) - columns_.begin());
  return found;
}

/// float32((x - offset) * factor) with the difference and the product in double: the same floats as
/// sharelearn's.
const std::string& OnnxWalk::scaled() {
  if (!scaled_.empty()) return scaled_;
  const Scaling& scaling = preprocessing_.scaling;
  if (scaling.is_identity()) return scaled_ = raw_;
  std::vector<double> offset, factor;
  for (const Index j : columns_) {
    offset.push_back(scaling.offset[to_size(j)]);
    factor.push_back(scaling.factor[to_size(j)]);
  }
  const Shape shape{1, std::ssize(columns_)};
  const std::string centred =
      graph_.add("Sub", {graph_.cast(raw_, Element::float64), graph_.doubles(offset, shape)});
  return scaled_ = graph_.cast(graph_.add("Mul", {centred, graph_.doubles(factor, shape)}), Element::float32);
}

Tensor OnnxWalk::wide(Tensor t) {
  if (!t.wide) t.name = graph_.cast(t.name, Element::float64);
  t.wide = true;
  return t;
}

Tensor OnnxWalk::narrow(Tensor t) {
  if (t.wide) t.name = graph_.cast(t.name, Element::float32);
  t.wide = false;
  return t;
}

Tensor OnnxWalk::expanded(Tensor t, Index formulas) {
  if (t.has_rows && t.formulas == formulas) return t;
  const std::string rows = graph_.add("Shape", {"x"}, {{"start", 0}, {"end", 1}});
  const std::string shape = graph_.add("Concat", {rows, graph_.axes({formulas, t.numbers})}, {{"axis", 0}});
  return {graph_.add("Expand", {t.name, shape}), t.wide, formulas, t.numbers};
}

Tensor OnnxWalk::combine(std::string_view operation, Tensor a, Tensor b) {
  if (a.wide != b.wide) a = wide(a), b = wide(b);
  return {graph_.add(operation, {a.name, b.name}), a.wide, std::max(a.formulas, b.formulas),
          std::max(a.numbers, b.numbers), a.has_rows || b.has_rows};
}

Tensor OnnxWalk::one_by_one(Group group) {
  std::vector<std::string> parts;
  Tensor last;
  for (std::size_t i = 0; i < group.size(); ++i) {
    last = expanded(value(group.subspan(i, 1)), 1);
    parts.push_back(last.name);
  }
  return {graph_.add("Concat", parts, {{"axis", 1}}), last.wide, std::ssize(group), last.numbers};
}

Tensor OnnxWalk::values_of_features(Group group, bool rounded) {
  const Tensor values = expanded(value(group), std::ssize(group));
  return wide(rounded ? narrow(values) : values);
}

Tensor OnnxWalk::value(Group group) {
  return std::visit([&](const auto& first) { return of(first, group); },
                    static_cast<const formula::Node::variant&>(*group[0]));
}

Tensor OnnxWalk::of(const formula::Columns&, Group group) {
  std::vector<Index> columns;
  for (const auto& f : group)
    columns.insert(columns.end(), as<formula::Columns>(f).columns.begin(),
                   as<formula::Columns>(f).columns.end());
  const Index count = std::ssize(group), numbers = std::ssize(columns) / count;
  const std::string at = graph_.integers(places(columns), {count, numbers});
  return {graph_.add("Gather", {scaled(), at}, {{"axis", 1}}), false, count, numbers};
}

Tensor OnnxWalk::of(const formula::AllColumns& first, Group) {
  const Index count = first.count;
  if (all_columns_.contains(count)) return all_columns_[count];
  std::string columns = scaled();
  if (count < std::ssize(columns_)) {  // columns_ are ascending and hold 0 to count - 1
    columns = graph_.add("Slice", {columns, graph_.axes({0}), graph_.axes({count}), graph_.axes({1})});
  }
  return all_columns_[count] = {graph_.add("Unsqueeze", {columns, graph_.axes({1})}), false, 1, count};
}

Tensor OnnxWalk::of(const formula::Constant&, Group group) {
  std::vector<double> values;
  for (const auto& f : group) values.push_back(as<formula::Constant>(f).value);
  if (std::ranges::all_of(values, [&](double v) { return v == values[0]; })) values.resize(1);
  const Index count = std::ssize(values);
  return {graph_.doubles(values, {1, count, 1}), true, count, 1, false};
}

Tensor OnnxWalk::of(const formula::Affine&, Group group) {
  std::vector<double> factor, offset;
  for (const auto& f : group) {
    const auto& n = as<formula::Affine>(f);
    factor.push_back(n.factor);
    offset.insert(offset.end(), n.offset.begin(), n.offset.end());
  }
  const auto constant = [&](std::span<const double> values) -> Tensor {
    const Index count = std::ssize(group), numbers = std::ssize(values) / count;
    return {graph_.doubles(values, {1, count, numbers}), true, count, numbers, false};
  };
  const Tensor inner = value(operands<formula::Affine>(group));
  Tensor product = combine("Mul", wide(inner), constant(factor));
  if (std::ranges::all_of(offset, [](double v) { return v == 0; })) return product;
  return combine("Add", product, constant(offset));
}

Tensor OnnxWalk::sum_or_product(Group group, bool product) {
  const auto parts = [&](const formula::Formula& f) -> const std::vector<formula::Formula>& {
    return product ? as<formula::Product>(f).of : as<formula::Sum>(f).of;
  };
  Tensor result;
  for (std::size_t i = 0; i < parts(group[0]).size(); ++i) {
    std::vector<formula::Formula> part;
    for (const auto& f : group) part.push_back(parts(f)[i]);
    const Tensor next = product ? value(part) : wide(value(part));
    // A product is rounded to float32 after each multiplication.
    result = i == 0 ? next : product ? narrow(combine("Mul", result, next)) : combine("Add", result, next);
  }
  return result;
}
Tensor OnnxWalk::of(const formula::Sum&, Group group) {
  return sum_or_product(group, false);
}
Tensor OnnxWalk::of(const formula::Product&, Group group) {
  return sum_or_product(group, true);
}

Tensor OnnxWalk::raw_stumps(Group group) {
  std::vector<Index> columns;
  std::vector<double> thresholds;
  for (const auto& f : group) {
    const auto& n = as<formula::LessThan>(f);
    columns.push_back(as<formula::Columns>(n.of).columns[0]);
    thresholds.push_back(raw_threshold(preprocessing_.scaling, columns.back(), n.threshold));
  }
  const Index count = std::ssize(columns);
  const std::string values =
      graph_.add("Gather", {raw_, graph_.integers(places(columns), {count, 1})}, {{"axis", 1}});
  const std::string below = graph_.add("Less", {values, graph_.floats(thresholds, {1, count, 1})});
  return {graph_.cast(below, Element::float32), false, count, 1};
}

Tensor OnnxWalk::of(const formula::LessThan& first, Group group) {
  const auto* columns =
      std::get_if<formula::Columns>(static_cast<const formula::Node::variant*>(first.of.get()));
  if (columns != nullptr && columns->columns.size() == 1) return raw_stumps(group);
  std::vector<double> thresholds;
  for (const auto& f : group) thresholds.push_back(as<formula::LessThan>(f).threshold);
  const Index count = std::ssize(group);
  Tensor result = combine("Less", wide(value(operands<formula::LessThan>(group))),
                          {graph_.doubles(thresholds, {1, count, 1}), true, count, 1, false});
  result.name = graph_.cast(result.name, Element::float32);
  result.wide = false;
  return result;
}

/// max(0, |x|^2 + |p|^2 - 2 <x, p>), as sharelearn computes it.
Tensor OnnxWalk::of(const formula::SquaredDistance&, Group group) {
  Tensor x = value(operands<formula::SquaredDistance>(group));
  if (x.formulas > 1 || !x.has_rows) {
    if (group.size() > 1) return one_by_one(group);
    x = expanded(x, 1);
  }
  const Index count = std::ssize(group), length = x.numbers;
  std::vector<double> points(to_size(count * length)), squares;
  for (Index s = 0; s < count; ++s) {
    double square = 0;
    for (Index i = 0; i < length; ++i) {
      const double v = as<formula::SquaredDistance>(group[to_size(s)]).point[to_size(i)];
      points[to_size(i * count + s)] = -2 * v;
      square += v * v;
    }
    squares.push_back(square);
  }
  std::string& norm = known_["norm " + x.name];
  x = wide(x);
  if (norm.empty()) norm = graph_.add("ReduceSumSquare", {x.name, graph_.axes({2})});
  const std::string cross = graph_.add("MatMul", {x.name, graph_.doubles(points, {length, count})});
  const std::string squared =
      graph_.add("Add", {graph_.add("Add", {norm, graph_.doubles(squares, {1, 1, count})}), cross});
  const std::string positive = graph_.add("Max", {squared, graph_.number(0, true)});
  return {graph_.add("Reshape", {positive, graph_.axes({0, count, 1})}), true, count, 1};
}

template <class Operation>
Tensor OnnxWalk::function(Group group, std::string_view operation) {
  Tensor x = wide(value(operands<Operation>(group)));
  x.name = graph_.add(operation, {x.name});
  return x;
}
Tensor OnnxWalk::of(const formula::Exp&, Group group) {
  return function<formula::Exp>(group, "Exp");
}
Tensor OnnxWalk::of(const formula::Cos&, Group group) {
  return function<formula::Cos>(group, "Cos");
}

Tensor OnnxWalk::of(const formula::Projection& first, Group group) {
  if (first.identity != nullptr) {  // the same for all, because it is part of the signature
    if (projections_.contains(first.identity)) return projections_[first.identity];
    group = group.first(1);
  }
  Tensor x = value(operands<formula::Projection>(group));
  if (x.formulas > 1 || !x.has_rows) {
    if (group.size() > 1) return one_by_one(group);
    x = expanded(x, 1);
  }
  const Index count = std::ssize(group), numbers = std::ssize(first.directions), length = x.numbers;
  std::vector<double> directions(to_size(count * numbers * length)), offset;
  for (const auto& f : group) {
    const auto& n = as<formula::Projection>(f);
    for (const auto& direction : n.directions) {
      const auto at = std::ssize(offset);
      double& shift = offset.emplace_back(0);  // -direction . centre
      for (Index i = 0; i < length; ++i) {
        directions[to_size(i * count * numbers + at)] = direction[to_size(i)];
        if (!n.centre.empty()) shift -= direction[to_size(i)] * n.centre[to_size(i)];
      }
    }
  }
  std::string result =
      graph_.add("MatMul", {wide(x).name, graph_.doubles(directions, {length, count * numbers})});
  if (std::ranges::any_of(offset, [](double v) { return v != 0; }))
    result = graph_.add("Add", {result, graph_.doubles(offset, {1, 1, count * numbers})});
  if (count > 1) result = graph_.add("Reshape", {result, graph_.axes({0, count, numbers})});
  Tensor projected{result, true, count, numbers};
  if (first.rounded) projected = narrow(projected);
  if (first.identity != nullptr) projections_[first.identity] = projected;
  return projected;
}

Tensor OnnxWalk::of(const formula::Concatenation& first, Group group) {
  std::vector<Tensor> parts;
  Tensor whole{"", false, 1, 0};
  for (std::size_t i = 0; i < first.of.size(); ++i) {
    std::vector<formula::Formula> part;
    for (const auto& f : group) part.push_back(as<formula::Concatenation>(f).of[i]);
    const Tensor& added = parts.emplace_back(value(part));
    whole.formulas = std::max(whole.formulas, added.formulas);
    whole.wide |= added.wide;
    whole.numbers += added.numbers;
  }
  std::vector<std::string> names;
  for (const Tensor& part : parts)
    names.push_back(expanded(whole.wide ? wide(part) : part, whole.formulas).name);
  whole.name = graph_.add("Concat", names, {{"axis", 2}});
  return whole;
}

Tensor OnnxWalk::of(const formula::TemplateMaximum& first, Group group) {
  std::vector<const formula::TemplateMaximum*> templates;
  for (const auto& f : group) templates.push_back(&as<formula::TemplateMaximum>(f));
  check_templates(first);
  const bool same_image = std::ranges::all_of(templates, [](const auto* node) {
    return std::holds_alternative<formula::AllColumns>(static_cast<const formula::Node::variant&>(*node->of));
  });
  if (!same_image && group.size() > 1) return one_by_one(group);
  const Tensor grey = expanded(narrow(value({&first.of, 1})), 1);
  return {template_maxima(graph_, known_, templates, grey.name), true, std::ssize(group), 1};
}

}  // namespace sharelearn
