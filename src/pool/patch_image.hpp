// An image prepared for the template kernel: 7-bit pixels, local contrast, factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_response.hpp"
#include "pool/masks.hpp"
#include "pool/patch_feature.hpp"
#include "sharelearn/data/image.hpp"

namespace sharelearn {

/// The tables of one image for one template size.
class PatchImage {
 public:
  /// `planes`: the mask profiles along y to compute factors for.
  PatchImage(const PatchFrame& frame, Index size, std::vector<MaskProfile> planes);

  PatchImage(PatchImage&&) noexcept = default;  // moving keeps the tables at their addresses
  PatchImage(const PatchImage&) = delete;

  /// Takes shape.pixels() 7-bit pixels, row-major, followed by 32 readable bytes. The pixels must stay valid
  /// while the tables are used.
  const kernels::PreparedImage& prepare(const std::uint8_t* pixels);

  /// The tables for windows.
  kernels::PairedImage paired(const std::uint8_t* pairs, const std::uint8_t* turned) const {
    return {pairs, turned, shape_.width, shape_.height, contrast_.data(), blank_.data(), prepared_.width};
  }

  Index width() const { return prepared_.width; }
  Index positions_x() const { return shape_.width - size_ + 1; }
  Index positions_y() const { return shape_.height - size_ + 1; }
  Index size() const { return size_; }

 private:
  void fill_contrast(const std::uint8_t* pixels);
  void fill_contrast_row(Index y);
  void fill_blank(Index y);

  ImageShape shape_;
  Index size_;
  double epsilon_;
  std::vector<MaskProfile> planes_;
  std::vector<std::int32_t> sum_, square_;  // per image column, over the template's rows
  std::vector<float> spread_;               // |p - mean|^2 at one row of positions
  AlignedVector<std::int16_t> contrast_;    // [y][width]
  AlignedVector<std::int16_t> factors_;
  std::vector<std::uint8_t> blank_;
  kernels::PreparedImage prepared_;
};

/// A profile padded with zeros to the width of a PatchImage.
void append_padded(const MaskProfile& profile, Index width, std::vector<std::int16_t>& out);

}  // namespace sharelearn
