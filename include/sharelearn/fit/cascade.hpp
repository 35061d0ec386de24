// fit() of the regularisation cascade ([ZweigWeinshall13], learn/cascade.hpp) and of its baseline, the
// tree-guided group lasso.
#pragma once

#include "sharelearn/fit/fit.hpp"

namespace sharelearn {

/// How the rows of a joint learner are derived from the data set.
struct JointRows {
  std::optional<Index> fourier = {};  ///< random Fourier features
  std::optional<double> sigma = {};
  std::optional<Index> negatives = {};
};

struct CascadeFit {
  static constexpr std::string_view name = "cascade";
  static constexpr std::string_view summary =
      "A cascade of models, from features shared by all classes or tasks to features of single ones";
  CommonFit common = {};
  std::optional<std::string> loss = {};
  std::optional<Index> levels = {};
  std::optional<std::vector<double>> phi = {}, mix = {};  ///< one value per level
  std::optional<double> ridge = {};
  std::optional<double> epsilon = {};           ///< of the insensitive loss
  std::optional<std::string> task_weight = {};  ///< rows or equal
  std::optional<double> smoothing = {};
  std::optional<bool> anneal = {};
  std::optional<Index> max_iterations = {};
  std::optional<Index> folds = {};
  std::optional<std::string> choose = {};
  std::optional<std::vector<double>> phi_scales = {};
  JointRows rows = {};
};
FieldTable fields(CascadeFit& options);
Fitted fit(const FitData& data, const CascadeFit& options, const Context& context,
           const FitObserver& after_round = {});

struct TreeLassoFit {
  static constexpr std::string_view name = "treelasso";
  static constexpr std::string_view summary =
      "Group lasso over a tree of classes or tasks: related ones share features";
  CommonFit common = {};
  std::optional<std::string> loss = {};
  std::optional<std::string> tree = {};  ///< cluster, random, or the text of a tree (learn/output_tree.hpp)
  std::optional<double> lambda = {};
  std::optional<double> smoothing = {};
  std::optional<Index> folds = {};
  std::optional<std::string> choose = {};
  JointRows rows = {};
};
FieldTable fields(TreeLassoFit& options);
Fitted fit(const FitData& data, const TreeLassoFit& options, const Context& context,
           const FitObserver& after_round = {});

}  // namespace sharelearn
