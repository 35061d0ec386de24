// Scaling of columns. It is fitted on the training data and belongs to the model.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

enum class ScalingKind { none, minmax, standard };
ScalingKind scaling_from(std::string_view name);
std::string_view name_of(ScalingKind kind);

/// x -> (x - offset) * factor, per column. Sparse data has offset 0, so that zero stays zero.
struct Scaling {
  ScalingKind kind = ScalingKind::none;
  std::vector<double> offset;  ///< empty for `none`
  std::vector<double> factor;

  /// minmax: each column to [-1, 1] (sparse: by its largest magnitude). standard: mean 0, variance 1
  /// (sparse: divided by the deviation, not centred). A constant column becomes 0. A row's weight counts as
  /// its number of copies (empty: 1 each). Throws InputError unless there are as many weights as rows, none
  /// negative and one positive.
  static Scaling fit(const Matrix& x, ScalingKind kind, ThreadPool& threads,
                     std::span<const double> row_weights = {});

  void apply(Matrix& x, ThreadPool& threads) const;
  /// One value of column j.
  float apply(float value, Index j) const;
  void apply_column(Index j, float* values, Index count) const;
  bool is_identity() const { return factor.empty(); }
};

}  // namespace sharelearn
