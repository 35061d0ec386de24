// Weights of candidates that were chosen before, under several ridges.
#pragma once

#include <span>
#include <vector>

#include "sharelearn/learn/shareboost.hpp"

namespace sharelearn {

/// For each of `ridges` the weights of the last stage's candidates that minimise the loss plus this ridge;
/// the other penalties of `options` stay. Every solution starts from the one before it, so that ridges in
/// order are a path. Ends early if cancelled.
std::vector<ShareBoostStage> refit_along(std::span<const double> ridges, const ShareBoostResult& path,
                                         const Pool& pool, const Loss& loss, const ShareBoostOptions& options,
                                         const Context& context);

}  // namespace sharelearn
