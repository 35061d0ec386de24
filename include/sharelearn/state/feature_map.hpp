// Class-specific feature maps phi(x, r) of shared hypotheses: how the mean p of a class transforms an
// example.
#pragma once

#include <cmath>
#include <string_view>

namespace sharelearn {

enum class MapKind {
  product,    ///< x_i p_i (eq. 4)
  frequency,  ///< high_value where p_i >= high, low_value where p_i <= low, else 0; only where x_i is not 0
              ///< (eq. 10)
  difference  ///< |x_i - p_i|
};
MapKind map_from(std::string_view name);
std::string_view name_of(MapKind kind);

struct FeatureMap {
  MapKind kind = MapKind::product;
  double high = 0.2;      ///< frequency: a word in at least this share of the class's examples is typical
  double low = 0.02;      ///< frequency: a word in at most this share is foreign
  double high_value = 2;  ///< phi of a typical word
  double low_value = -1;  ///< phi of a foreign word

  bool operator==(const FeatureMap&) const = default;
  /// One coordinate: value x, class mean p.
  double operator()(double x, double p) const {
    switch (kind) {
      case MapKind::product:
        return x * p;
      case MapKind::frequency:
        return x == 0 ? 0 : p >= high ? high_value : p <= low ? low_value : 0;
      default:
        return std::fabs(x - p);
    }
  }
  /// True if phi is 0 wherever x is 0, so that a sparse example costs its nonzeros only.
  bool sparse() const { return kind != MapKind::difference; }
};

}  // namespace sharelearn
