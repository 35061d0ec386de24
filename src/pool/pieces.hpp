// Local linear pieces 1[||v - c|| < r] [v, 1] (sections 4.2 and 7.5 of [ShareBoost11]): groups of p + 1
// columns that enter together. Centres c come from K-means, radii r from quantiles of the distances to c.
//
//   q pieces, (v_j, r_j)    centre and radius of a candidate; candidate = centre * radii + radius
//   psi(v)                  computed by values() and PieceFeature
//
// v is a row of the scaled data, or its first principal components.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sharelearn/pool/pool.hpp"
#include "sharelearn/transform/pca.hpp"

namespace sharelearn {

class PieceFeature : public Feature {
 public:
  /// `pca` may be null: then v is the scaled row itself. `number`: number of the centre, for the report.
  PieceFeature(std::vector<float> centre, double squared_radius, std::shared_ptr<const Pca> pca,
               Index number);
  std::string_view pool() const override { return "pieces"; }
  Index width() const override { return static_cast<Index>(centre_.size()) + 1; }
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  /// A model stores the principal components once for all its pieces.
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);

 private:
  std::vector<float> centre_;
  double squared_radius_;
  std::shared_ptr<const Pca> pca_;
  Index number_;
};

struct PieceOptions {
  Index centres = 100;
  Index radii = 10;  ///< per centre: balls that hold 1/radii, 2/radii, ... all of the rows; at most 255
  Index pca = 0;     ///< principal components that v consists of; 0: v is the scaled row
  std::uint64_t seed = 1;
};

class PiecePool : public Pool {
 public:
  /// Keeps v by rows, and one byte per row and centre; `x` is not needed afterwards. `weights`: one per row
  /// for the centres and the quantiles; empty: 1. The quantiles equal those of copied rows only if all rows
  /// are sampled for them (at most 8192 rows). Throws InputError if the options do not fit the data.
  PiecePool(const ColumnView& x, const PieceOptions& options, ThreadPool& threads,
            std::span<const double> weights = {});
  std::string_view name() const override { return "pieces"; }
  Index rows() const override { return rows_; }
  Index candidates() const override { return centres_.cols() * radii_; }
  Index width() const override { return centres_.rows() + 1; }
  Index blocks() const override { return centres_.cols(); }
  /// One pass over the rows, sorted by shell, scores all radii of a centre: O(m (p + 1) k) per centre.
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void correlate_some(const Grid<float>& residual, std::span<const Index> blocks, ThreadPool& threads,
                      const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  SharedRows shared_rows() const override { return {by_rows_.data(), row_stride_}; }
  std::vector<std::uint32_t> rows_inside(Index candidate) const override;
  FeaturePtr feature(Index candidate) const override;

 private:
  void build(const ColumnView& v, const PieceOptions& options, std::span<const double> weights,
             ThreadPool& threads);
  void choose_radii(Index first_centre, const Grid<double>& squared, std::span<const double> weights,
                    ThreadPool& threads);
  void add_shells(Index centre, RowRange rows, const struct RowMajor& residual, double* sums) const;
  std::vector<double> shell_sums(Index centre, const struct RowMajor& residual) const;
  std::vector<std::uint32_t> rows_by_shell(Index centre, RowRange rows, std::vector<Index>& start) const;

  std::shared_ptr<const Pca> pca_;
  Index rows_;
  AlignedVector<float> by_rows_;        ///< [v, 1] row after row, padded
  Index row_stride_ = 0;                ///< floats from one row of by_rows_ to the next
  Grid<float> centres_;                 ///< p x centres
  Index radii_;                         ///< radii per centre
  std::vector<double> squared_radius_;  ///< [centre][radius], ascending
  std::vector<std::uint8_t> shell_;     ///< [centre][row]: index of the smallest radius that holds the row
};

}  // namespace sharelearn
