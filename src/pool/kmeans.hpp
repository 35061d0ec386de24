// K-means clustering: k-means++ seeding, then Lloyd's passes, or mini-batches for sets too large for whole
// passes.
//
// Points are rows of a row-major float array (a patch, a PCA row). Everything is decided by the seed and is
// the same for any number of threads: each row finds its nearest centre by itself, and each centre adds up
// its rows in the order of the tree of rows (run/rows.hpp).
//
// A point of weight 3 counts as three copies of it in the means and distances. It is drawn three times as
// often when centres are seeded, but not by the same random numbers; mini-batches draw points alike.
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
  std::span<const double> weights = {};  ///< of each point; none: 1
  const float* row(Index i) const { return data + i * dims; }
  double weight(Index i) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; }
};

struct KMeansOptions {
  Index centres = 100;
  int passes = 30;  ///< Lloyd passes, or mini-batches where `batch` is set, at most
  double tolerance =
      1e-3;         ///< Lloyd stops when a pass lowers the mean squared distance by less than this part
  Index batch = 0;  ///< rows of a mini-batch; 0: whole passes
  Index seeding_rows = 0;  ///< rows of the sample k-means++ chooses from; 0: 30 a centre
  std::uint64_t seed = 1;
};

struct KMeansResult {
  Grid<float> centres;                ///< dims x centres: a column is a centre
  std::vector<std::int32_t> nearest;  ///< of each row: its centre (ties: the lowest)
  double mean_squared_distance = 0;   ///< of the rows to their centres
  int passes = 0;
  bool converged = false;  ///< stopped by the tolerance (never with mini-batches)
};

/// Throws InputError unless 1 <= centres <= rows of positive weight. A pass costs rows * centres * dims
/// multiply-adds; an empty cluster moves to the row farthest from its centre.
KMeansResult kmeans(const PointView& points, const KMeansOptions& options, ThreadPool& threads);

/// Nearest centre (a column of `centres`) of each row and the squared distance to it, where wanted.
void assign_nearest(const PointView& points, const Grid<float>& centres, std::int32_t* nearest,
                    float* distance, ThreadPool& threads);

}  // namespace sharelearn
