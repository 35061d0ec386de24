#include "fit/structural_folds.hpp"

#include <fmt/core.h>

#include "fit/splits.hpp"
#include "fit/structural_path.hpp"
#include "sharelearn/data/split.hpp"
#include "sharelearn/fit/cross_validate.hpp"

namespace sharelearn {
namespace {

/// Cross-validation extends a path down to this fraction of its first lambda.
constexpr double kLeastLambda = 1e-6;

/// Extends a path downwards in its own steps by half its length.
void extend(std::vector<double>& grid) {
  const double step = grid.back() / grid[grid.size() - 2];
  for (std::size_t more = (grid.size() + 1) / 2; more > 0; --more) grid.push_back(grid.back() * step);
}

/// What `select` compares, at every stage of a path, on rows that were not learned from.
std::vector<double> measures_of(const StructuralFit& o, const StructuralResult& path, const Dataset& test,
                                const StructuralProblem& problem, ThreadPool& threads) {
  const Target target = target_of(test, problem.target.kind, &problem.target);
  std::unique_ptr<Loss> loss;
  if (*o.select == "loss") {
    loss = make_loss(*o.loss, target, weights_for(o, test, target), {.epsilon = o.epsilon.value_or(0)});
  }
  std::vector<double> measures;
  for_scores_of_stages(path, test, problem.scaling, target.outputs(), threads,
                       [&](const Grid<double>& scores) {
                         if (loss) {
                           measures.push_back(evaluate(*loss, scores, nullptr, threads));
                           return;
                         }
                         const Errors errors = errors_of(target, scores, test.weight);
                         measures.push_back(*o.select == "coverage" ? *errors.coverage : errors.error);
                       });
  return measures;
}

}  // namespace

Index choose_by_folds(const StructuralFit& o, const Dataset& train, const Target& target,
                      std::vector<double>& grid, bool may_extend, const MakeRowUpdate& row_update,
                      const Context& context, FitReport& report) {
  check_folds(*o.folds, train.rows());
  const std::vector<Split> splits = folds_for(train, target.strata(train.rows()), *o.folds, context.seed);
  std::vector<std::vector<double>> measured(splits.size());
  const auto measure = [&](std::size_t fold) {
    std::vector<double> known = measured[fold];
    const Dataset part = select_rows(train, splits[fold].train);
    const std::vector<double> rest(grid.begin() + std::ssize(known), grid.end());
    StructuralProblem problem(o, part, &target, row_update, context);
    const StructuralResult path = solutions(o, problem, part, rest, context);
    const std::vector<double> more =
        measures_of(o, path, select_rows(train, splits[fold].test), problem, context.threads);
    known.insert(known.end(), more.begin(), more.end());
    return known;
  };
  const auto choose = [&] {
    const CheckpointStep step(context.checkpoint, fmt::format("path of {}", grid.size()));
    CrossValidation found = cross_validate(splits.size(), measure, choice_from(*o.choose), context);
    measured = found.folds;
    return found;
  };
  CrossValidation result = choose();
  const auto best_is_last = [&] { return grid.size() > 1 && result.best + 1 == grid.size(); };
  while (may_extend && best_is_last() && grid.back() > kLeastLambda * grid.front()) {
    extend(grid);
    result = choose();
  }
  if (best_is_last()) {
    report.warnings.push_back(
        fmt::format("the best lambda of the cross-validation is the last one of the path, {:.6g}: a smaller "
                    "one may be better{}",
                    grid.back(), may_extend ? "" : "; give a smaller `path-min`"));
  }
  report.cross_validation = {{"lambda", grid},
                             {"mean", result.mean},
                             {"standard_error", result.standard_error},
                             {"best", grid[result.best]},
                             {"chosen", grid[result.chosen]}};
  const bool share = *o.select != "coverage" && target.kind != TargetKind::numbers;
  report.choices.push_back(reason_of(result, choice_from(*o.choose), share, [&](std::size_t point) {
    return fmt::format("lambda {:.3g}", grid[point]);
  }));
  return static_cast<Index>(result.chosen);
}

}  // namespace sharelearn
