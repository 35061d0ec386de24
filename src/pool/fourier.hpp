// Random Fourier features (Rahimi and Recht 2007): D numbers whose products approximate the Gaussian kernel,
//
//   z_a(x) = sqrt(2 / D) cos(omega_a . x + b_a),   E z(x) . z(x') = exp(-|x - x'|^2 / (2 sigma)),
//
// omega_a ~ N(0, 1 / sigma), b_a uniform in [0, 2 pi). All D numbers are one feature of width D. The
// frequencies are drawn again from the seed wherever the feature is computed, so a model stores only four
// numbers.
#pragma once

#include "sharelearn/pool/feature.hpp"

namespace sharelearn {

class FourierFeature : public Feature {
 public:
  /// Reads columns [0, inputs). Throws InputError unless count and sigma are positive.
  FourierFeature(Index inputs, Index count, double sigma, std::uint64_t seed);
  std::string_view pool() const override { return "fourier"; }
  Index width() const override { return count_; }
  /// O(m d D).
  void evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const override;
  nlohmann::json describe(const std::vector<std::string>& names) const override;
  formula::Formula formula() const override;
  std::vector<Index> inputs() const override;
  void write(ByteWriter& out) const override;
  static FeaturePtr read(ByteReader& in, Index columns);

 private:
  /// omega_a[column] for every a. Column j uses random stream j + 1 of the seed; the phases use stream 0.
  std::vector<double> frequencies(Index column) const;
  std::vector<double> phases() const;
  double scale() const;

  Index inputs_, count_;
  double sigma_;
  std::uint64_t seed_;
};

}  // namespace sharelearn
