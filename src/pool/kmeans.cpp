#include "sharelearn/pool/kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/nearest.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Squared length of a point whose squared distances to others are still float32 numbers.
constexpr double kLongest = 0.25 * static_cast<double>(std::numeric_limits<float>::max());

double squared_norm(const float* x, Index dims) {
  double sum = 0;
  for (Index t = 0; t < dims; ++t) sum += static_cast<double>(x[t]) * static_cast<double>(x[t]);
  return sum;
}

/// Eight running sums, so that the compiler may use vectors without reordering anything.
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

/// A dense copy of some rows: what k-means++ and the mini-batches work on.
AlignedVector<float> gather(const PointView& points, const std::vector<Index>& rows) {
  AlignedVector<float> out(rows.size() * static_cast<std::size_t>(points.dims));
  float* to = out.data();
  for (const Index i : rows) to = std::copy_n(points.row(i), points.dims, to);
  return out;
}

/// A row drawn with probability proportional to its weight; sums in fixed order.
Index draw(const std::vector<float>& weight, Random& random) {
  double total = 0;
  for (const float w : weight) total += static_cast<double>(w);
  double left = random.uniform() * total;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    left -= static_cast<double>(weight[i]);
    if (left < 0 && weight[i] > 0) return static_cast<Index>(i);
  }
  return random.below(static_cast<Index>(weight.size()));
}

/// k-means++ (Arthur and Vassilvitskii 2007): each further centre is a row drawn by its squared distance to
/// the centres so far. On a sample: sample * centres * dims operations.
Grid<float> seed_centres(const PointView& all, const KMeansOptions& options, Random& random,
                         ThreadPool& threads) {
  const Index wanted = options.seeding_rows > 0 ? options.seeding_rows : 30 * options.centres;
  const auto rows = random.sample(all.rows, std::clamp(wanted, options.centres, all.rows));
  const auto copy = gather(all, rows);
  const PointView points{copy.data(), static_cast<Index>(rows.size()), all.dims};
  Grid<float> centres(all.dims, options.centres);
  std::vector<float> distance(rows.size(), std::numeric_limits<float>::max());
  Index chosen = random.below(points.rows);
  for (Index c = 0; c < options.centres; ++c) {
    std::copy_n(points.row(chosen), points.dims, centres.column(c));
    threads.for_each(blocks_of(points.rows), [&](Index block, int) {
      const RowRange range = block_range(block, points.rows);
      for (Index i = range.begin; i < range.end; ++i) {
        float& d = distance[static_cast<std::size_t>(i)];
        d = std::min(d, squared_distance(points.row(i), points.row(chosen), points.dims));
      }
    });
    chosen = draw(distance, random);
  }
  return centres;
}

/// Rows of each centre: order[start[c] .. start[c + 1]) are its rows, ascending.
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

/// Moves every centre to the mean of its rows, empty ones to the rows farthest from theirs.
void move_centres(const PointView& points, const std::vector<std::int32_t>& nearest,
                  const std::vector<float>& distance, Grid<float>& centres, ThreadPool& threads) {
  const Members members = members_of(nearest, centres.cols());
  const auto size_of = [&](Index c) {
    return members.start[static_cast<std::size_t>(c) + 1] - members.start[static_cast<std::size_t>(c)];
  };
  threads.for_each(centres.cols(), [&](Index c, int) {
    if (size_of(c) == 0) return;
    std::vector<double> sum(static_cast<std::size_t>(points.dims));
    for (Index k = members.start[static_cast<std::size_t>(c)];
         k < members.start[static_cast<std::size_t>(c) + 1]; ++k) {
      const float* x = points.row(members.order[static_cast<std::size_t>(k)]);
      for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += static_cast<double>(x[t]);
    }
    for (std::size_t t = 0; t < sum.size(); ++t) {
      centres(static_cast<Index>(t), c) = static_cast<float>(sum[t] / static_cast<double>(size_of(c)));
    }
  });
  std::vector<Index> empty;
  for (Index c = 0; c < centres.cols(); ++c) {
    if (size_of(c) == 0) empty.push_back(c);
  }
  if (empty.empty()) return;
  std::vector<Index> farthest(distance.size());
  std::iota(farthest.begin(), farthest.end(), Index{0});
  std::partial_sort(farthest.begin(), farthest.begin() + static_cast<Index>(empty.size()), farthest.end(),
                    [&](Index a, Index b) {
                      const float da = distance[static_cast<std::size_t>(a)],
                                  db = distance[static_cast<std::size_t>(b)];
                      return da != db ? da > db : a < b;
                    });
  for (std::size_t e = 0; e < empty.size(); ++e) {
    std::copy_n(points.row(farthest[e]), points.dims, centres.column(empty[e]));
  }
}

double mean_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

/// Lloyd: assign, move, until a pass gains too little.
void lloyd(const PointView& points, const KMeansOptions& options, KMeansResult& result, ThreadPool& threads) {
  std::vector<float> distance(static_cast<std::size_t>(points.rows));
  const auto assign = [&] {
    assign_nearest(points, result.centres, result.nearest.data(), distance.data(), threads);
    result.mean_squared_distance = mean_of(distance);
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

/// Mini-batches (Sculley 2010): a centre steps towards each of its rows by 1 / (rows it has had).
void mini_batches(const PointView& points, const KMeansOptions& options, KMeansResult& result, Random& random,
                  ThreadPool& threads) {
  std::vector<double> seen(static_cast<std::size_t>(options.centres));
  const Index size = std::min(options.batch, points.rows);
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(size));
  for (; result.passes < options.passes; ++result.passes) {
    const auto copy = gather(points, random.sample(points.rows, size));
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
  result.mean_squared_distance = mean_of(distance);
}

}  // namespace

void assign_nearest(const PointView& points, const Grid<float>& centres, std::int32_t* nearest,
                    float* distance, ThreadPool& threads) {
  const auto packed = kernels::pack_centres(centres);
  threads.for_each(blocks_of(points.rows), [&](Index block, int) {
    const RowRange range = block_range(block, points.rows);
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
  if (options.centres < 1 || options.centres > points.rows) {
    throw InputError(fmt::format("K-means needs between 1 and {} centres (the number of points), not {}",
                                 points.rows, options.centres));
  }
  for (Index i = 0; i < points.rows; ++i) {
    if (!(squared_norm(points.row(i), points.dims) < kLongest)) {
      throw InputError("K-means: the values are too large for distances between rows: scale the columns");
    }
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
