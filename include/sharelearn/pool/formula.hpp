// The formula of a feature: a small expression over the scaled columns of a row. Exporters implement these
// operations and not pools, so a user-defined pool needs no code in any exporter. docs/model-json.md defines
// each operation to the bit.
//
// The value of a node is a list of numbers. Where a list of one number meets a longer list, the number is
// repeated to that length.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <variant>
#include <vector>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::formula {

struct Node;
using Formula = std::shared_ptr<const Node>;

/// Scaled columns of the row, in this order.
struct Columns {
  std::vector<Index> columns;
};
/// Scaled columns 0 to count - 1.
struct AllColumns {
  Index count = 0;
};
struct Constant {
  double value = 0;
};
/// factor * of + offset; `offset` has one number, or as many numbers as `of`.
struct Affine {
  Formula of;
  double factor = 1;
  std::vector<double> offset = {0};
};
struct Sum {
  std::vector<Formula> of;
};
struct Product {
  std::vector<Formula> of;
};
/// 1 where the value is below the threshold, else 0.
struct LessThan {
  Formula of;
  double threshold = 0;
};
/// |of - point|^2: one number.
struct SquaredDistance {
  Formula of;
  std::vector<float> point;
};
struct Exp {
  Formula of;
};
struct Cos {
  Formula of;
};
/// direction_n . (of - centre) for every n.
struct Projection {
  Formula of;
  std::vector<double> centre = {};                   ///< empty: zeros
  std::vector<std::vector<double>> directions = {};  ///< [n][as many as `of`]
  bool rounded = false;                              ///< the results are rounded to float32
  /// Projections with the same non-null `identity` are equal; the JSON stores them once.
  const void* identity = nullptr;
};
/// All lists, one after the other.
struct Concatenation {
  std::vector<Formula> of;
};
/// The response of an image template ([ShareBoost11], section 7.4), in integers.
struct TemplateMaximum {
  Formula of;  ///< grey values, row-major
  Index height = 0, width = 0;
  float low = 0, high = 1;  ///< black and white
  bool deskew = false;
  double contrast = 1;                              ///< epsilon of the local contrast; 0: none
  Index size = 0;                                   ///< the template is size x size
  std::vector<std::int8_t> weights;                 ///< weights of the template, row-major
  std::vector<std::int16_t> row_mask, column_mask;  ///< at every position of the template
  std::uint16_t multiplier = 0;
};

struct Node : std::variant<Columns, AllColumns, Constant, Affine, Sum, Product, LessThan, SquaredDistance,
                           Exp, Cos, Projection, Concatenation, TemplateMaximum> {
  using variant::variant;
};

template <class Operation>
Formula make(Operation operation) {
  return std::make_shared<const Node>(std::move(operation));
}

/// Multiply-adds of one evaluation, an image template's counted as in the paper: its size times the positions
/// under its mask. A projection whose identity is in `counted` costs nothing; others enter there.
Index multiply_adds(const Formula& formula, std::set<const void*>& counted);

/// Writes the formulas of one model as JSON. Projections that several formulas share are stored once, apart.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  /// {"op": name, ...}; a shared node is {"op": "shared", "index": i}.
  nlohmann::json operator()(const Formula& formula);
  /// The shared nodes, by index.
  const nlohmann::json& shared() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sharelearn::formula
