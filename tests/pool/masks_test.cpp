#include "pool/masks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sharelearn {
namespace {

TEST(Masks, a_grid_of_four_has_its_centres_at_the_middle_plus_minus_half_and_three_halves_of_the_spacing) {
  const MaskGrid grid = make_masks({28, 28}, 7, {{.grid = 4, .spacing = 5, .sigma = 6}});
  ASSERT_EQ(grid.rows.size(), 4u);
  ASSERT_EQ(grid.masks.size(), 16u);
  for (std::size_t i = 0; i < 4; ++i) {
    const double centre = 13.5 - 7.5 + 5 * static_cast<double>(i);
    ASSERT_EQ(grid.rows[i].size(), 22u);
    for (std::size_t p = 0; p < 22; ++p) {
      const double distance = static_cast<double>(p) + 3 - centre;
      EXPECT_NEAR(grid.rows[i][p] / 32767.0, std::exp(-distance * distance / 72), 1e-4);
    }
  }
}

TEST(Masks, support_cuts_where_the_profile_is_low) {
  const MaskGrid grid = make_masks({28, 28}, 7, {{.grid = 4, .spacing = 5, .sigma = 6, .support = 0.5}});
  const ProfileRange inner = range_of(grid.columns[1]);
  EXPECT_EQ(inner.end - inner.begin, 15);
  for (const auto& profile : grid.rows) {
    EXPECT_TRUE(std::ranges::all_of(profile, [](int v) { return v == 0 || v >= 16383; }));
  }
}

TEST(Masks, sets_of_different_widths_add_up_and_scale_with_the_image) {
  const MaskGrid grid = make_masks({56, 28}, 5, {{.grid = 3, .sigma = 4}, {.grid = 1, .sigma = 8}});
  EXPECT_EQ(grid.masks.size(), 10u);
  EXPECT_EQ(grid.masks.back().row_profile, 3);
  const double distance = (2 - (27.5 - 10)) / 8;
  EXPECT_NEAR(grid.rows[0][0] / 32767.0, std::exp(-distance * distance / 2), 1e-4);
}

TEST(Masks, the_range_of_a_zero_profile_is_empty) {
  const ProfileRange range = range_of({0, 0, 0});
  EXPECT_EQ(range.begin, range.end);
}

}  // namespace
}  // namespace sharelearn
