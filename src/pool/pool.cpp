#include "sharelearn/pool/pool.hpp"

#include <algorithm>

namespace sharelearn {

void Pool::correlate_some(const Grid<float>& residual, std::span<const Index> blocks, ThreadPool& threads,
                          const BlockVisitor& visit) const {
  correlate(residual, threads, [&](const CandidateBlock& block, int worker) {
    if (std::binary_search(blocks.begin(), blocks.end(), block.block)) visit(block, worker);
  });
}

}  // namespace sharelearn
