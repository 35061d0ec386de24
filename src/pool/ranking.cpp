#include "sharelearn/pool/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "pool/narrow.hpp"
#include "pool/order.hpp"

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

std::vector<double> exact_sums(const Pool& pool, Index candidate, const Grid<double>& residual) {
  Grid<float> values(pool.rows(), pool.width());
  pool.values(candidate, values, 0);
  const RowTree tree(pool.rows());
  std::vector<double> sums(static_cast<std::size_t>(pool.width() * residual.cols()));
  TreeSum sum(sums.size());
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    const RowRange rows = tree.leaf(leaf);
    kernels::correlate(
        kernels::Block<float>{values.data() + rows.begin, values.stride(), pool.width()},
        kernels::Block<double>{residual.data() + rows.begin, residual.stride(), residual.cols()}, rows.size(),
        sum.leaf().data());
    sum.close_leaf();
  }
  sum.finish(sums);
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
  if (options.blocks.empty()) {
    pool.correlate(narrow(residual, threads), threads, visit);
  } else {
    pool.correlate_some(narrow(residual, threads), options.blocks, threads, visit);
  }
  Leaders all(keep);
  for (const Leaders& leaders : of_worker) {
    for (const Ranked& ranked : leaders.best()) all.offer(ranked);
  }
  std::vector<Ranked> best = all.best();
  std::sort(best.begin(), best.end(), before);
  if (best.empty() || !options.exact) return best;

  // Candidates above the last wanted score, or within rounding of it, are scored again exactly.
  const auto wanted = std::min(best.size(), static_cast<std::size_t>(options.count));
  const double bar = best[wanted - 1].score * (1 - kFloatSlack);
  std::size_t rescored = std::min(best.size(), std::max(wanted, kLeastRescored));
  while (rescored < best.size() && best[rescored].score >= bar) ++rescored;
  best.resize(rescored);
  threads.for_each(static_cast<Index>(rescored), [&](Index a, int) {
    Ranked& ranked = best[static_cast<std::size_t>(a)];
    const std::vector<double> sums = exact_sums(pool, ranked.candidate, residual);
    ranked.score = score_of(sums.data(), pool.width(), outputs, options.norm);
    if (!options.cost.empty()) ranked.score /= options.cost[static_cast<std::size_t>(ranked.candidate)];
  });
  order_by_score(best, kTie, [](const Ranked& a, const Ranked& b) { return a.candidate < b.candidate; });
  best.resize(std::min(best.size(), wanted));
  while (!best.empty() && best.back().score <= 0) best.pop_back();
  return best;
}

}  // namespace sharelearn
