// sharelearn fit treelasso: the tree-guided group lasso, a baseline of the cascade's paper.
#include <fmt/core.h>

#include "cascade_support.hpp"
#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/learn/output_tree.hpp"
#include "sharelearn/learn/phi_search.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

class TreeLassoMethod : public Method {
 public:
  std::string_view name() const override { return "treelasso"; }
  std::string_view summary() const override {
    return "Tree-guided group lasso: features shared by the subtrees of a tree of classes or tasks";
  }
  void declare(OptionSet& options) override {
    options.add_choice("--loss", loss_,
                       {"multiclass-hinge", "multiclass-logistic", "multitask-hinge", "multitask-logistic"},
                       "Loss, as in fit cascade");
    options.add("--tree", tree_,
                "cluster (agglomerative clustering of the outputs), random, or a file of lines 'node height "
                "child ...'");
    CLI::Option* lambda = options.add("--lambda", lambda_, "Weight of the penalty")
                              ->check(non_negative())
                              ->default_str("chosen by cross-validation");
    options.add("--smoothing", smoothing_, "mu of the smoothed hinge")->check(positive());
    options.add("--folds", folds_, "Folds of the cross-validation of lambda")
        ->check(between(2, 100))
        ->excludes(lambda);
    joint_.declare(options);
  }
  FitResult fit(FitInput& input) override;
  std::vector<NamedPath> own_inputs() const override {
    if (tree_ == "cluster" || tree_ == "random") return {};
    return {{"--tree", tree_}};
  }

 private:
  OutputTree tree_over(const MultiOutputData& data, std::uint64_t seed) const;

  std::string loss_ = "multitask-hinge", tree_ = "cluster";
  double lambda_ = -1, smoothing_ = 0.5;
  int folds_ = 5;
  JointInput joint_;
};

OutputTree TreeLassoMethod::tree_over(const MultiOutputData& data, std::uint64_t seed) const {
  if (tree_ == "cluster") return clustered_tree(data);
  if (tree_ == "random") return random_tree(data.outputs(), seed);
  const std::vector<char> bytes = read_bytes(tree_, Index{1} << 30);
  return parse_output_tree({bytes.begin(), bytes.end()}, data.names, tree_);
}

FitResult TreeLassoMethod::fit(FitInput& input) {
  CascadeOptions options;
  options.loss = joint_loss_from(loss_);
  options.levels = 1;
  options.mix = {0};
  options.smoothing = smoothing_;
  options.bias = input.common.bias;
  if (input.common.tolerance > 0) options.tolerance = input.common.tolerance;
  const bool multiclass = is_multiclass(options.loss);
  const DesignSource source = joint_.prepare(input, default_scaling());
  const MultiOutputData data = joint_.training_data(input, multiclass);
  options.penalty = std::make_shared<TreeGroup>(tree_over(data, input.context.seed));
  nlohmann::json report;
  if (lambda_ >= 0) {
    options.phi = {lambda_};
  } else {
    check_folds(folds_, data.rows());
    const PhiSearch search = cross_validate_phi(data, options, {}, folds_, input.context);
    options.phi = search.phi;
    for (const PhiTrial& trial : search.trials) {
      report["cross_validation"].push_back({{"lambda", trial.phi[0]}, {"error", 1 - trial.accuracy}});
    }
  }
  const Cascade cascade = fit_cascade(data, options, input.context);
  warn_of_levels(cascade, options.tolerance, input.context.monitor);
  const OutputKind kind = multiclass ? OutputKind::classes : OutputKind::tasks;
  auto model = cascade_model(increments_of(cascade), data.names, kind, source);
  model->task_labels = data.task_labels;
  std::optional<MultiOutputData> held_out;
  if (input.test) {
    held_out = joint_data(std::move(*input.test), multiclass, &data.names, data.task_labels);
  }
  report["rounds"] =
      level_reports(cascade, data, held_out ? &*held_out : nullptr, *model, input.context.threads);
  report["lambda"] = options.phi[0];
  finish_report(report, *model);
  if (input.common.shows_tables()) print_levels(report);
  return {model, report, {{"lambda", options.phi[0]}, {"tolerance", options.tolerance}}};
}

}  // namespace

std::unique_ptr<Method> treelasso_method() {
  return std::make_unique<TreeLassoMethod>();
}

}  // namespace sharelearn::cli
