// What `fit gradboost` and `fit adaboost` share: options, paths, cross-validation, model and report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "method.hpp"
#include "pool_options.hpp"
#include "sharelearn/learn/structural.hpp"
#include "structural_target.hpp"

namespace sharelearn::cli {

class StructuralMethod : public Method {
 public:
  void declare(OptionSet& options) override;
  FitResult fit(FitInput& input) override;
  std::vector<NamedPath> own_inputs() const override { return {{"--cost", cost_file_}}; }
  ScalingKind default_scaling() const override { return scaling_for(pool_); }

 protected:
  /// The paper's row update of the method.
  virtual std::shared_ptr<RowUpdate> row_update(const Loss& loss, const Penalty& penalty) const = 0;
  virtual std::vector<std::string> penalties() const = 0;

  std::string loss_ = "multiclass";
  std::string penalty_ = "l1l2";
  std::string solver_ = "fast";
  bool sequential_ = false;

 private:
  std::unique_ptr<Pool> build_pool(const Matrix& x, const StructuralLabels& labels,
                                   const FitInput& input) const;
  /// Throws InputError on options that would be ignored, or could fail only after a long run.
  void check(const FitInput& input) const;
  double tolerance(const FitInput& input) const;
  StructuralOptions learner_options(const FitInput& input, const Loss& loss, const Penalty& penalty,
                                    const Pool& pool) const;
  /// One solution, whose rounds are reported, instead of a path.
  bool is_single() const { return lambda_ || penalty_ == "none"; }
  std::vector<double> lambdas(double lambda_max) const;
  Index choose_by_folds(const FitInput& input, const StructuralLabels& labels,
                        const std::vector<double>& grid, nlohmann::json& report) const;
  /// The path and its errors, stage by stage; those on the test set if there is one.
  struct Solved {
    std::vector<double> grid;
    StructuralResult result;
    std::vector<nlohmann::json> train_errors, test_errors;
  };
  Solved solve(const FitInput& input, const StructuralLabels& labels, const Scaling& scaling,
               nlohmann::json& report) const;

  std::optional<double> lambda_;
  Index path_ = 50;
  double path_min_ = 0.01;
  PoolOptions pool_;
  Index degree_ = 2;
  Index induce_ = 0;
  Index rounds_ = 0;
  double epsilon_ = 0.1;
  std::string cost_file_;
  int folds_ = 0;
  std::string select_ = "error";
  bool one_standard_error_ = true;
};

}  // namespace sharelearn::cli
