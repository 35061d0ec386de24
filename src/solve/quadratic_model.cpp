#include "solve/quadratic_model.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "kernels/panel.hpp"
#include "run/ranks.hpp"
#include "run/serial_sum.hpp"
#include "solve/anderson.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMemory = 5;
/// Keeps single-precision rounding from making H indefinite.
constexpr float kRoundingRidge = 1e-6F;
/// Second derivatives below this fraction of a row's weight are ignored.
constexpr double kNegligible = 3e-3;
/// A column's curvature is at least this times its mean square: rows with hardly any curvature are ignored,
/// but a column that is nonzero on such rows only must not take unbounded steps.
constexpr double kLeastCurvature = 0.01 * kNegligible;
/// A pair of outputs is ignored if its derivatives sum to less than this fraction of the smaller own sum.
constexpr double kNegligiblePair = 2e-2;

/// Block coordinate descent on the model. `slope_` is the model's gradient [output][column], kept up to date.
class ModelDescent {
 public:
  ModelDescent(const ModelProblem& problem, std::vector<double>& u)
      : problem_(problem),
        size_(problem.metric.size()),
        outputs_(problem.metric.outputs()),
        u_(u),
        slope_(static_cast<std::size_t>(outputs_ * problem.metric.stride()), 0.0),
        curvature_(u.size()),
        row_(static_cast<std::size_t>(outputs_)),
        step_(row_.size()),
        anderson_(kMemory) {
    prepare();
  }

  /// One pass over the rows; returns (1/2) sum h step^2, a lower bound of the model's decrease.
  double pass() {
    double gain = 0;
    for (Index j = 0; j < size_; ++j) gain += update_row(j);
    return gain;
  }

  /// Remembers the pass just made from `before` and jumps to the extrapolated point if that is lower.
  void accelerate(const std::vector<double>& before) {
    std::vector<double> residual(u_.size());
    for (std::size_t at = 0; at < u_.size(); ++at) residual[at] = u_[at] - before[at];
    anderson_.push(std::move(residual));
    points_.push_back(u_);
    slopes_.push_back(slope_);
    if (points_.size() > kMemory) {
      points_.pop_front();
      slopes_.pop_front();
    }
    if (!anderson_.full()) return;
    jump(anderson_.coefficients());
    anderson_.clear();
    points_.clear();
    slopes_.clear();
  }

  /// g.(U-W) + quadratic + penalty: the quadratic part is (U-W).(slope - g)/2.
  double value() const {
    double sum = 0;
    for (Index j = 0; j < size_; ++j) {
      const auto row = static_cast<std::size_t>(j * outputs_);
      for (Index c = 0; c < outputs_; ++c) {
        const auto at = row + static_cast<std::size_t>(c);
        sum += (u_[at] - problem_.start[at]) * (problem_.gradient[at] + slope(j, c)) / 2;
      }
      const double lambda = problem_.lambda[static_cast<std::size_t>(j)];
      if (lambda > 0) sum += lambda * problem_.penalty.value({u_.data() + row, row_.size()});
    }
    return sum;
  }

 private:
  double& slope(Index j, Index c) {
    return slope_[static_cast<std::size_t>(c * problem_.metric.stride() + j)];
  }
  double slope(Index j, Index c) const {
    return slope_[static_cast<std::size_t>(c * problem_.metric.stride() + j)];
  }

  void prepare() {
    for (Index j = 0; j < size_; ++j) {
      double most = 0;
      for (Index c = 0; c < outputs_; ++c) {
        const auto at = static_cast<std::size_t>(j * outputs_ + c);
        curvature_[at] =
            problem_.damping * problem_.metric.coupling_factor(j) * problem_.metric.diagonal(j, c);
        most = std::max(most, curvature_[at]);
        slope(j, c) += problem_.gradient[at];
      }
      // An output without any curvature (a task without rows there) must not cause a division by zero.
      for (Index c = 0; c < outputs_; ++c) {
        double& h = curvature_[static_cast<std::size_t>(j * outputs_ + c)];
        h = std::max({h, 1e-9 * most, 1e-300});
      }
      move_row(j, [&](std::size_t at) { return u_[at] - problem_.start[at]; });
    }
  }

  /// slope += damping H step of row j; returns whether anything moved.
  template <class Step>
  bool move_row(Index j, Step step) {
    bool moved = false;
    for (Index c = 0; c < outputs_; ++c) {
      const double by = step(static_cast<std::size_t>(j * outputs_ + c));
      step_[static_cast<std::size_t>(c)] = problem_.damping * by;
      moved = moved || by != 0;
    }
    if (moved) problem_.metric.add_row(j, step_, slope_.data());
    return moved;
  }

