// Raw columns seen through a scaling: values are scaled when they are read, and the data itself is not
// changed. Pools are built over such a view, and features are computed from it.
#pragma once

#include <functional>
#include <memory>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

/// A value of column j is float((double(x) - offset_j) * factor_j). A view is cheap to copy; copies share the
/// cache of shared(). The matrix must outlive all of them.
class ColumnView {
 public:
  /// Without scaling.
  ColumnView(const Matrix& raw);
  /// Throws InputError unless the scaling is the identity or has as many columns as the matrix.
  ColumnView(const Matrix& raw, Scaling scaling);

  Index rows() const { return raw_->rows(); }
  Index cols() const { return raw_->cols(); }
  const Matrix& raw() const { return *raw_; }
  const Scaling& scaling() const { return *scaling_; }
  bool is_scaled() const { return !scaling_->is_identity(); }

  /// Writes rows() values, or the values of some rows.
  void column(Index j, float* out) const { column(j, {0, rows()}, out); }
  void column(Index j, RowRange rows, float* out) const;
  /// Writes row after row: out[(i - rows.begin) * cols() + j].
  void gather(RowRange rows, float* out) const;
  bool is_constant(Index j) const;

  /// The result of `make` on this data, computed on first use and kept under `key`. Features with a common
  /// part (a projection) share it. `make` must not call shared() of the same view.
  template <class T>
  std::shared_ptr<const T> shared(const void* key, const std::function<T()>& make) const {
    return std::static_pointer_cast<const T>(
        kept(key, [&] { return std::static_pointer_cast<const void>(std::make_shared<const T>(make())); }));
  }

 private:
  struct Cache;
  std::shared_ptr<const void> kept(const void* key,
                                   const std::function<std::shared_ptr<const void>()>& make) const;
  const Matrix* raw_;
  std::shared_ptr<const Scaling> scaling_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace sharelearn
