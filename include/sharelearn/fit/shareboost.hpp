// fit() of ShareBoost ([ShareBoost11], learn/shareboost.hpp) and of its baselines, one against the rest and
// JointBoost.
#pragma once

#include "sharelearn/fit/fit.hpp"
#include "sharelearn/pool/factory.hpp"

namespace sharelearn {

struct ShareBoostFit {
  static constexpr std::string_view name = "shareboost";
  static constexpr std::string_view summary =
      "Few features, shared by all classes, chosen one by one; all weights are refitted after each";

  CommonFit common = {};
  std::optional<std::string> loss = {};
  std::optional<double> epsilon = {};
  std::optional<Index> features = {};
  std::optional<double> surplus = {};
  std::optional<bool> exchange = {};
  std::optional<double> validation = {};
  std::optional<Index> patience = {};
  std::optional<Index> folds = {};
  std::optional<std::string> choose = {};
  std::optional<std::string> rule = {};
  std::optional<Index> shortlist = {};
  std::optional<std::string> per_round = {};
  std::optional<bool> diverse = {};
  std::optional<double> sample = {};
  std::optional<std::vector<std::vector<std::string>>> groups = {};  ///< columns by name or number
  std::optional<std::vector<double>> costs = {};
  std::optional<double> ridge = {};
  std::optional<double> smooth_l1 = {};
  std::optional<double> smooth_l1linf = {};
  std::optional<double> beta = {};
  std::optional<double> round_tolerance = {};
  std::optional<Index> deform = {};
  PoolOptions pool = {};
  /// A model of the same data and options, but fewer features, to go on from. Needs `pool` columns.
  std::shared_ptr<const Model> start = nullptr;
};
FieldTable fields(ShareBoostFit& options);
Fitted fit(const FitData& data, const ShareBoostFit& options, const Context& context,
           const FitObserver& after_round = {});

/// One against the rest: every class chooses features of its own.
struct OneVsRestFit {
  static constexpr std::string_view name = "onevsrest";
  static constexpr std::string_view summary = "Each class against the rest, with features of its own";

  CommonFit common = {};
  std::optional<Index> features = {};
  std::optional<Index> folds = {};
  std::optional<std::string> choose = {};
  std::optional<double> ridge = {};
  PoolOptions pool = {};
};
FieldTable fields(OneVsRestFit& options);
Fitted fit(const FitData& data, const OneVsRestFit& options, const Context& context,
           const FitObserver& after_round = {});

struct JointBoostFit {
  static constexpr std::string_view name = "jointboost";
  static constexpr std::string_view summary =
      "Boosted stumps (rules with one threshold), each shared by a set of classes";

  CommonFit common = {};
  std::optional<Index> rounds = {};
  std::optional<Index> folds = {};
  std::optional<std::string> choose = {};
  std::optional<Index> bins = {};
};
FieldTable fields(JointBoostFit& options);
Fitted fit(const FitData& data, const JointBoostFit& options, const Context& context,
           const FitObserver& after_round = {});

}  // namespace sharelearn