  double update_row(Index j) {
    const auto first = static_cast<std::size_t>(j * outputs_);
    const std::span<const double> h(curvature_.data() + first, row_.size());
    for (std::size_t c = 0; c < row_.size(); ++c)
      row_[c] = u_[first + c] - slope(j, static_cast<Index>(c)) / h[c];
    const double lambda = problem_.lambda[static_cast<std::size_t>(j)];
    if (lambda > 0) problem_.penalty.scaled_prox(row_, h, lambda);
    double gain = 0;
    move_row(j, [&](std::size_t at) {
      const double by = row_[at - first] - u_[at];
      gain += h[at - first] * by * by / 2;
      return by;
    });
    std::copy(row_.begin(), row_.end(), u_.begin() + static_cast<std::ptrdiff_t>(first));
    return gain;
  }

  void jump(const std::vector<double>& coefficients) {
    if (coefficients.empty()) return;
    const double here = value();
    const std::vector<double> u = u_, slope_here = slope_;
    std::fill(u_.begin(), u_.end(), 0.0);
    std::fill(slope_.begin(), slope_.end(), 0.0);
    for (std::size_t p = 0; p < points_.size(); ++p) {
      for (std::size_t at = 0; at < u_.size(); ++at) u_[at] += coefficients[p] * points_[p][at];
      for (std::size_t at = 0; at < slope_.size(); ++at) slope_[at] += coefficients[p] * slopes_[p][at];
    }
    if (value() < here) return;
    u_ = u;
    slope_ = slope_here;
  }

  const ModelProblem& problem_;
  Index size_;
  Index outputs_;
  std::vector<double>& u_;
  std::vector<double> slope_;
  std::vector<double> curvature_;
  std::vector<double> row_;
  std::vector<double> step_;
  Anderson anderson_;
  std::deque<std::vector<double>> points_;
  std::deque<std::vector<double>> slopes_;
};

/// Sums of second derivatives over the rows: over those kept, and over all.
struct Mass {
  double kept, all;
};

/// Collects the rows whose weight is above `least`.
template <class Weight>
Mass gather(Index rows, double least, const Weight& weight, ColumnSet::WeightedRows& out) {
  double both[2];
  serial_sum_of_leaves(RowTree(rows), both, [&](RowRange leaf, std::span<double> sums) {
    double kept = 0, all = 0;
    for (Index i = leaf.begin; i < leaf.end; ++i) {
      const double own = weight(i);
      all += own;
      if (own <= least) continue;
      kept += own;
      out.rows.push_back(static_cast<std::uint32_t>(i));
      out.weights.push_back(static_cast<float>(own));
    }
    sums[0] = kept;
    sums[1] = all;
  });
  return {both[0], both[1]};
}

}  // namespace

void HessianBlocks::reset(const Grid<double>& curvature, const Grid<double>& factor) {
  pairs_.clear();
  own_.clear();
  mass_.clear();
  coupling_factor_.clear();
  size_ = stride_ = 0;
  add_diagonal_pairs(curvature);
  if (factor.cols() > 0) add_coupled_pairs(factor);
}

void HessianBlocks::add_diagonal_pairs(const Grid<double>& curvature) {
  const double least = kNegligible / static_cast<double>(curvature.rows());
  for (Index c = 0; c < outputs_; ++c) {
    const double* values = curvature.column(c);
    Pair pair{c, c, {}, {}};
    const auto [kept, mass] = gather(
        curvature.rows(), least, [&](Index i) { return values[i]; }, pair.rows);
    if (kept > 0) {
      for (float& w : pair.rows.weights) w *= static_cast<float>(mass / kept);
    }
    own_.push_back(pairs_.size());
    mass_.push_back(mass);
    pairs_.push_back(std::move(pair));
  }
}

void HessianBlocks::add_coupled_pairs(const Grid<double>& factor) {
  const double least = kNegligible / static_cast<double>(factor.rows());
  for (Index c = 0; c < outputs_; ++c) {
    for (Index d = c + 1; d < outputs_; ++d) {
      Pair pair{c, d, {}, {}};
      const double *left = factor.column(c), *right = factor.column(d);
      const double kept = gather(
                              factor.rows(), least, [&](Index i) { return left[i] * right[i]; }, pair.rows)
                              .kept;
      for (float& w : pair.rows.weights) w = -w;
      const double mass = std::min(mass_[static_cast<std::size_t>(c)], mass_[static_cast<std::size_t>(d)]);
      if (kept > kNegligiblePair * mass) pairs_.push_back(std::move(pair));
    }
  }
}

