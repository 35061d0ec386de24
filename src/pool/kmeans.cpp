#include "pool/kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/row_copies.hpp"
#include "kernels/nearest.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Largest squared length of a point for which its squared distances to other points still fit into float32.
constexpr double kLongest = 0.25 * static_cast<double>(std::numeric_limits<float>::max());

double squared_norm(const float* x, Index dims) {
  double sum = 0;
  for (Index t = 0; t < dims; ++t) sum += static_cast<double>(x[t]) * static_cast<double>(x[t]);
  return sum;
}

/// Eight separate running sums, so that the compiler can use vector instructions without reordering
/// additions.
float squared_distance(const float* x, const float* y, Index dims) {
  float sums[8] = {};
  Index t = 0;
  for (; t + 8 <= dims; t += 8) {
    for (Index lane = 0; lane < 8; ++lane) {
      const float step = x[t + lane] - y[t + lane];
      sums[lane] += step * step;
    }
  }
  for (; t < dims; ++t) sums[t % 8] += (x[t] - y[t]) * (x[t] - y[t]);
  return std::accumulate(sums, sums + 8, 0.0f);
}

/// A dense copy of some rows, for k-means++ and the mini-batches.
AlignedVector<float> gather(const PointView& points, const std::vector<Index>& rows) {
  AlignedVector<float> out(rows.size() * static_cast<std::size_t>(points.dims));
  float* to = out.data();
  for (const Index i : rows) to = std::copy_n(points.row(i), points.dims, to);
  return out;
}

/// A row drawn with probability proportional to share(row).
template <class Share>
Index draw(Index rows, const Share& share, Random& random, ThreadPool& threads) {
  std::vector<double> of_block(static_cast<std::size_t>(blocks_of(rows)));
  const double total = sum_over_rows(rows, threads, [&](RowRange range, int) {
    double& sum = of_block[static_cast<std::size_t>(range.begin / kBlockRows)];
    for (Index i = range.begin; i < range.end; ++i) sum += share(i);
    return sum;
  });
  double left = random.uniform() * total;
  for (std::size_t block = 0; block < of_block.size(); ++block) {
    if (left >= of_block[block]) {
      left -= of_block[block];
      continue;
    }
    const RowRange range = block_range(static_cast<Index>(block), rows);
    for (Index i = range.begin; i < range.end; ++i) {
      left -= share(i);
      if (left < 0) return i;
    }
  }
  return random.below(rows);
}

/// k-means++ (Arthur and Vassilvitskii 2007): each further centre is a row drawn by its squared distance to
/// the centres so far. On a sample of the points' copies: sample * centres * dims operations.
Grid<float> seed_centres(const PointView& all, const KMeansOptions& options, Random& random,
                         ThreadPool& threads) {
  const RowCopies copies(all.weights, all.rows);
  const Index wanted = options.seeding_rows > 0 ? options.seeding_rows : 30 * options.centres;
  const std::vector<Index> rows = copies.sample(std::clamp(wanted, options.centres, copies.count()), random);
  const auto copy = gather(all, rows);
  const PointView points{copy.data(), std::ssize(rows), all.dims};
  Grid<float> centres(all.dims, options.centres);
  std::vector<float> distance(rows.size(), std::numeric_limits<float>::max());
  Index chosen = random.below(points.rows);
  for (Index c = 0; c < options.centres; ++c) {
    std::copy_n(points.row(chosen), points.dims, centres.column(c));
    for_each_row_block(points.rows, threads, [&](RowRange range, int) {
      for (Index i = range.begin; i < range.end; ++i) {
        float& d = distance[static_cast<std::size_t>(i)];
        d = std::min(d, squared_distance(points.row(i), points.row(chosen), points.dims));
      }
    });
    const auto share = [&](Index i) { return static_cast<double>(distance[static_cast<std::size_t>(i)]); };
    chosen = draw(points.rows, share, random, threads);
  }
  return centres;
}

/// The rows of each centre: order[start[c] .. start[c + 1]), ascending.
struct Members {
  std::vector<Index> start, order;
};

