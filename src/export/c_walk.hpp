// The walk over formulas for C: each operation becomes an expression of one float, or an array. Names begin
// with NAME, which the file replaces at the end.
//
// What is not bit-exact: arithmetic is float, so scores have an error of about 1e-6 of the largest term. A
// column's scaling is folded into its weights. Thresholds of stumps are moved to raw units without any error:
// the smallest float whose scaled value is not below the threshold.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "export/c_tables.hpp"

namespace sharelearn {

/// A list of floats in C: an expression if it has one number, else the name of an array.
struct Value {
  std::string text;
  Index length = 1;
  std::string at(std::string_view i) const { return length == 1 ? text : fmt::format("{}[{}]", text, i); }
};

class CWalk : public CTables {
 public:
  explicit CWalk(const LinearModel& model) : CTables(model) {}

  Value value(const formula::Formula& f) {
    return std::visit([&](const auto& node) { return (*this)(node); },
                      static_cast<const formula::Node::variant&>(*f));
  }
  /// The feature's numbers, each an expression.
  std::vector<std::string> numbers(const formula::Formula& f) {
    const Value v = value(f);
    std::vector<std::string> all;
    for (Index i = 0; i < v.length; ++i) all.push_back(v.at(std::to_string(i)));
    return all;
  }
  template <class Numbers>
  std::string floats(const Numbers& values) {
    std::vector<std::string> entries;
    for (const auto v : values) entries.push_back(c_number(static_cast<double>(v)));
    return table("float", entries);
  }
  std::string raw(Index column) {
    const Index at = slot(column);
    return model_.preprocessing.means.empty()
               ? fmt::format("x[{}]", at)
               : fmt::format("NAME_filled(x[{}], {})", at,
                             c_number(model_.preprocessing.means[to_size(column)]));
  }

  Value operator()(const formula::Columns& n) {
    if (n.columns.size() == 1) return {scaled(n.columns[0])};
    return list(std::ssize(n.columns), [&](Index i) { return scaled(n.columns[to_size(i)]); });
  }
  Value operator()(const formula::AllColumns& n) {
    if (all_.text.empty() || all_.length < n.count) {
      all_ = list(n.count, [&](Index i) { return scaled(i); });
    }
    return {n.count == 1 ? all_.at("0") : all_.text, n.count};
  }
  Value operator()(const formula::Constant& n) { return {c_number(n.value)}; }
  Value operator()(const formula::Affine& n) {
    const Value of = value(n.of);
    if (of.length == 1 && n.offset.size() == 1) {
      return {fmt::format("({} * {} + {})", c_number(n.factor), of.text, c_number(n.offset[0]))};
    }
    const Value offset{n.offset.size() == 1 ? c_number(n.offset[0]) : floats(n.offset), std::ssize(n.offset)};
    return loop(std::max(of.length, offset.length),
                fmt::format("{} * {} + {}", c_number(n.factor), of.at("i"), offset.at("i")));
  }
  Value operator()(const formula::Sum& n) { return combined(n.of, " + "); }
  Value operator()(const formula::Product& n) { return combined(n.of, " * "); }
  Value operator()(const formula::LessThan& n) {
    const auto* column = std::get_if<formula::Columns>(&static_cast<const formula::Node::variant&>(*n.of));
    if (column != nullptr && column->columns.size() == 1) {
      const float at = raw_threshold(model_.preprocessing.scaling, column->columns[0], n.threshold);
      const std::string x = raw(column->columns[0]);
      if (std::isinf(at)) return {fmt::format("({0} == {0} ? 1.0f : 0.0f)", x)};  // below for every number
      return {fmt::format("({} < {} ? 1.0f : 0.0f)", x, c_number(at))};
    }
    const Value of = value(n.of);
    const auto test = [&](const std::string& v) {
      return fmt::format("({} < {} ? 1.0f : 0.0f)", v, c_number(n.threshold));
    };
    return of.length == 1 ? Value{test(of.text)} : loop(of.length, test(of.at("i")));
  }
  Value operator()(const formula::SquaredDistance& n) {
    const Value of = value(n.of);
    return {fmt::format("NAME_distance({}, {}, {})", pointer(of), floats(n.point), n.point.size())};
  }
  Value operator()(const formula::Exp& n) { return function("expf", value(n.of)); }
  Value operator()(const formula::Cos& n) { return function("cosf", value(n.of)); }
  Value operator()(const formula::Concatenation& n) {
    std::vector<std::string> all;
    for (const auto& of : n.of) {
      const Value v = value(of);
      for (Index i = 0; i < v.length; ++i) all.push_back(v.at(std::to_string(i)));
    }
    return list(std::ssize(all), [&](Index i) { return all[to_size(i)]; });
  }
  Value operator()(const formula::Projection& n) {
    const auto known = projections_.find(n.identity);
    if (n.identity != nullptr && known != projections_.end()) return known->second;
    const Value of = value(n.of);
    std::vector<double> flat;
    std::vector<double> offset;  // -direction . centre
    for (const auto& direction : n.directions) {
      flat.insert(flat.end(), direction.begin(), direction.end());
      double sum = 0;
      for (std::size_t i = 0; i < n.centre.size(); ++i) sum -= direction[i] * n.centre[i];
      offset.push_back(sum);
    }
    const std::string directions = floats(flat), offsets = floats(offset), from = pointer(of);
    Value result = loop(std::ssize(n.directions), fmt::format("NAME_dot({}, {} + i * {}, {}) + {}[i]", from,
                                                              directions, of.length, of.length, offsets));
    if (n.identity != nullptr) projections_[n.identity] = result;
    return result;
  }
  Value operator()(const formula::TemplateMaximum& n) { return {"(float)" + response(n)}; }

