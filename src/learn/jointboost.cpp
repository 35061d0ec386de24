#include "sharelearn/learn/jointboost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/complete.hpp"
#include "data/to_size.hpp"
#include "pool/shared_scan.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

/// The sums over some rows that least squares needs: sum w z and sum w.
struct Sums {
  double agreement = 0;
  double mass = 0;
  /// The value that fits best, and by how much it lowers the squared error.
  double value() const { return mass > 0 ? agreement / mass : 0.0; }
  double gain() const { return mass > 0 ? agreement * agreement / mass : 0.0; }
};

Sums operator+(const Sums& a, const Sums& b) {
  return {a.agreement + b.agreement, a.mass + b.mass};
}
Sums operator-(const Sums& a, const Sums& b) {
  return {a.agreement - b.agreement, a.mass - b.mass};
}

/// The sums of every stump and class.
std::vector<Sums> sums_of(Index stumps, Index classes) {
  const double count = static_cast<double>(stumps) * static_cast<double>(classes);
  require_memory(sizeof(Sums) * count,
                 fmt::format("jointboost with {} stumps and {} classes", stumps, classes));
  return std::vector<Sums>(to_size(stumps * classes));
}

class JointBooster {
 public:
  JointBooster(const StumpPool& pool, const Classes& classes, const std::vector<double>& weights,
               ThreadPool& threads)
      : pool_(pool),
        classes_(classes),
        row_weight_(weights),
        threads_(threads),
        scores_(pool.rows(), classes.count()),
        below_(sums_of(pool.candidates(), classes.count())),
        total_(to_size(classes.count())) {}

  /// Computes the sums of every stump and class with the current weights w = exp(-z H).
  void weigh() {
    const Index k = classes_.count();
    Grid<float> terms(pool_.rows(), 2 * k);  // w z of each class, then w
    std::vector<double> totals(to_size(2 * k));
    sum_over_rows(pool_.rows(), threads_, totals, [&](RowRange block, std::span<double> sums, int) {
      for (Index c = 0; c < k; ++c) {
        for (Index i = block.begin; i < block.end; ++i) {
          const Sums of_row = term(i, c);
          terms(i, c) = static_cast<float>(of_row.agreement);
          terms(i, k + c) = static_cast<float>(of_row.mass);
          sums[to_size(c)] += of_row.agreement;
          sums[to_size(k + c)] += of_row.mass;
        }
      }
    });
    for (Index c = 0; c < k; ++c) total_[to_size(c)] = {totals[to_size(c)], totals[to_size(k + c)]};
    const RowRange own = correlate_part(pool_, terms, {}, threads_, [&](const CandidateBlock& block, int) {
      for (Index a = 0; a < block.count; ++a) {
        const double* sums = block.sums + a * 2 * k;
        for (Index c = 0; c < k; ++c) below_[to_size((block.first + a) * k + c)] = {sums[c], sums[k + c]};
      }
    });
    share_candidates(std::span(below_), k, own, threads_.ranks());
  }

  /// Fits the values of a round whose stump and set are known.
  void refit(JointBoostRound& round) {
    const Index k = classes_.count();
    Grid<float> stump(pool_.rows(), 1);
    pool_.values(round.candidate, stump, 0);
    std::vector<double> sums(
        to_size(4 * k));  // of each class: of all rows, then of those below the threshold
    sum_over_rows(pool_.rows(), threads_, sums, [&](RowRange block, std::span<double> to, int) {
      for (Index c = 0; c < k; ++c) {
        for (Index i = block.begin; i < block.end; ++i) {
          const Sums of_row = term(i, c);
          for (const Index part : {Index{0}, 2 * k}) {
            if (part > 0 && stump(i, 0) == 0) continue;
            to[to_size(part + 2 * c)] += of_row.agreement;
            to[to_size(part + 2 * c + 1)] += of_row.mass;
          }
        }
      }
    });
    for (Index c = 0; c < k; ++c) {
      const double* of_class = &sums[to_size(2 * c)];
      total_[to_size(c)] = {of_class[0], of_class[1]};
      below_[to_size(round.candidate * k + c)] = {of_class[2 * k], of_class[2 * k + 1]};
    }
    fit_values(round);
  }

  /// The best-first search over sets of classes.
  JointBoostRound best() const {
    const Index k = classes_.count();
    std::vector<Sums> of_set(to_size(pool_.candidates()));  // below each threshold, summed over the set
    Sums set_total;
    double outside = 0;  // gain of the constants of the classes that are not in the set
    for (const Sums& total : total_) outside += total.gain();
    std::vector<char> inside(to_size(k), 0);
    JointBoostRound best;
    double best_gain = -1;
    for (Index size = 1; size <= k; ++size) {
      const Extension next = best_extension(of_set, set_total, inside);
      inside[to_size(next.added)] = 1;
      outside -= total_[to_size(next.added)].gain();
      set_total = set_total + total_[to_size(next.added)];
      for (Index t = 0; t < pool_.candidates(); ++t)
        of_set[to_size(t)] = of_set[to_size(t)] + below_[to_size(t * k + next.added)];
      if (next.gain + outside <= best_gain) continue;
      best_gain = next.gain + outside;
      best.candidate = next.candidate;
      best.sharing.clear();
      for (Index c = 0; c < k; ++c) {
        if (inside[to_size(c)] != 0) best.sharing.push_back(static_cast<std::int32_t>(c));
      }
    }
    fit_values(best);
    return best;
  }

