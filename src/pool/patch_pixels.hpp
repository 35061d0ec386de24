// Grey values as the templates see them: 7 bits, and upright where the frame says so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pool/patch_feature.hpp"

namespace sharelearn {

/// One thread's means to convert images.
class PatchPixels {
 public:
  explicit PatchPixels(const PatchFrame& frame);

  /// Whole images, row-major, to 0..127, rounded; beyond the frame's range they are cut.
  void convert(std::span<const float> values, std::uint8_t* out);
  /// The same from bytes: the range is 0..255.
  void convert(std::span<const std::uint8_t> values, std::uint8_t* out);

 private:
  void straighten(std::uint8_t* images, std::size_t pixels);
  void straighten_one(std::uint8_t* image);

  PatchFrame frame_;
  std::vector<std::uint8_t> row_;  // one row between two as long of nothing
};

}  // namespace sharelearn
