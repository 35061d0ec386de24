// Ranks all candidates of a pool against a residual by a norm of their gradient.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

/// Norm of a candidate's gradient over the outputs; for a group, the norms of its columns are summed. l1 is
/// the rule of ShareBoost (eqn 7) and the dual of linf; l2 is its own dual; linf is the dual of l1.
enum class Norm { l1, l2, linf };

double norm_of(std::span<const double> values, Norm norm);

struct Ranked {
  Index candidate = 0;
  double score = 0;
};

struct RankOptions {
  Norm norm = Norm::l1;
  Index count = 1;                      ///< how many to return
  std::span<const char> excluded = {};  ///< one entry per candidate, nonzero: never returned; empty: none
  std::span<const double> cost = {};    ///< the score is divided by it; empty: 1
  std::span<const Index> blocks = {};   ///< blocks of the pool to search, ascending; empty: all
  bool exact = true;                    ///< score the leaders again in double precision
};

/// The best `count` candidates, best first; only scores above 0. Ties go to the lowest candidate; scores that
/// agree to eight digits are ties.
/// The pass over the pool is in float32. With `exact` the leaders are scored again in double precision from
/// their own columns, so that the order is that of exact arithmetic. `residual` is rows x outputs.
std::vector<Ranked> rank(const Pool& pool, const Grid<double>& residual, const RankOptions& options,
                         ThreadPool& threads);

/// Exact sums of some candidates, width x outputs each, one after the other.
std::vector<double> exact_sums(const Pool& pool, std::span<const Index> candidates,
                               const Grid<double>& residual, ThreadPool& threads);

}  // namespace sharelearn
