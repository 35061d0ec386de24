// fit() of gradboost and adaboost ([DuchiSinger09], learn/structural.hpp): paths of penalised models, each
// certified.
#pragma once

#include "sharelearn/fit/fit.hpp"
#include "sharelearn/pool/factory.hpp"

namespace sharelearn {

/// Options of both methods.
struct StructuralFit {
  CommonFit common = {};
  std::optional<std::string> loss = {};
  std::optional<std::string> penalty = {};
  std::optional<double> mix = {};
  std::optional<double> lambda = {};
  std::optional<Index> path = {};
  std::optional<double> path_min = {};
  std::optional<Index> max_features = {};
  std::optional<double> refit = {};  ///< ridge of the refit
  std::optional<Index> folds = {};
  std::optional<std::string> select = {};
  std::optional<std::string> choose = {};
  std::optional<double> epsilon = {};
  std::optional<Index> induce = {};
  std::optional<Index> rounds = {};
  std::optional<bool> sequential = {};
  std::optional<std::string> solver = {};
  std::optional<std::vector<double>> cost = {};
  std::optional<std::vector<std::vector<std::string>>> groups = {};  ///< columns by name or number
  std::optional<bool> whole_pieces = {};
  std::optional<Index> degree = {};
  PoolOptions pool = {};
};

struct GradBoostFit : StructuralFit {
  static constexpr std::string_view name = "gradboost";
  static constexpr std::string_view summary =
      "Lasso-type models for many lambdas (l1, l1/l2, l1/linf), each with a proven optimality gap";
};
FieldTable fields(GradBoostFit& options);
Fitted fit(const FitData& data, const GradBoostFit& options, const Context& context,
           const FitObserver& after_round = {});

struct AdaBoostFit : StructuralFit {
  static constexpr std::string_view name = "adaboost";
  static constexpr std::string_view summary =
      "AdaBoost with penalties that also remove features (l1, l1/linf); `sequential`: the classical one";
  std::optional<std::string> update = {};  ///< the template of the paper's update: one, all
};
FieldTable fields(AdaBoostFit& options);
Fitted fit(const FitData& data, const AdaBoostFit& options, const Context& context,
           const FitObserver& after_round = {});

}  // namespace sharelearn
