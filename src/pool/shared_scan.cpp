#include "pool/shared_scan.hpp"

#include <algorithm>
#include <mutex>

#include "data/complete.hpp"

namespace sharelearn {

RowRange correlate_part(const Pool& pool, Grid<float>& residual, std::span<const Index> blocks,
                        ThreadPool& threads, const BlockVisitor& visit) {
  complete(residual, threads);
  RowRange seen{pool.candidates(), 0};
  std::mutex mutex;
  const auto note = [&](const CandidateBlock& block, int worker) {
    visit(block, worker);
    const std::lock_guard lock(mutex);
    seen.begin = std::min(seen.begin, block.first);
    seen.end = std::max(seen.end, block.first + block.count);
  };
  if (blocks.empty()) {
    pool.correlate(residual, threads, note);
  } else {
    pool.correlate_some(residual, blocks, threads, note);
  }
  return seen;
}

}  // namespace sharelearn