Members members_of(const std::vector<std::int32_t>& nearest, Index centres) {
  Members members{std::vector<Index>(static_cast<std::size_t>(centres) + 1),
                  std::vector<Index>(nearest.size())};
  for (const auto c : nearest) ++members.start[static_cast<std::size_t>(c) + 1];
  std::partial_sum(members.start.begin(), members.start.end(), members.start.begin());
  auto next = members.start;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    members.order[static_cast<std::size_t>(next[static_cast<std::size_t>(nearest[i])]++)] =
        static_cast<Index>(i);
  }
  return members;
}

/// Weighted sum of the given rows (ascending), followed by the sum of their weights.
std::vector<double> sum_of(const PointView& points, std::span<const Index> rows) {
  std::vector<double> result(static_cast<std::size_t>(points.dims) + 1);
  TreeSum sum(result.size());
  const RowTree tree(points.rows);
  std::size_t at = 0;
  for (Index leaf = 0; at < rows.size(); ++leaf) {
    const Index end = tree.leaf(leaf).end;
    if (rows[at] >= end) {
      sum.close_empty_leaf();
      continue;
    }
    double* const to = sum.leaf().data();
    for (; at < rows.size() && rows[at] < end; ++at) {
      const float* x = points.row(rows[at]);
      const double weight = points.weight(rows[at]);
      if (points.weights.empty()) {
        for (Index t = 0; t < points.dims; ++t) to[t] += static_cast<double>(x[t]);
      } else {
        for (Index t = 0; t < points.dims; ++t) to[t] += weight * static_cast<double>(x[t]);
      }
      to[points.dims] += weight;
    }
    sum.close_leaf();
  }
  sum.finish(result);
  return result;
}

/// Moves every centre to the mean of its rows. Centres without rows move to the rows that are farthest from
/// their centres.
void move_centres(const PointView& points, const std::vector<std::int32_t>& nearest,
                  const std::vector<float>& distance, Grid<float>& centres, ThreadPool& threads) {
  const Members members = members_of(nearest, centres.cols());
  std::vector<char> is_empty(static_cast<std::size_t>(centres.cols()), 0);
  threads.for_each(centres.cols(), [&](Index c, int) {
    const Index* order = members.order.data();
    const std::vector<double> sum = sum_of(points, {order + members.start[static_cast<std::size_t>(c)],
                                                    order + members.start[static_cast<std::size_t>(c) + 1]});
    is_empty[static_cast<std::size_t>(c)] = sum.back() > 0 ? 0 : 1;
    for (Index t = 0; t < points.dims && sum.back() > 0; ++t)
      centres(t, c) = static_cast<float>(sum[static_cast<std::size_t>(t)] / sum.back());
  });
  const auto empty = std::count(is_empty.begin(), is_empty.end(), 1);
  if (empty == 0) return;
  std::vector<Index> farthest = RowCopies(points.weights, points.rows).all();
  std::partial_sort(farthest.begin(), farthest.begin() + empty, farthest.end(), [&](Index a, Index b) {
    const float da = distance[static_cast<std::size_t>(a)], db = distance[static_cast<std::size_t>(b)];
    return da != db ? da > db : a < b;
  });
  auto next = farthest.begin();
  for (Index c = 0; c < centres.cols(); ++c) {
    if (is_empty[static_cast<std::size_t>(c)] != 0)
      std::copy_n(points.row(*next++), points.dims, centres.column(c));
  }
}

double mean_of(const std::vector<float>& values, const PointView& points, ThreadPool& threads) {
  double sums[2];  // weighted values, weights
  sum_over_rows(points.rows, threads, sums, [&](RowRange range, std::span<double> to, int) {
    for (Index i = range.begin; i < range.end; ++i) {
      to[0] += points.weight(i) * static_cast<double>(values[static_cast<std::size_t>(i)]);
      to[1] += points.weight(i);
    }
  });
  return sums[0] / sums[1];
}

