#include "export/raw_threshold.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace sharelearn {
namespace {

/// The floats in ascending order as integers.
std::int64_t rank_of(float v) {
  const auto bits = std::bit_cast<std::int32_t>(v);
  return bits >= 0 ? bits : std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits;
}
float float_at(std::int64_t rank) {
  const auto bits = rank >= 0 ? rank : std::int64_t{std::numeric_limits<std::int32_t>::min()} - rank;
  return std::bit_cast<float>(static_cast<std::int32_t>(bits));
}

}  // namespace

float raw_threshold(const Scaling& scaling, Index column, double threshold) {
  const float most = std::numeric_limits<float>::max();
  std::int64_t low = rank_of(-most), high = rank_of(most) + 1;  // high: infinity
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const double scaled = scaling.apply(float_at(middle), column);
    if (scaled < threshold) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return float_at(low);
}

}  // namespace sharelearn
