// Geometry of the position masks of image templates ([ShareBoost11], section 7.4): Gaussians on a grid of
// centres, each the product of a profile along y and one along x.
#pragma once

#include <cstdint>
#include <vector>

#include "sharelearn/data/image.hpp"

namespace sharelearn {

struct MaskOptions {
  Index grid = 4;      ///< grid x grid centres
  double spacing = 5;  ///< pixels between neighbouring centres in a 28-pixel image; scaled for other sizes
  double sigma = 6;    ///< width of the Gaussian in pixels, scaled in the same way
  double support = 0;  ///< smaller values of a profile become zero: 0.5 keeps about 15 x 15 positions
};

/// Values of a profile at the positions of a template along one axis, as 15-bit fractions (32767 stands for
/// 1).
using MaskProfile = std::vector<std::int16_t>;

struct Mask {
  Index row_profile = 0;
  Index column_profile = 0;
};

/// All masks of one template size: the profiles, and which pairs of profiles are masks.
struct MaskGrid {
  std::vector<MaskProfile> rows;     ///< along y, each positions_y long
  std::vector<MaskProfile> columns;  ///< along x, each positions_x long
  std::vector<Mask> masks;
};

/// Masks for templates of size x size. Centres lie symmetrically about the middle of the image; the position
/// of a template is that of its middle. The result holds the masks of all given options together (masks of
/// different widths).
MaskGrid make_masks(const ImageShape& shape, Index size, const std::vector<MaskOptions>& options);

/// Positions [begin, end) outside which the profile is zero.
struct ProfileRange {
  Index begin = 0;
  Index end = 0;
};
ProfileRange range_of(const MaskProfile& profile);

}  // namespace sharelearn