/// Lloyd's algorithm: assign and move, until a pass lowers the mean distance too little.
void lloyd(const PointView& points, const KMeansOptions& options, KMeansResult& result, ThreadPool& threads) {
  std::vector<float> distance(static_cast<std::size_t>(points.rows));
  const auto assign = [&] {
    assign_nearest(points, result.centres, result.nearest.data(), distance.data(), threads);
    result.mean_squared_distance = mean_of(distance, points, threads);
  };
  assign();
  while (result.passes < options.passes && !result.converged) {
    const double before = result.mean_squared_distance;
    move_centres(points, result.nearest, distance, result.centres, threads);
    assign();
    ++result.passes;
    result.converged = before - result.mean_squared_distance <= options.tolerance * before;
  }
}

/// Mini-batches (Sculley 2010): a centre moves towards each of its rows by 1 / (number of rows it has had so
/// far).
void mini_batches(const PointView& points, const KMeansOptions& options, KMeansResult& result, Random& random,
                  ThreadPool& threads) {
  std::vector<double> seen(static_cast<std::size_t>(options.centres));
  const RowCopies copies(points.weights, points.rows);
  const Index size = std::min(options.batch, copies.count());
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(size));
  for (; result.passes < options.passes; ++result.passes) {
    const auto copy = gather(points, copies.sample(size, random));
    const PointView batch{copy.data(), size, points.dims};
    assign_nearest(batch, result.centres, nearest.data(), nullptr, threads);
    for (Index i = 0; i < size; ++i) {
      const auto c = static_cast<std::size_t>(nearest[static_cast<std::size_t>(i)]);
      const auto rate = static_cast<float>(1.0 / ++seen[c]);
      float* centre = result.centres.column(static_cast<Index>(c));
      for (Index t = 0; t < points.dims; ++t) centre[t] += rate * (batch.row(i)[t] - centre[t]);
    }
  }
  std::vector<float> distance(static_cast<std::size_t>(points.rows));
  assign_nearest(points, result.centres, result.nearest.data(), distance.data(), threads);
  result.mean_squared_distance = mean_of(distance, points, threads);
}

}  // namespace

void assign_nearest(const PointView& points, const Grid<float>& centres, std::int32_t* nearest,
                    float* distance, ThreadPool& threads) {
  const auto packed = kernels::pack_centres(centres);
  for_each_row_block(points.rows, threads, [&](RowRange range, int) {
    std::vector<float> best(static_cast<std::size_t>(range.size()));
    kernels::nearest_centres(points.row(range.begin), range.size(), packed, nearest + range.begin,
                             best.data());
    for (Index i = range.begin; distance != nullptr && i < range.end; ++i) {
      const double gain = 2 * static_cast<double>(best[static_cast<std::size_t>(i - range.begin)]);
      distance[i] = static_cast<float>(std::max(0.0, squared_norm(points.row(i), points.dims) - gain));
    }
  });
}

KMeansResult kmeans(const PointView& points, const KMeansOptions& options, ThreadPool& threads) {
  const Index most = RowCopies(points.weights, points.rows).count();
  if (options.centres < 1 || options.centres > most) {
    throw InputError(fmt::format("K-means needs between 1 and {} centres (the number of points), not {}",
                                 most, options.centres));
  }
  const double longest = max_over_rows(points.rows, threads, 0, [&](RowRange range, int) {
    double largest = 0;
    for (Index i = range.begin; i < range.end; ++i) {
      const double norm = squared_norm(points.row(i), points.dims);
      if (!(norm <= largest)) largest = std::isnan(norm) ? kLongest : norm;
    }
    return largest;
  });
  if (longest >= kLongest) {
    throw InputError("K-means: the values are too large for distances between rows: scale the columns");
  }
  Random random(options.seed);
  KMeansResult result;
  result.nearest.resize(static_cast<std::size_t>(points.rows));
  result.centres = seed_centres(points, options, random, threads);
  if (options.batch > 0) {
    mini_batches(points, options, result, random, threads);
  } else {
    lloyd(points, options, result, threads);
  }
  return result;
}

}  // namespace sharelearn
