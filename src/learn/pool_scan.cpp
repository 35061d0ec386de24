#include "learn/pool_scan.hpp"

#include <algorithm>
#include <cmath>

#include "pool/narrow.hpp"
#include "pool/shared_scan.hpp"

namespace sharelearn {
namespace {

/// Possible error of float32 sums, relative to lambda.
constexpr double kFloatSlack = 1e-5;

}  // namespace

PoolScan::PoolScan(const Pool& pool, const Penalty& penalty, ThreadPool& threads)
    : pool_(pool),
      penalty_(penalty),
      threads_(threads),
      scores_(static_cast<std::size_t>(pool.candidates()), 0.0) {}

/// Penalties that are not norms rank by the Euclidean norm: forward-greedy boosting without a penalty.
double PoolScan::norm_of_columns(const double* sums, Index outputs) const {
  double largest = 0;
  for (Index w = 0; w < pool_.width(); ++w) {
    const std::span<const double> gradient(sums + w * outputs, static_cast<std::size_t>(outputs));
    largest =
        std::max(largest, penalty_.is_norm() ? penalty_.dual_norm(gradient) : norm_of(gradient, Norm::l2));
  }
  return largest;
}

void PoolScan::score(const Grid<double>& residual, std::span<const double> cost, std::span<const char> active,
                     double lambda) {
  const Index outputs = residual.cols();
  if (residual_.cols() != outputs) residual_ = Grid<float>(residual.rows(), outputs);
  scores_.resize(static_cast<std::size_t>(pool_.candidates()), 0.0);
  narrow(residual, residual_, threads_);
  const RowRange own = correlate_part(pool_, residual_, {}, threads_, [&](const CandidateBlock& block, int) {
    for (Index a = 0; a < block.count; ++a) {
      const auto at = static_cast<std::size_t>(block.first + a);
      scores_[at] = norm_of_columns(block.sums + a * pool_.width() * outputs, outputs) /
                    (at < cost.size() ? cost[at] : 1.0);
    }
  });
  share_candidates(std::span(scores_), 1, own, threads_.ranks());
  if (lambda == 0) return;
  std::vector<Index> close;
  for (Index candidate = 0; candidate < pool_.candidates(); ++candidate) {
    const auto at = static_cast<std::size_t>(candidate);
    if (std::abs(scores_[at] - lambda) > 10 * kFloatSlack * lambda) continue;
    if (at < active.size() && active[at] != 0) continue;
    close.push_back(candidate);
  }
  score_some(close, residual, cost);
}

void PoolScan::score_some(std::span<const Index> candidates, const Grid<double>& residual,
                          std::span<const double> cost) {
  const std::vector<double> sums = exact_sums(pool_, candidates, residual, threads_);
  for (std::size_t which = 0; which < candidates.size(); ++which) {
    const auto at = static_cast<std::size_t>(candidates[which]);
    scores_[at] = norm_of_columns(sums.data() + static_cast<Index>(which) * pool_.width() * residual.cols(),
                                  residual.cols()) /
                  (at < cost.size() ? cost[at] : 1.0);
  }
}

void PoolScan::replace(Index candidate, std::span<const double> sums, double cost) {
  scores_[static_cast<std::size_t>(candidate)] =
      norm_of_columns(sums.data(), std::ssize(sums) / pool_.width()) / cost;
}

double PoolScan::largest(const Grid<double>& residual, std::span<const double> cost) {
  score(residual, cost, {}, 0);
  const double roughly = scores_.empty() ? 0.0 : *std::max_element(scores_.begin(), scores_.end());
  std::vector<Index> leading;
  for (Index candidate = 0; candidate < pool_.candidates(); ++candidate) {
    const auto at = static_cast<std::size_t>(candidate);
    if (scores_[at] >= roughly * (1 - 10 * kFloatSlack) && scores_[at] != 0) leading.push_back(candidate);
  }
  score_some(leading, residual, cost);
  double exactly = 0;
  for (const Index candidate : leading)
    exactly = std::max(exactly, scores_[static_cast<std::size_t>(candidate)]);
  return exactly;
}

double PoolScan::largest_inactive(std::span<const char> active) const {
  double largest = 0;
  for (std::size_t at = 0; at < scores_.size(); ++at) {
    if (at < active.size() && active[at] != 0) continue;
    largest = std::max(largest, scores_[at]);
  }
  return largest;
}

std::vector<Index> PoolScan::at_least(double bar, std::span<const char> active) const {
  std::vector<Index> found;
  for (std::size_t at = 0; at < scores_.size(); ++at) {
    if (scores_[at] >= bar && (at >= active.size() || active[at] == 0))
      found.push_back(static_cast<Index>(at));
  }
  return found;
}

std::vector<Ranked> PoolScan::violators(double lambda, std::span<const char> active) const {
  std::vector<Ranked> found;
  for (std::size_t at = 0; at < scores_.size(); ++at) {
    if (scores_[at] <= lambda || (at < active.size() && active[at] != 0)) continue;
    found.push_back({static_cast<Index>(at), scores_[at]});
  }
  std::sort(found.begin(), found.end(), [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.candidate < b.candidate;
  });
  return found;
}

}  // namespace sharelearn
