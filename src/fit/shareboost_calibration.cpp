#include "fit/shareboost_calibration.hpp"

#include <algorithm>
#include <numeric>

#include "data/to_size.hpp"
#include "fit/calibration.hpp"
#include "fit/ridge_choice.hpp"
#include "learn/refit.hpp"
#include "sharelearn/data/split.hpp"

namespace sharelearn {
namespace {

/// Scores of split.test by a model that chose its features without these rows, too. Rounds that only choose
/// are solved loosely.
std::optional<Grid<double>> scores_relearned(const ShareBoostFit& o, const Dataset& train,
                                             const Target& target, Index features, const Split& split,
                                             const Context& context) {
  ShareBoostProblem part(o, Rows(select_rows(train, split.train)), target, context);
  ShareBoostOptions& options = part.options;
  options.features = std::min(options.features, features);
  options.penalty.ridge *=
      static_cast<double>(copies_of(train) * (1 + *o.deform)) / static_cast<double>(copies_of(*part.rows));
  options.corrective.tolerance = std::max(options.corrective.tolerance, kCompareTolerance);
  options.last->tolerance = options.corrective.tolerance;
  options.corrective.relative_gradient = std::max(options.corrective.relative_gradient, kGuideTolerance);
  const ShareBoostResult path = shareboost(*part.pool, *part.loss, options, context);
  if (context.cancelled()) return std::nullopt;
  return model_of(path, part)->scores(select_rows(train, split.test), context.threads);
}

/// Scores of split.test with the weights that the other rows give to the chosen features. Columns depend
/// little on a fifth of the rows: to choose them again would cost time and change nothing.
Grid<double> scores_left_out(const ShareBoostFit& o, const ShareBoostProblem& problem,
                             const ShareBoostResult& path, const Split& split, const Context& context) {
  const Index images = problem.rows->rows() / (1 + *o.deform);  // copies follow, in the same order
  std::vector<double> weights = weights_for(o, *problem.rows, problem.target);
  const double kept = leave_out(split.test, weights, images);
  ShareBoostOptions options = problem.options;
  options.penalty.ridge /= kept;  // as strong beside the sum of the losses as on all rows
  options.corrective = *options.last;
  options.corrective.tolerance = std::max(options.corrective.tolerance, kCompareTolerance);
  const std::unique_ptr<Loss> loss = loss_for(o, problem.target, std::move(weights));
  const Grid<double> all = refitted_scores(*loss, path, *problem.pool, options, context);
  const bool two_classes = problem.target.kind == TargetKind::two_classes;
  Grid<double> scores(std::ssize(split.test), two_classes ? 2 : all.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index c = 0; c < all.cols(); ++c) {
      scores(i, c + (two_classes ? 1 : 0)) = all(split.test[to_size(i)], c);
    }
  }
  return scores;
}
}  // namespace

void calibrate_model(const ShareBoostFit& o, const ShareBoostProblem& problem, const ShareBoostResult& path,
                     const Context& context, Fitted& fitted) {
  const auto& model = static_cast<const LinearModel&>(*fitted.model);
  const ShareBoostResult used = up_to(path, model.stage);
  std::optional<Dataset> images;  // without their deformed copies
  if (*o.deform > 0) {
    std::vector<Index> first(to_size(problem.rows->rows() / (1 + *o.deform)));
    std::iota(first.begin(), first.end(), Index{0});
    images = select_rows(*problem.rows, first);
  }
  const Dataset& train = images ? *images : *problem.rows;
  calibrate(fitted, o.common, train, context, [&](const Split& split) -> std::optional<Grid<double>> {
    if (*o.pool.name == "columns") return scores_left_out(o, problem, used, split, context);
    return scores_relearned(o, train, problem.target, std::ssize(used.chosen), split, context);
  });
}

}  // namespace sharelearn
