// A chosen feature: everything needed to compute it on a raw row, without the pool it came from.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/pool/formula.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/transform/column_view.hpp"

namespace sharelearn {

class Feature {
 public:
  virtual ~Feature() = default;
  /// Name of the pool it came from. The feature is stored under this tag.
  virtual std::string_view pool() const = 0;
  /// Number of columns it fills in the design matrix (1, or p + 1 for a piece).
  virtual Index width() const { return 1; }
  /// Computes the feature on every row. `out` has x.rows() rows and width() columns.
  virtual void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const = 0;
  /// The feature's entry in the report: {"pool": "columns", "column": 5}. `names` may be empty.
  virtual nlohmann::json describe(const std::vector<std::string>& names) const = 0;
  /// The computation of evaluate() as an expression of width() numbers over the scaled columns. An exporter
  /// or a reader of the JSON needs nothing else.
  virtual formula::Formula formula() const = 0;
  /// Raw columns it reads. Used for checks and to count the work of a prediction.
  virtual std::vector<Index> inputs() const = 0;
  virtual void write(ByteWriter& out) const = 0;
};

using FeaturePtr = std::shared_ptr<const Feature>;

/// Reads a feature back: the pool's tag, then what write() wrote. `columns` bounds every column index.
FeaturePtr read_feature(ByteReader& in, Index columns);
void write_feature(ByteWriter& out, const Feature& feature);

}  // namespace sharelearn
