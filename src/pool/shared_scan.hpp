// Scoring all candidates of a pool where ranks share rows: the residual is made whole, and ranks divide the
// candidates. So the sums of a candidate are those of a single process, whatever the kind of pool.
#pragma once

#include <span>

#include "run/ranks.hpp"
#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

/// Pool::correlate(), or correlate_some() if there are `blocks`, of this rank's part of the candidates, which
/// are returned. `residual`: this rank's rows; it is completed.
RowRange correlate_part(const Pool& pool, Grid<float>& residual, std::span<const Index> blocks,
                        ThreadPool& threads, const BlockVisitor& visit);

/// What each rank computed for its candidates, `width` numbers each, made known to all.
template <class T>
void share_candidates(std::span<T> values, Index width, RowRange own, Collective& ranks) {
  if (ranks.ranks() == 1) return;
  std::vector<std::int64_t> ends = gather_all(std::span<const Index>(&own.end, 1), ranks);
  std::int64_t last = 0;
  for (std::int64_t& end : ends) end = last = std::max(last, end * width * static_cast<Index>(sizeof(T)));
  ranks.gather(std::as_writable_bytes(values), ends);
}

}  // namespace sharelearn
