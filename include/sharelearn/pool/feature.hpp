// A chosen feature: everything needed to compute it on a raw row, without the pool it came from.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/pool/formula.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

/// Raw columns of a data set seen through a model's scaling, scaled only when asked for.
class ScaledColumns {
 public:
  ScaledColumns(const Matrix& raw, const Scaling& scaling);
  ~ScaledColumns();
  Index rows() const { return raw_.rows(); }
  Index cols() const { return raw_.cols(); }
  /// Writes rows() values.
  void column(Index j, float* out) const;
  const Matrix& raw() const { return raw_; }
  const Scaling& scaling() const { return scaling_; }

  /// All columns scaled, made on first use and kept: for features that read every column.
  const Matrix& matrix() const;
  /// What `make` computes from this data, made on first use under `key` and kept: features with a part in
  /// common (a projection) share it. `make` must not call shared() or matrix() of the same object.
  template <class T>
  std::shared_ptr<const T> shared(const void* key, const std::function<T()>& make) const {
    return std::static_pointer_cast<const T>(
        kept(key, [&] { return std::static_pointer_cast<const void>(std::make_shared<const T>(make())); }));
  }

 private:
  struct Cache;
  std::shared_ptr<const void> kept(const void* key,
                                   const std::function<std::shared_ptr<const void>()>& make) const;
  const Matrix& raw_;
  const Scaling& scaling_;
  std::unique_ptr<Cache> cache_;
};

class Feature {
 public:
  virtual ~Feature() = default;
  /// Name of the pool it came from: the tag under which it is stored.
  virtual std::string_view pool() const = 0;
  /// Columns of the design matrix it fills (1, or p + 1 for a piece).
  virtual Index width() const { return 1; }
  /// Computes the feature on every row. `out` has x.rows() rows and width() columns.
  virtual void evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const = 0;
  /// What the report says of it: {"pool": "columns", "column": 5}. `names` may be empty.
  virtual nlohmann::json describe(const std::vector<std::string>& names) const = 0;
  /// What evaluate() computes, as an expression of width() numbers over the scaled columns: all that an
  /// exporter or a reader of the JSON needs.
  virtual formula::Formula formula() const = 0;
  /// Raw columns it reads, for checks and for counting what a prediction computes.
  virtual std::vector<Index> inputs() const = 0;
  virtual void write(ByteWriter& out) const = 0;
};

using FeaturePtr = std::shared_ptr<const Feature>;

/// Reads back what write() wrote behind its pool's tag. `columns` bounds every column index.
FeaturePtr read_feature(ByteReader& in, Index columns);
void write_feature(ByteWriter& out, const Feature& feature);

}  // namespace sharelearn
