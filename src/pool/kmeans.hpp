// K-means clustering: k-means++ seeding, then Lloyd's passes, or mini-batches for sets too large for whole
// passes.
//
// Points are rows of a row-major float array (a patch, a PCA row). The result depends on the seed and not on
// the number of threads: each row finds its nearest centre independently, and each centre adds up its rows in
// the fixed order of the tree of rows (run/rows.hpp).
//
// A point of weight 3 counts as three copies of it, one after the other: in means, distances and draws
// (data/row_copies.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// `rows` points of `dims` numbers each, row after row. Points and weights are not owned.
struct PointView {
  const float* data = nullptr;
  Index rows = 0;
  Index dims = 0;
  std::span<const double> weights = {};  ///< one per point; empty: 1
  const float* row(Index i) const { return data + i * dims; }
  double weight(Index i) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; }
};

struct KMeansOptions {
  Index centres = 100;
  int passes = 30;  ///< maximum number of Lloyd passes, or of mini-batches where `batch` is set
  /// Lloyd stops when a pass lowers the mean squared distance by less than this fraction.
  double tolerance = 1e-3;
  Index batch = 0;         ///< rows per mini-batch; 0: whole passes
  Index seeding_rows = 0;  ///< rows of the sample that k-means++ chooses from; 0: 30 per centre
  std::uint64_t seed = 1;
};

struct KMeansResult {
  Grid<float> centres;                ///< dims x centres: each column is a centre
  std::vector<std::int32_t> nearest;  ///< the centre of each row (ties: the lowest)
  double mean_squared_distance = 0;   ///< mean over the rows of the squared distance to the nearest centre
  int passes = 0;
  bool converged = false;  ///< stopped by the tolerance (never with mini-batches)
};

/// Throws InputError unless 1 <= centres <= copies of points. A pass costs rows * centres * dims
/// multiply-adds; an empty cluster moves to the row farthest from its centre.
KMeansResult kmeans(const PointView& points, const KMeansOptions& options, ThreadPool& threads);

/// Nearest centre (a column of `centres`) of each row and, if a pointer is given, the squared distance to it.
void assign_nearest(const PointView& points, const Grid<float>& centres, std::int32_t* nearest,
                    float* distance, ThreadPool& threads);

}  // namespace sharelearn