void HessianBlocks::reserve(Index columns) {
  if (columns <= stride_) return;
  const Index wanted = size_ == 0 ? columns : columns + columns / 4;
  const Index stride = (wanted + kernels::kGramPad - 1) / kernels::kGramPad * kernels::kGramPad;
  for (Pair& pair : pairs_) {
    // One more row of tiles than columns: the kernel's last rows may extend beyond them.
    AlignedVector<float> larger(static_cast<std::size_t>((stride + 6) * stride), 0.0F);
    for (Index j = 0; j < size_; ++j) {
      std::copy_n(pair.gram.data() + j * stride_, size_, larger.data() + j * stride);
    }
    pair.gram = std::move(larger);
  }
  stride_ = stride;
}

/// Ranks divide the pairs of outputs.
void HessianBlocks::add_grams(const ColumnSet& columns, std::span<const ColumnSet::WeightedRows> rows,
                              std::span<float* const> gram, ThreadPool& threads) const {
  const Index first = size_, last = columns.columns(), width = (last - first) * last;
  const RowRange own = own_part(std::ssize(rows), threads.ranks());
  const auto begin = static_cast<std::size_t>(own.begin), count = static_cast<std::size_t>(own.size());
  columns.weighted_grams(rows.subspan(begin, count), first, gram.subspan(begin, count), stride_, threads);
  if (!is_shared(threads)) return;
  std::vector<float> all(static_cast<std::size_t>(std::ssize(rows) * width));
  const auto rows_of = [&](Index pair, const auto& copy) {
    for (Index j = first; j < last; ++j) {
      copy(gram[static_cast<std::size_t>(pair)] + j * stride_,
           all.data() + pair * width + (j - first) * last);
    }
  };
  share_pieces<float>(std::ssize(rows), width, all, threads, [&](Index pair, int) {
    rows_of(pair, [&](const float* from, float* to) { std::copy_n(from, last, to); });
  });
  for (Index pair = 0; pair < std::ssize(rows); ++pair)
    rows_of(pair, [&](float* to, const float* from) { std::copy_n(from, last, to); });
}

void HessianBlocks::extend(const ColumnSet& columns, ThreadPool& threads) {
  const Index first = size_, last = columns.columns();
  if (first == last) return;
  reserve(last);
  std::vector<ColumnSet::WeightedRows> rows;
  std::vector<float*> gram;
  for (Pair& pair : pairs_) {
    rows.push_back(std::move(pair.rows));
    gram.push_back(pair.gram.data());
  }
  add_grams(columns, rows, gram, threads);
  const std::vector<double> share(static_cast<std::size_t>(columns.rows()),
                                  kLeastCurvature / static_cast<double>(columns.rows()));
  const std::vector<double> least = columns.squares(share, threads);
  size_ = last;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    pairs_[p].rows = std::move(rows[p]);
    float* h = gram[p];
    const bool own = pairs_[p].first == pairs_[p].second;
    for (Index j = first; j < last; ++j) {
      if (own) {
        float& diagonal = h[j * stride_ + j];
        diagonal =
            std::max(diagonal * (1 + kRoundingRidge), static_cast<float>(least[static_cast<std::size_t>(j)]));
      }
      for (Index l = 0; l < j; ++l) h[l * stride_ + j] = h[j * stride_ + l];
      std::fill(h + j * stride_ + last, h + (j + 1) * stride_, 0.0F);
    }
  }
  for (Index j = first; j < last; ++j) coupling_factor_.push_back(coupling_factor_of(j));
}

void HessianBlocks::keep(std::span<const Index> columns) {
  const auto count = static_cast<Index>(columns.size());
  std::vector<double> kept;
  for (const Index j : columns) kept.push_back(coupling_factor_[static_cast<std::size_t>(j)]);
  coupling_factor_ = std::move(kept);
  for (Pair& pair : pairs_) {
    float* h = pair.gram.data();
    // Columns ascend, so every row is read before it is overwritten.
    for (Index j = 0; j < count; ++j) {
      const float* from = h + columns[static_cast<std::size_t>(j)] * stride_;
      for (Index l = 0; l < count; ++l) h[j * stride_ + l] = from[columns[static_cast<std::size_t>(l)]];
    }
    for (Index j = 0; j < stride_; ++j) {
      std::fill(h + j * stride_ + (j < count ? count : 0), h + (j + 1) * stride_, 0.0F);
    }
  }
  size_ = count;
}

void HessianBlocks::save(ByteWriter& out) const {
  out.index(size_);
  out.doubles(mass_);
  out.doubles(coupling_factor_);
  out.u64(pairs_.size());
  for (const Pair& pair : pairs_) {
    out.index(pair.first);
    out.index(pair.second);
    out.indices(std::vector<Index>(pair.rows.rows.begin(), pair.rows.rows.end()));
    out.floats(pair.rows.weights);
  }
  for (const Pair& pair : pairs_) {
    for (Index j = 0; j < size_; ++j)
      out.floats({pair.gram.data() + j * stride_, static_cast<std::size_t>(size_)});
  }
}

