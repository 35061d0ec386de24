#include "pool/masks.hpp"

#include <cmath>

namespace sharelearn {
namespace {

constexpr double kReferenceSide = 28;  // lengths in the options are pixels of an image of this side

/// Profile `index` of the grid, along an axis of `side` pixels.
MaskProfile make_profile(Index side, Index size, const MaskOptions& options, Index index) {
  const double unit = static_cast<double>(side) / kReferenceSide;
  const double offset = static_cast<double>(index) - static_cast<double>(options.grid - 1) / 2;
  const double centre = static_cast<double>(side - 1) / 2 + offset * options.spacing * unit;
  MaskProfile profile;
  for (Index position = 0; position + size <= side; ++position) {
    const double middle = static_cast<double>(position) + static_cast<double>(size - 1) / 2;
    const double distance = (middle - centre) / (options.sigma * unit);
    const double value = std::exp(-distance * distance / 2);
    profile.push_back(static_cast<std::int16_t>(value < options.support ? 0 : std::lround(32767 * value)));
  }
  return profile;
}

}  // namespace

MaskGrid make_masks(const ImageShape& shape, Index size, const std::vector<MaskOptions>& options) {
  MaskGrid result;
  for (const MaskOptions& set : options) {
    const auto first_row = static_cast<Index>(result.rows.size());
    const auto first_column = static_cast<Index>(result.columns.size());
    for (Index i = 0; i < set.grid; ++i) {
      result.rows.push_back(make_profile(shape.height, size, set, i));
      result.columns.push_back(make_profile(shape.width, size, set, i));
    }
    for (Index y = 0; y < set.grid; ++y) {
      for (Index x = 0; x < set.grid; ++x) result.masks.push_back({first_row + y, first_column + x});
    }
  }
  return result;
}

ProfileRange range_of(const MaskProfile& profile) {
  ProfileRange range{0, static_cast<Index>(profile.size())};
  while (range.begin < range.end && profile[static_cast<std::size_t>(range.begin)] == 0) ++range.begin;
  while (range.end > range.begin && profile[static_cast<std::size_t>(range.end - 1)] == 0) --range.end;
  return range;
}

}  // namespace sharelearn
