// The path of eqn (5) of paper 000, L(W) + lambda ||W||_{inf,1}: what ShareBoost is compared with.
#pragma once

#include "curves.hpp"

namespace sharelearn::reproduce {

/// Goes down from lambda_max in geometric steps until more than `most` features have a weight, or 40 steps.
Curve mixed_norm_curve(const Problem& problem, const PoolOptions& pool, double most, const Context& context);

}  // namespace sharelearn::reproduce
