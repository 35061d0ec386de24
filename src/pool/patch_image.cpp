#include "pool/patch_image.hpp"

#include <algorithm>
#include <cmath>

namespace sharelearn {
namespace {

constexpr std::size_t kSpare = 16;  // elements that the kernel may read and write beyond the last position

}  // namespace

PatchImage::PatchImage(const PatchFrame& frame, Index size, std::vector<MaskProfile> planes)
    : shape_(frame.shape), size_(size), epsilon_(frame.epsilon), planes_(std::move(planes)) {
  constexpr Index tile = kernels::kPositionTile;
  const Index width = (positions_x() + tile - 1) / tile * tile + tile;
  const auto plane = static_cast<std::size_t>(positions_y() * width);
  contrast_.assign(plane + kSpare, 0);
  factors_.assign(plane * planes_.size(), 0);
  blank_.assign(plane + kSpare, 1);
  sum_.resize(static_cast<std::size_t>(shape_.width) + kSpare);
  square_.resize(sum_.size());
  spread_.resize(static_cast<std::size_t>(positions_x()) + kSpare);
  prepared_ = {nullptr, shape_.width, factors_.data(), blank_.data(), positions_y(), width};
}

const kernels::PreparedImage& PatchImage::prepare(const std::uint8_t* pixels) {
  prepared_.pixels = pixels;
  fill_contrast(pixels);
  const Index width = prepared_.width;
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    for (Index y = 0; y < positions_y(); ++y) {
      const std::int16_t profile = planes_[p][static_cast<std::size_t>(y)];
      if (profile == 0) continue;
      kernels::scale_factors(contrast_.data() + y * width, profile, width,
                             factors_.data() + (static_cast<Index>(p) * positions_y() + y) * width);
    }
  }
  return prepared_;
}

/// Sums and sums of squares over the template's rows are kept per column and updated from one image row to
/// the next.
void PatchImage::fill_contrast(const std::uint8_t* pixels) {
  std::ranges::fill(sum_, 0);
  std::ranges::fill(square_, 0);
  for (Index y = 0; y < shape_.height; ++y) {
    const std::uint8_t* out = y < size_ ? nullptr : pixels + (y - size_) * shape_.width;
    kernels::move_sums(pixels + y * shape_.width, out, shape_.width, sum_.data(), square_.data());
    if (y + 1 < size_) continue;
    fill_contrast_row(y + 1 - size_);
    fill_blank(y + 1 - size_);
  }
}

void PatchImage::fill_contrast_row(Index y) {
  const auto full = static_cast<float>(kernels::kFullPixel);
  const auto epsilon = static_cast<float>(epsilon_);
  const float unit =
      epsilon > 0 ? 1.0f / (static_cast<float>(size_ * size_) * full * full * epsilon * epsilon) : 0.0f;
  std::int16_t* out = contrast_.data() + y * prepared_.width;
  kernels::contrast_row(sum_.data(), square_.data(), size_, unit, positions_x(), spread_.data(), out);
  std::fill_n(out + positions_x(), prepared_.width - positions_x(), std::int16_t{0});
}

void PatchImage::fill_blank(Index y) {
  // Nothing is computed beyond the last position.
  std::fill_n(spread_.data() + positions_x(), kernels::kPositionTile, 0.0f);
  kernels::blank_row(spread_.data(), positions_x(), blank_.data() + y * prepared_.width);
}

void append_padded(const MaskProfile& profile, Index width, std::vector<std::int16_t>& out) {
  out.insert(out.end(), profile.begin(), profile.end());
  out.resize(out.size() + static_cast<std::size_t>(width) - profile.size(), 0);
}

}  // namespace sharelearn
