// The majority vote of the three nearest training images.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn::reproduce {

/// The label of each row of `test`: that of at least two of its three nearest rows of `known`, or of the
/// nearest one if all three differ. Equal distances: the lower row is nearer. O(rows^2 d).
std::vector<std::int32_t> nearest_neighbours(const DenseView& known, const std::vector<std::int32_t>& labels,
                                             const DenseView& test, ThreadPool& threads);

}  // namespace sharelearn::reproduce