void HessianBlocks::restore(ByteReader& in, const ColumnSet& columns) {
  *this = HessianBlocks(outputs_);
  const Index size = in.index(0, columns.columns());
  mass_ = in.doubles();
  coupling_factor_ = in.doubles();
  const std::uint64_t count = in.u64();
  const auto own = static_cast<std::uint64_t>(count > 0 ? outputs_ : 0);
  if (count < own || mass_.size() != own || std::ssize(coupling_factor_) != size)
    in.damaged("a Hessian in it is incomplete");
  for (std::uint64_t p = 0; p < count; ++p) {
    const Index least = p < own ? static_cast<Index>(p) : 0, most = p < own ? least : outputs_ - 1;
    Pair pair{in.index(least, most), in.index(least, most), {}, {}};
    const std::vector<Index> rows = in.indices(0, columns.rows() - 1);
    if (!std::ranges::is_sorted(rows)) in.damaged("the rows of a Hessian in it are not in order");
    pair.rows.rows.assign(rows.begin(), rows.end());
    pair.rows.weights = in.floats();
    if (pair.rows.weights.size() != rows.size()) in.damaged("weights of rows are missing in it");
    if (p < own) own_.push_back(pairs_.size());
    pairs_.push_back(std::move(pair));
  }
  reserve(size);
  for (Pair& pair : pairs_) {
    for (Index j = 0; j < size; ++j) {
      const std::vector<float> row = in.floats();
      if (std::ssize(row) != size) in.damaged("a row of a Hessian in it has the wrong length");
      std::copy(row.begin(), row.end(), pair.gram.data() + j * stride_);
    }
  }
  size_ = size;
}

/// Largest eigenvalue of the block scaled to a unit diagonal, by power iteration.
double HessianBlocks::coupling_factor_of(Index j) const {
  if (pairs_.size() == own_.size()) return 1;
  std::vector<double> v(static_cast<std::size_t>(outputs_)), next, root(v.size());
  for (std::size_t c = 0; c < v.size(); ++c) {
    v[c] = 1 + 0.1 * static_cast<double>(c % 3) - static_cast<double>(c % 2) * 1.7;
    root[c] = std::sqrt(std::max(diagonal(j, static_cast<Index>(c)), 1e-300));
  }
  double value = 1;
  for (int iteration = 0; iteration < 12; ++iteration) {
    next = v;
    for (std::size_t p = own_.size(); p < pairs_.size(); ++p) {
      const auto c = static_cast<std::size_t>(pairs_[p].first),
                 d = static_cast<std::size_t>(pairs_[p].second);
      const double scaled = entry(p, j) / (root[c] * root[d]);
      next[c] += scaled * v[d];
      next[d] += scaled * v[c];
    }
    double norm = 0, before = 0;
    for (std::size_t c = 0; c < v.size(); ++c) norm += next[c] * next[c], before += v[c] * v[c];
    value = std::sqrt(norm / before);
    for (std::size_t c = 0; c < v.size(); ++c) v[c] = next[c] / std::sqrt(norm);
  }
  return std::clamp(1.05 * value, 1.0, 2.0);
}

void HessianBlocks::add_row(Index j, std::span<const double> step, double* slope) const {
  std::vector<kernels::Axpy>& tasks = tasks_;
  tasks.clear();
  for (const Pair& pair : pairs_) {
    const float* row = pair.gram.data() + j * stride_;
    const double from_first = step[static_cast<std::size_t>(pair.first)];
    if (from_first != 0) tasks.push_back({row, from_first, slope + pair.second * stride_});
    if (pair.first == pair.second) continue;
    const double from_second = step[static_cast<std::size_t>(pair.second)];
    if (from_second != 0) tasks.push_back({row, from_second, slope + pair.first * stride_});
  }
  kernels::axpy_all(tasks.data(), static_cast<Index>(tasks.size()), stride_);
}

int minimise_model(const ModelProblem& problem, const ModelOptions& options, std::vector<double>& u) {
  ModelDescent descent(problem, u);
  double first_gain = 0;
  std::vector<double> before;
  for (int pass = 1;; ++pass) {
    before = u;
    const double gain = descent.pass();
    first_gain = std::max(first_gain, gain);
    if (gain <= options.accuracy * first_gain || pass >= options.max_passes) return pass;
    descent.accelerate(before);
  }
}

}  // namespace sharelearn