  /// H <- H + h.
  void add(JointBoostRound& round) {
    Grid<float> stump(pool_.rows(), 1);
    pool_.values(round.candidate, stump, 0);
    round.loss = sum_over_rows(pool_.rows(), threads_, [&](RowRange block, int) {
      double loss = 0;
      for (Index c = 0; c < classes_.count(); ++c) {
        const bool shares =
            std::binary_search(round.sharing.begin(), round.sharing.end(), static_cast<std::int32_t>(c));
        for (Index i = block.begin; i < block.end; ++i) {
          double& score = scores_(i, c);
          score += !shares ? round.constant[to_size(c)] : stump(i, 0) != 0 ? round.below : round.above;
          loss += row_weight_[to_size(i)] * std::exp(-sign(i, c) * score);
        }
      }
      return loss;
    });
  }

  const Grid<double>& scores() {
    complete(scores_, threads_);
    return scores_;
  }

 private:
  struct Extension {
    Index added = 0;
    Index candidate = 0;
    double gain = -1;  ///< of the set's two values, without the constants of the other classes
  };

  /// w z and w of a row.
  Sums term(Index row, Index c) const {
    const double z = sign(row, c), w = row_weight_[to_size(row)] * std::exp(-z * scores_(row, c));
    return {w * z, w};
  }
  double sign(Index row, Index c) const { return classes_.of_row[to_size(row)] == c ? 1.0 : -1.0; }

  /// The class to add, and the best stump for the set with it. The constants of the remaining classes change
  /// with the class added, so they are part of the comparison.
  Extension best_extension(const std::vector<Sums>& of_set, const Sums& set_total,
                           const std::vector<char>& inside) const {
    const Index k = classes_.count();
    std::vector<Extension> of_class(to_size(k));
    threads_.for_each(k, [&](std::int64_t c, int) {
      if (inside[to_size(c)] != 0) return;
      const Sums total = set_total + total_[to_size(c)];
      Extension best{c, 0, -1};
      for (Index t = 0; t < pool_.candidates(); ++t) {
        const Sums low = of_set[to_size(t)] + below_[to_size(t * k + c)];
        const double gain = low.gain() + (total - low).gain();
        if (gain > best.gain) best = {c, t, gain};
      }
      of_class[to_size(c)] = best;
    });
    Index chosen = -1;
    const auto net = [&](Index c) { return of_class[to_size(c)].gain - total_[to_size(c)].gain(); };
    for (Index c = 0; c < k; ++c) {
      if (inside[to_size(c)] == 0 && (chosen < 0 || net(c) > net(chosen))) chosen = c;
    }
    return of_class[to_size(chosen)];
  }

  void fit_values(JointBoostRound& round) const {
    const Index k = classes_.count();
    Sums low, total;
    round.constant.assign(to_size(k), 0.0);
    for (Index c = 0; c < k; ++c) round.constant[to_size(c)] = total_[to_size(c)].value();
    for (const std::int32_t c : round.sharing) {
      low = low + below_[to_size(round.candidate * k + c)];
      total = total + total_[to_size(c)];
      round.constant[to_size(c)] = 0;
    }
    round.below = low.value();
    round.above = (total - low).value();
  }

  const StumpPool& pool_;
  const Classes& classes_;
  const std::vector<double>& row_weight_;
  ThreadPool& threads_;
  Grid<double> scores_;
  std::vector<Sums> below_;  ///< [stump][class]
  std::vector<Sums> total_;  ///< of each class
};

}  // namespace

JointBoostResult jointboost(const StumpPool& pool, const Classes& classes, const std::vector<double>& weights,
                            const JointBoostOptions& options, const Context& context,
                            const JointBoostObserver& after_round) {
  const auto start = std::chrono::steady_clock::now();
  JointBoostResult result;
  if (pool.candidates() == 0) return result;
  JointBooster booster(pool, classes, weights, context.threads);
  auto loss = static_cast<double>(classes.count());  // J at scores of 0: exp(0) per class
  for (Index t = 0; t < options.rounds && !context.cancelled(); ++t) {
    JointBoostRound round;
    try {
      booster.weigh();
      round = booster.best();
      booster.add(round);
    } catch (const Cancelled&) {
      break;
    }
    round.score = std::exchange(loss, round.loss) - round.loss;
    round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.rounds.push_back(std::move(round));
    const Watch off(context, false);  // a round that is finished is reported
    if (after_round && !after_round(result, booster.scores())) break;
  }
  return result;
}

Grid<double> refitted_scores(const StumpPool& pool, const Classes& classes,
                             const std::vector<double>& weights, std::span<const JointBoostRound> rounds,
                             const Context& context) {
  JointBooster booster(pool, classes, weights, context.threads);
  for (JointBoostRound round : rounds) {
    booster.refit(round);
    booster.add(round);
  }
  return booster.scores();
}

}  // namespace sharelearn
