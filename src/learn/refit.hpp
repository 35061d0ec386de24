// Weights of candidates that were chosen before, under several ridges or another loss.
#pragma once

#include <functional>
#include <span>

#include "sharelearn/learn/shareboost.hpp"

namespace sharelearn {

/// The path up to one of its stages, without the features.
ShareBoostResult up_to(const ShareBoostResult& path, Index stage);

/// For each of `ridges` the weights of the last stage's candidates that minimise the loss plus this ridge;
/// the other penalties of `options` stay. Every solution starts from the one before it, so that ridges in
/// order are a path. Ends where `go_on` returns false, or if cancelled.
void refit_along(std::span<const double> ridges, const ShareBoostResult& path, const Pool& pool,
                 const Loss& loss, const ShareBoostOptions& options, const Context& context,
                 const std::function<bool(const ShareBoostStage& solution)>& go_on);

/// Scores of all rows with the weights of the last stage's candidates that minimise `loss`, over the rows of
/// the pool, plus the penalty of `options`.
Grid<double> refitted_scores(const Loss& loss, const ShareBoostResult& path, const Pool& pool,
                             const ShareBoostOptions& options, const Context& context);

/// Corrects the weights of one stage of the path to the tolerance of `options`, whatever its relative
/// gradient. Returns the scores of all rows.
Grid<double> finish_stage(ShareBoostResult& path, std::size_t stage, const Pool& pool, const Loss& loss,
                          const ShareBoostOptions& options, const Context& context);

}  // namespace sharelearn
