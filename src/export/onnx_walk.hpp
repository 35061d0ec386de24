// The walk over formulas for ONNX. Formulas of equal structure, a group, are computed together: each
// operation of theirs becomes a few nodes, however many formulas there are.
//
// Numbers have the precision that docs/model-json.md demands: scaling, distances, projections and what
// follows from them are double, because comparisons with radii must decide as sharelearn does; products,
// stumps and feature values are float32. Stumps compare raw columns with raw thresholds.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "export/onnx_graph.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// The value of a group: rows x formulas x numbers.
struct Tensor {
  std::string name;
  bool wide = false;   ///< double, else float32
  Index formulas = 1;  ///< 1: all formulas of the group have this value
  Index numbers = 1;
  bool has_rows = true;  ///< false: a constant, whose first dimension is 1
};

/// Formulas with equal signatures may form a group.
std::string signature(const formula::Formula& formula);

/// Columns that formulas read, ascending.
std::vector<Index> columns_read(std::span<const formula::Formula> formulas);

class OnnxWalk {
 public:
  using Group = std::span<const formula::Formula>;

  /// `columns`: raw columns that are read, ascending. The graph's input x has `width` columns.
  OnnxWalk(OnnxGraph& graph, const Preprocessing& preprocessing, std::vector<Index> columns, Index width);

  Tensor value(Group group);
  /// The group's value with rows and one entry per formula, in double. `rounded`: rounded to float32 before.
  Tensor values_of_features(Group group, bool rounded);

 private:
  Tensor of(const formula::Columns& first, Group group);
  Tensor of(const formula::AllColumns& first, Group group);
  Tensor of(const formula::Constant& first, Group group);
  Tensor of(const formula::Affine& first, Group group);
  Tensor of(const formula::Sum& first, Group group);
  Tensor of(const formula::Product& first, Group group);
  Tensor of(const formula::LessThan& first, Group group);
  Tensor of(const formula::SquaredDistance& first, Group group);
  Tensor of(const formula::Exp& first, Group group);
  Tensor of(const formula::Cos& first, Group group);
  Tensor of(const formula::Projection& first, Group group);
  Tensor of(const formula::Concatenation& first, Group group);
  Tensor of(const formula::TemplateMaximum& first, Group group);
  template <class Operation>
  Tensor function(Group group, std::string_view operation);
  Tensor sum_or_product(Group group, bool product);
  Tensor raw_stumps(Group group);
  Tensor one_by_one(Group group);

  Tensor wide(Tensor t);
  Tensor narrow(Tensor t);
  Tensor expanded(Tensor t, Index formulas);
  /// operation(a, b), number by number.
  Tensor combine(std::string_view operation, Tensor a, Tensor b);
  /// Positions of the columns among those that are read.
  std::vector<Index> places(std::span<const Index> columns) const;
  const std::string& scaled();

  OnnxGraph& graph_;
  const Preprocessing& preprocessing_;
  std::vector<Index> columns_;
  std::string raw_, scaled_;                   ///< rows x columns_
  std::map<Index, Tensor> all_columns_;        ///< by their number
  std::map<const void*, Tensor> projections_;  ///< by identity
  std::map<std::string, std::string>
      known_;  ///< pixels, contrasts and squared norms by what they are made of
};

}  // namespace sharelearn
