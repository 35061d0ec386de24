// The options of pools, declared the same way for every method that has a pool.
#pragma once

#include "options.hpp"
#include "sharelearn/data/scaling.hpp"
#include "sharelearn/pool/factory.hpp"

namespace sharelearn::cli {

/// Adds --pool and the options of each pool; their values land in `pool`.
void declare_pool(OptionSet& options, PoolOptions& pool);

/// What --scale is unless named. Grey values are left as they are: scaling each pixel by itself would tear
/// the images apart.
ScalingKind scaling_for(const PoolOptions& pool);

/// --features as asked for, or `usual` and not more than there are candidates where nobody asked (0). Throws
/// InputError if it asks for more.
Index feature_count(Index asked, Index usual, Index candidates);

}  // namespace sharelearn::cli
