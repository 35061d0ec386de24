#include "sharelearn/pool/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "pool/narrow.hpp"
#include "pool/order.hpp"
#include "pool/shared_scan.hpp"

namespace sharelearn {
namespace {

/// Best score first, then the lowest candidate.
bool before(const Ranked& a, const Ranked& b) {
  return a.score != b.score ? a.score > b.score : a.candidate < b.candidate;
}

/// Keeps the best `count` of the candidates it is offered.
class Leaders {
 public:
  explicit Leaders(std::size_t count) : count_(count) {}
  void offer(Ranked ranked) {
    if (ranked.score <= 0) return;
    if (best_.size() == count_ && !before(ranked, best_.front())) return;
    best_.push_back(ranked);
    // The front of the heap is the worst of the kept candidates.
    std::push_heap(best_.begin(), best_.end(), before);
    if (best_.size() > count_) {
      std::pop_heap(best_.begin(), best_.end(), before);
      best_.pop_back();
    }
  }
  const std::vector<Ranked>& best() const { return best_; }

 private:
  std::size_t count_;
  std::vector<Ranked> best_;
};

double score_of(const double* sums, Index width, Index outputs, Norm norm) {
  double score = 0;
  for (Index w = 0; w < width; ++w) {
    score += norm_of({sums + w * outputs, static_cast<std::size_t>(outputs)}, norm);
  }
  return score;
}

/// Float32 sums are wrong by at most a few parts in a million. Leaders closer than this are compared in
/// double precision.
constexpr double kFloatSlack = 1e-4;
/// Relative difference that equal scores may have from the order of summation and from a residual that is not
/// solved to the last digit.
constexpr double kTie = 1e-8;
constexpr std::size_t kLeastRescored = 4;
constexpr std::size_t kMostRescored = 64;
/// Candidates whose values are in memory at the same time.
constexpr std::size_t kRescoredAtOnce = 16;

}  // namespace

double norm_of(std::span<const double> values, Norm norm) {
  double result = 0;
  switch (norm) {
    case Norm::l1:
      for (const double v : values) result += std::abs(v);
      return result;
    case Norm::l2:
      for (const double v : values) result += v * v;
      return std::sqrt(result);
    case Norm::linf:
      for (const double v : values) result = std::max(result, std::abs(v));
      return result;
  }
  return result;
}

std::vector<double> exact_sums(const Pool& pool, std::span<const Index> candidates,
                               const Grid<double>& residual, ThreadPool& threads) {
  const Index width = pool.width() * residual.cols();
  std::vector<double> sums(candidates.size() * static_cast<std::size_t>(width));
  for (std::size_t first = 0; first < candidates.size(); first += kRescoredAtOnce) {
    const auto some = candidates.subspan(first, std::min(kRescoredAtOnce, candidates.size() - first));
    Grid<float> values(pool.rows(), std::ssize(some) * pool.width());
    threads.for_each(std::ssize(some), [&](Index a, int) {
      pool.values(some[static_cast<std::size_t>(a)], values, a * pool.width());
    });
    sum_pieces(RowTree(pool.rows()), std::ssize(some), width,
               std::span(sums).subspan(first * static_cast<std::size_t>(width),
                                       some.size() * static_cast<std::size_t>(width)),
               threads, [&](Index a, RowRange rows, std::span<double> out) {
                 kernels::correlate(
                     kernels::Block<float>{values.column(a * pool.width()) + rows.begin, values.stride(),
                                           pool.width()},
                     kernels::Block<double>{residual.data() + rows.begin, residual.stride(), residual.cols()},
                     rows.size(), out.data());
               });
  }
  return sums;
}

std::vector<Ranked> rank(const Pool& pool, const Grid<double>& residual, const RankOptions& options,
                         ThreadPool& threads) {
  const Index outputs = residual.cols();
  const auto keep = static_cast<std::size_t>(options.count) + (options.exact ? kMostRescored : 0);
  std::vector<Leaders> of_worker(static_cast<std::size_t>(threads.size()), Leaders(keep));
  const BlockVisitor visit = [&](const CandidateBlock& block, int worker) {
    Leaders& leaders = of_worker[static_cast<std::size_t>(worker)];
    for (Index a = 0; a < block.count; ++a) {
      const auto candidate = static_cast<std::size_t>(block.first + a);
      if (!options.excluded.empty() && options.excluded[candidate] != 0) continue;
      double score = score_of(block.sums + a * pool.width() * outputs, pool.width(), outputs, options.norm);
      if (!options.cost.empty()) score /= options.cost[candidate];
      leaders.offer({block.first + a, score});
    }
  };
  Grid<float> narrowed = narrow(residual, threads);
  correlate_part(pool, narrowed, options.blocks, threads, visit);
  Leaders all(keep);
  for (const Leaders& leaders : of_worker) {
    for (const Ranked& ranked : leaders.best()) all.offer(ranked);
  }
  std::vector<Ranked> best = all.best();
  if (is_shared(threads)) {
    Leaders of_ranks(keep);
    for (const Ranked& ranked : gather_all(std::span<const Ranked>(best), threads.ranks()))
      of_ranks.offer(ranked);
    best = of_ranks.best();
  }
  std::sort(best.begin(), best.end(), before);
  if (best.empty() || !options.exact) return best;

  // Candidates above the last wanted score, or within rounding of it, are scored again exactly.
  const auto wanted = std::min(best.size(), static_cast<std::size_t>(options.count));
  const double bar = best[wanted - 1].score * (1 - kFloatSlack);
  std::size_t rescored = std::min(best.size(), std::max(wanted, kLeastRescored));
  while (rescored < best.size() && best[rescored].score >= bar) ++rescored;
  best.resize(rescored);
  std::vector<Index> leading;
  for (const Ranked& ranked : best) leading.push_back(ranked.candidate);
  const std::vector<double> sums = exact_sums(pool, leading, residual, threads);
  for (std::size_t a = 0; a < rescored; ++a) {
    Ranked& ranked = best[a];
    ranked.score = score_of(sums.data() + static_cast<Index>(a) * pool.width() * outputs, pool.width(),
                            outputs, options.norm);
    if (!options.cost.empty()) ranked.score /= options.cost[static_cast<std::size_t>(ranked.candidate)];
  }
  order_by_score(best, kTie, [](const Ranked& a, const Ranked& b) { return a.candidate < b.candidate; });
  best.resize(std::min(best.size(), wanted));
  while (!best.empty() && best.back().score <= 0) best.pop_back();
  return best;
}

}  // namespace sharelearn
