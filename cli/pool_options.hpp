// The options of pools, declared the same way for every method that has a pool.
#pragma once

#include "options.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn::cli {

/// Adds --pool and the options of each pool; their values land in `pool`.
void declare_pool(OptionSet& options, PoolOptions& pool);

/// What --scale is unless named. Grey values are left as they are: scaling each pixel by itself would tear
/// the images apart.
ScalingKind scaling_for(const PoolOptions& pool);

}  // namespace sharelearn::cli
