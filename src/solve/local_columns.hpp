// Columns in groups: every group is the same matrix V on some of the rows and zero on the other rows, like
// the local linear pieces of [ShareBoost11], section 4.2. V is stored once, by rows, and a group as the list
// of its rows, so memory and time are proportional to the rows that the groups hold.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solve/column_operator.hpp"

namespace sharelearn {

class LocalColumns : public ColumnOperator {
 public:
  /// V is rows x width; its row r starts at by_rows + r * stride. It is copied once, and shared by copies of
  /// this object.
  LocalColumns(const float* by_rows, Index stride, Index rows, Index width);
  /// The same V, no groups.
  LocalColumns without_groups() const;

  /// Appends width() columns that hold V on `rows`, which ascend.
  void add_group(std::span<const std::uint32_t> rows);
  /// Removes a group; the last group takes its place.
  void drop_group(Index group) {
    if (group + 1 < groups()) groups_[static_cast<std::size_t>(group)] = std::move(groups_.back());
    groups_.pop_back();
  }

  Index rows() const override { return rows_; }
  Index group_width() const override { return width_; }
  Index groups() const { return static_cast<Index>(groups_.size()); }
  Index columns() const override { return groups() * width_; }
  /// Outputs are padded with zeros, as the kernels require.
  Index stride_of(Index outputs) const override;

  void add_scores(RowRange rows, ColumnValues<const double> weights, RowValues<double> scores) const override;
  void add_gradient(RowRange rows, ColumnRange columns, RowValues<const double> residual,
                    ColumnValues<double> sums) const override;
  /// out[a * width + b] = sum_i d_i x_ia x_ib over the columns of one group for b <= a, in float32.
  void weighted_gram(Index group, std::span<const float> d, std::span<float> out) const;

 private:
  struct Group {
    std::vector<std::uint32_t> rows;
    std::vector<Index> start;  ///< first entry of each block in `rows`; the last value is the number of rows
  };
  /// The group's rows within the given range, which lies inside one block.
  std::span<const std::uint32_t> rows_inside(const Group& group, RowRange rows) const;

  struct Values {
    AlignedVector<double> wide;   ///< V by rows, `width` apart
    AlignedVector<float> narrow;  ///< V by rows, `stride` apart, padded with zeros
    Index stride;
  };

  Index rows_, width_;
  std::shared_ptr<const Values> values_;
  std::vector<Group> groups_;
};

}  // namespace sharelearn
