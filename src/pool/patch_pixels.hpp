// Converts grey values to the templates' input: 7 bits, and deskewed where the frame asks for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pool/patch_feature.hpp"

namespace sharelearn {

/// The converter of one thread.
class PatchPixels {
 public:
  explicit PatchPixels(const PatchFrame& frame);

  /// Converts whole images, row-major, to 0..127, rounded. Values outside the frame's range are clipped.
  void convert(std::span<const float> values, std::uint8_t* out);
  /// The same for bytes; the range is 0..255.
  void convert(std::span<const std::uint8_t> values, std::uint8_t* out);

 private:
  void straighten(std::uint8_t* images, std::size_t pixels);
  void straighten_one(std::uint8_t* image);

  PatchFrame frame_;
  std::vector<std::uint8_t> row_;  // one row with as many zeros before and after it
};

}  // namespace sharelearn
