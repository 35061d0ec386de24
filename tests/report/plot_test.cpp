#include "sharelearn/report/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sharelearn {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(to_svg, is_a_whole_document_with_titles_and_names) {
  const Plot plot{
      "Error & features", "features", "error <%>", false, false, {{"ours", {1, 2, 3}, {9, 5, 4}}}};
  const std::string svg = to_svg(plot);
  EXPECT_EQ(svg.find("<svg "), 0U);
  EXPECT_NE(svg.find("</svg>\n"), std::string::npos);
  EXPECT_NE(svg.find("Error &amp; features"), std::string::npos);
  EXPECT_NE(svg.find("error &lt;%&gt;"), std::string::npos);
  EXPECT_NE(svg.find(">ours<"), std::string::npos);
}

TEST(to_svg, breaks_the_line_at_values_it_cannot_show) {
  const double nan = std::nan("");
  const Plot plot{"", "", "", false, true, {{"", {1, 2, 3, 4, 5}, {1, 2, nan, 0, 10}}}};
  EXPECT_EQ(count(to_svg(plot), "<circle"), 3U);
  EXPECT_EQ(count(to_svg(plot), "nan"), 0U);
}

TEST(to_svg, draws_something_for_empty_constant_and_extreme_data) {
  const double huge = std::numeric_limits<double>::infinity();
  for (const Plot& plot : {Plot{}, Plot{"", "", "", false, false, {{"a", {1}, {5}}}},
                           Plot{"", "", "", true, true, {{"a", {-1, 0}, {0, -2}}}},
                           Plot{"", "", "", false, false, {{"a", {1, 2}, {huge, 3}}}},
                           Plot{"", "", "", true, true, {{"a", {1e-9, 1e9}, {1e-300, 1e300}}}}}) {
    const std::string svg = to_svg(plot);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
    EXPECT_EQ(count(svg, "inf"), 0U);
  }
}

TEST(to_svg, tells_series_apart_by_colour_and_dash) {
  Plot plot;
  for (int i = 0; i < 3; ++i) plot.series.push_back({"s", {1, 2}, {1.0 * i, 2}, i == 1});
  const std::string svg = to_svg(plot);
  EXPECT_NE(svg.find("#0b62a4"), std::string::npos);
  EXPECT_NE(svg.find("#d95f02"), std::string::npos);
  EXPECT_NE(svg.find("stroke-dasharray=\"7 5\""), std::string::npos);
}

}  // namespace
}  // namespace sharelearn
