// [ShareBoost11], section 6: the two examples in which features are shared by construction.
#include <fmt/core.h>

#include <string>

#include "experiment.hpp"
#include "generate/generate.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/learn/structural.hpp"
#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "sharelearn/pool/columns.hpp"

namespace sharelearn::reproduce {
namespace {

/// The lambdas of a path: from lambda_max (l2sq: from first_lambda()) down to this fraction.
constexpr Index kLambdas = 60;
constexpr double kLastLambda = 1e-5;

/// A solution whose loss is at most this is accurate (the epsilon of Corollary 1).
constexpr double kAccurate = 0.1;

/// Features of the sparsest solution without a training error, and of the sparsest accurate one; -1: none.
struct Found {
  Index separating = -1, accurate = -1;
  void add(Index features, double error, double loss) {
    const auto take = [&](Index& least) {
      if (least < 0 || features < least) least = features;
    };
    if (error == 0) take(separating);
    if (loss <= kAccurate) take(accurate);
  }
  std::string text() const {
    const auto number = [](Index n) { return n < 0 ? std::string("-") : std::to_string(n); };
    return number(separating) + " / " + number(accurate);
  }
};

Found by_path(const Dataset& data, const Classes& classes, std::string_view name, const Context& context) {
  const std::vector<double> weights(static_cast<std::size_t>(data.rows()),
                                    1 / static_cast<double>(data.rows()));
  const MulticlassLogistic loss(classes.of_row, classes.count(), weights, 1);
  const auto penalty = penalty_from(name);
  ColumnPool pool(data.x);
  StructuralBooster booster(pool, loss, *penalty, {.bias = false, .tolerance = 1e-6}, context);
  Found found;
  for (const double lambda : lambda_grid(booster.first_lambda(), kLambdas, kLastLambda)) {
    const StructuralStage& stage = booster.solve(lambda);
    found.add(std::ssize(stage.columns), error_rate(booster.scores(), classes.of_row), stage.loss);
  }
  return found;
}

Found by_shareboost(const Dataset& data, const Classes& classes, const Context& context) {
  const std::vector<double> weights(static_cast<std::size_t>(data.rows()),
                                    1 / static_cast<double>(data.rows()));
  const MulticlassLogistic loss(classes.of_row, classes.count(), weights, 1);
  ColumnPool pool(data.x);
  ShareBoostOptions options;
  options.features = data.x.cols();
  options.bias = false;
  Found found;
  shareboost(pool, loss, options, context, [&](const ShareBoostResult& path, const Grid<double>& scores) {
    found.add(std::ssize(path.chosen), error_rate(scores, classes.of_row), path.stages.back().report.loss);
    return found.separating < 0 || found.accurate < 0;
  });
  return found;
}

void add_row(Run& run, const std::string& name, const GenerateOptions& options, const std::string& label,
             Table& table) {
  const Dataset data = generate(name, options);
  const Classes classes = classes_of(data);
  std::vector<std::string> row{label, fmt::format("{}", data.x.cols())};
  for (const std::string_view penalty : {"l2sq", "l1", "l1linf"}) {
    row.push_back(by_path(data, classes, penalty, run.context()).text());
  }
  row.push_back(by_shareboost(data, classes, run.context()).text());
  table.add(std::move(row));
}

}  // namespace

void shareboost_examples(Run& run) {
  run.say(
      "Features of the sparsest solution without a training error / with a loss of at most 0.1: of 60 "
      "lambdas, or of the rounds.");
  Table table({"set", "columns", "l2sq", "l1", "l1linf", "ShareBoost"});
  for (const Index classes : {8, 32, 128}) {
    if (run.settings().quick && classes == 128) continue;
    add_row(run, "binary-code", {.classes = classes}, fmt::format("binary code, k = {}", classes), table);
  }
  for (const Index blocks : {4, 8}) {
    add_row(run, "blocks", {.rows = 2000, .classes = 8, .blocks = blocks},
            fmt::format("{} blocks, k = 8, 2,000 rows", blocks), table);
  }
  run.show(table, "shareboost-examples");
  run.say(
      "The paper: binary code: l1 and l2 use k features, ShareBoost and l1linf poly(log k); blocks: l1linf "
      "uses "
      "all blocks, ShareBoost poly(log k) columns.");
}

}  // namespace sharelearn::reproduce
