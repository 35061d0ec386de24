// Line plots as SVG text: curves of error against features, objective against time, mistakes against
// examples.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sharelearn {

struct Series {
  std::string name;
  std::vector<double> x = {};
  std::vector<double> y = {};
  bool dashed = false;  ///< the paper's figures are dashed, ours solid
  bool points_only = false;
  std::vector<double> bar = {};  ///< half the length of an error bar at each point; empty: none
};

/// A vertical line with a word beside it.
struct Mark {
  double x;
  std::string text;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<Series> series = {};
  std::optional<Mark> mark = {};
};

/// A complete SVG document; series get distinguishable colours and a legend.
std::string to_svg(const Plot& plot);

/// Number of letters of a UTF-8 text as a reader sees them, not of bytes.
std::size_t letters(std::string_view text);

}  // namespace sharelearn