 private:
  std::string scaled(Index column) {
    const Scaling& scaling = model_.preprocessing.scaling;
    if (scaling.is_identity()) return raw(column);
    return fmt::format("(({} - {}) * {})", raw(column), c_number(scaling.offset[to_size(column)]),
                       c_number(scaling.factor[to_size(column)]));
  }
  /// An array whose entries are listed one by one.
  template <class Entry>
  Value list(Index length, const Entry& entry) {
    Value result{fresh(), length};
    if (length == 1) return {entry(0)};
    declare("float", result.text, length);
    for (Index i = 0; i < length; ++i) line(fmt::format("{}[{}] = {};", result.text, i, entry(i)));
    return result;
  }
  /// An array whose entry i is the expression.
  Value loop(Index length, const std::string& expression) {
    Value result{fresh(), length};
    declare("float", result.text, length);
    line(fmt::format("for (i = 0; i < {}; ++i) {}[i] = {};", length, result.text, expression));
    return length == 1 ? Value{result.text + "[0]"} : result;
  }
  std::string pointer(const Value& v) {
    if (v.length > 1) return v.text;
    std::string named = fresh();
    line(fmt::format("const float {}[1] = {{{}}};", named, v.text));
    return named;
  }
  Value function(std::string_view called, const Value& of) {
    needs_math = true;
    if (of.length == 1) return {fmt::format("{}({})", called, of.text)};
    return loop(of.length, fmt::format("{}({})", called, of.at("i")));
  }
  Value combined(const std::vector<formula::Formula>& of, std::string_view sign) {
    std::vector<Value> parts;
    Index length = 1;
    for (const auto& each : of) {
      parts.push_back(value(each));
      length = std::max(length, parts.back().length);
    }
    std::string expression;
    for (const Value& part : parts) {
      expression += (expression.empty() ? "" : std::string(sign)) + part.at("i");
    }
    return length == 1 ? Value{"(" + expression + ")"} : loop(length, expression);
  }

  Value all_;
  std::map<const void*, Value> projections_;
};

}  // namespace sharelearn
