// The penalties of [DuchiSinger09] on a feature's k weights: l1, l1/l2, l1/linf, squared l2, none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

/// sum_c |w_c|: single weights go to zero. Dual norm: the largest magnitude.
class L1 : public Penalty {
 public:
  std::string_view name() const override { return "l1"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return true; }
  RowNorm row_norm() const override { return RowNorm::l1; }
  ZeroPattern zero_pattern() const override { return ZeroPattern::weights; }
  RowDerivatives derivatives(std::span<const double> row) const override;
  void stop_at_kinks(std::span<const double> before, std::span<double> row) const override;
};

/// |w|_2: whole rows go to zero. Its own dual norm.
class L1L2 : public Penalty {
 public:
  std::string_view name() const override { return "l1l2"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return true; }
  RowNorm row_norm() const override { return RowNorm::l2; }
  ZeroPattern zero_pattern() const override { return ZeroPattern::rows; }
  RowDerivatives derivatives(std::span<const double> row) const override;
};

/// max_c |w_c|: whole rows go to zero, the largest weights of a row are tied. Dual norm: the sum of
/// magnitudes.
class L1Linf : public Penalty {
 public:
  std::string_view name() const override { return "l1linf"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  double dual_norm(std::span<const double> gradient) const override;
  bool is_norm() const override { return true; }
  RowNorm row_norm() const override { return RowNorm::linf; }
  ZeroPattern zero_pattern() const override { return ZeroPattern::rows; }
  RowDerivatives derivatives(std::span<const double> row) const override;
  void stop_at_kinks(std::span<const double> before, std::span<double> row) const override;
};

/// sum_c w_c^2: nothing goes to zero.
class L2Squared : public Penalty {
 public:
  std::string_view name() const override { return "l2sq"; }
  double value(std::span<const double> row) const override;
  void prox(std::span<double> row, double step) const override;
  void scaled_prox(std::span<double> row, std::span<const double> curvature, double lambda) const override;
  double conjugate(std::span<const double> gradient, double lambda) const override;
  double dual_norm(std::span<const double>) const override { return 0; }
  bool is_norm() const override { return false; }
  bool has_dual() const override { return true; }
  ZeroPattern zero_pattern() const override { return ZeroPattern::nothing; }
  RowDerivatives derivatives(std::span<const double> row) const override;
};

class NoPenalty : public Penalty {
 public:
  std::string_view name() const override { return "none"; }
  double value(std::span<const double>) const override { return 0; }
  void prox(std::span<double>, double) const override {}
  void scaled_prox(std::span<double>, std::span<const double>, double) const override {}
  double conjugate(std::span<const double> gradient, double lambda) const override;
  double dual_norm(std::span<const double>) const override { return 0; }
  bool is_norm() const override { return false; }
  RowNorm row_norm() const override { return RowNorm::zero; }
  ZeroPattern zero_pattern() const override { return ZeroPattern::nothing; }
};

/// Names of all penalties: the values of the option `penalty`.
const std::vector<std::string>& penalty_names();
/// Throws InputError on any other name.
std::unique_ptr<Penalty> penalty_from(std::string_view name);

}  // namespace sharelearn
