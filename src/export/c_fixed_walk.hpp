// The walk over formulas for C in integers. Every value is an integer of known size whose real value is
// integer * unit, with a bound on the difference from the value that sharelearn computes.
//
//   scaled column    (q * 2^k - offset): no multiplication, exact where offset * 2^(shift + k) is whole
//   product          product of two 15-bit integers, shifted back to 15 bits before the next factor
//   distance         sum of squares of differences, shifted so that the sum has 31 bits
//   projection       dot product with 16-bit directions, scaled so that the sum has 31 bits
//   exp, cos         tables with linear interpolation
#pragma once

#include <map>
#include <string>
#include <vector>

#include "export/c_tables.hpp"
#include "sharelearn/export/export.hpp"

namespace sharelearn {

struct FixedValue {
  std::string text;  ///< an expression of one number, or the name of an array
  Index length = 1;
  std::vector<double> unit;   ///< real value = integer * unit; may be negative
  std::vector<double> most;   ///< |integer| is at most this
  std::vector<double> error;  ///< of the real value
  /// A distance D, possibly times `factor` plus a constant: sqrt(D) has this error.
  double root_error = 0, factor = 1;

  std::string at(std::string_view i) const { return length == 1 ? text : fmt::format("{}[{}]", text, i); }
  std::size_t place(Index i) const { return length == 1 ? 0 : to_size(i); }
};

class FixedWalk : public CTables {
 public:
  /// `wide`: the caller's numbers have 32 bits.
  FixedWalk(const LinearModel& model, const std::vector<FixedColumn>& ranges, bool wide)
      : CTables(model), range_(ranges), wide_(wide) {}

  bool compares = false;  ///< inexact values are compared with thresholds
  bool uses_exp = false, uses_cos = false;

  FixedValue value(const formula::Formula& f) {
    return std::visit([&](const auto& node) { return (*this)(node); },
                      static_cast<const formula::Node::variant&>(*f));
  }
  /// The raw column as an integer around 0; its real value is integer * unit + middle.
  FixedValue centred(Index column, double& middle);

  FixedValue operator()(const formula::Columns& n);
  FixedValue operator()(const formula::AllColumns& n);
  FixedValue operator()(const formula::Constant& n);
  FixedValue operator()(const formula::Affine& n);
  FixedValue operator()(const formula::Sum& n);
  FixedValue operator()(const formula::Product& n);
  FixedValue operator()(const formula::LessThan& n);
  FixedValue operator()(const formula::SquaredDistance& n);
  FixedValue operator()(const formula::Exp& n);
  FixedValue operator()(const formula::Cos& n);
  FixedValue operator()(const formula::Concatenation& n);
  FixedValue operator()(const formula::Projection& n);
  FixedValue operator()(const formula::TemplateMaximum& n);

  /// The value shifted right, rounded, so that integers are at most `most`.
  FixedValue reduced(FixedValue v, double most);

 private:
  const FixedColumn& range(Index column) const;
  std::string raw(Index column);
  std::string clamped(Index column);
  FixedValue scaled(Index column);
  FixedValue unscaled_columns(Index count);
  FixedValue scaled_columns(Index count);
  /// integer * unit / target as an integer.
  FixedValue rescaled(const FixedValue& v, double target);
  /// An array of integers, entry i the expression; equal arrays are one.
  FixedValue loop(FixedValue shape, const std::string& expression);

  const std::vector<FixedColumn>& range_;
  bool wide_;
  std::map<Index, FixedValue> all_;
  std::map<std::string, FixedValue> lists_;
  std::map<std::string, std::string> loops_;  ///< length and expression -> array
  std::map<const void*, FixedValue> projections_;
};

}  // namespace sharelearn
