#include "sharelearn/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

namespace sharelearn {
namespace {

constexpr double kAreaWidth = 560;
constexpr double kAreaHeight = 360;
constexpr double kTop = 46;
constexpr double kBottom = 56;
constexpr double kLegendLine = 22;
constexpr double kLetterWidth = 6.9;  // of the 12 px font, rounded up: names always fit into the picture
constexpr std::size_t kMostMarkers = 40;

// Distinguishable for colour-blind readers, too; neighbours in the list also differ in lightness.
constexpr std::array<const char*, 8> kColours = {"#0b62a4", "#d95f02", "#1b9e77", "#7b3294",
                                                 "#c2185b", "#8c6d1f", "#4d4d4d", "#35a7c2"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// Maps data to pixels along one axis and places the axis's ticks.
class Axis {
 public:
  Axis(double low, double high, bool log, double first_pixel, double last_pixel)
      : log_(log), first_pixel_(first_pixel), last_pixel_(last_pixel) {
    low_ = log ? std::log10(low) : low;
    high_ = log ? std::log10(high) : high;
    if (high_ - low_ < 1e-12 * std::max(1.0, std::abs(high_))) {
      const double room = log ? 0.5 : std::max(0.5, std::abs(high_) * 0.1);
      low_ -= room;
      high_ += room;
    }
    place_ticks();
  }

  bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  double pixel(double value) const { return pixel_of_place(log_ ? std::log10(value) : value); }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double pixel_of_place(double place) const {
    return first_pixel_ + (place - low_) / (high_ - low_) * (last_pixel_ - first_pixel_);
  }

  void place_ticks() {
    if (log_ && high_ - low_ >= 0.9) {
      place_log_ticks();
    } else if (log_) {
      place_linear_ticks(std::pow(10, low_), std::pow(10, high_), false);
    } else {
      place_linear_ticks(low_, high_, true);
    }
  }

  /// About six steps of 1, 2 or 5 times a power of ten; `widen` moves the ends to ticks.
  void place_linear_ticks(double low, double high, bool widen) {
    const double rough = (high - low) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double multiple = rough / power;
    const double step = power * (multiple > 5 ? 10 : multiple > 2 ? 5 : multiple > 1 ? 2 : 1);
    const double first = widen ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9);
    const double last = widen ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
    for (double i = first; i <= last; ++i) ticks_.push_back(i * step);
    if (widen) {
      low_ = first * step;
      high_ = last * step;
    }
  }

  /// Powers of ten, thinned to at most eight; 2 and 5 times them as well where the range is short.
  void place_log_ticks() {
    const double span = high_ - low_;
    const double every = std::max(1.0, std::ceil(span / 8));
    for (double power = std::floor(low_ / every) * every; power <= high_ + 1e-9; power += every) {
      for (const double multiple : {1.0, 2.0, 5.0}) {
        if (multiple > 1 && span > 3) continue;
        const double place = power + std::log10(multiple);
        if (place >= low_ - 1e-9 && place <= high_ + 1e-9) ticks_.push_back(std::pow(10, place));
      }
    }
  }

  bool log_;
  double first_pixel_, last_pixel_;
  double low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

std::string tick_text(double value) {
  if (std::abs(value) < 1e-300) return "0";
  if (std::abs(value) >= 1e6 || std::abs(value) < 1e-4) return fmt::format("{:.3g}", value);
  return fmt::format("{:.6g}", value);
}

/// The smallest and largest value that the axis can show over all series; [0, 1] if there is none.
std::pair<double, double> range_of(const Plot& plot, std::vector<double> Series::*member, bool log) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : plot.series) {
    for (const double value : series.*member) {
      if (!std::isfinite(value) || (log && value <= 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return {log ? 1.0 : 0.0, log ? 10.0 : 1.0};
  return {low, high};
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot), x_(make_x_axis(plot)), y_(make_y_axis(plot)), left_(left_margin()) {}

  std::string text() {
    open();
    grid();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      bars(i);
      curve(i);
    }
    mark();
    if (has_legend()) legend();
    add("</svg>\n");
    return std::move(out_);
  }

 private:
  // Axes count pixels from the corner of the plot area, without the margins.
  static Axis make_x_axis(const Plot& plot) {
    const auto [low, high] = range_of(plot, &Series::x, plot.log_x);
    return Axis(low, high, plot.log_x, 0, kAreaWidth);
  }
  static Axis make_y_axis(const Plot& plot) {
    const auto [low, high] = range_of(plot, &Series::y, plot.log_y);
    return Axis(low, high, plot.log_y, kAreaHeight, 0);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  double left_margin() const {
    std::size_t longest = 1;
    for (const double tick : y_.ticks()) longest = std::max(longest, tick_text(tick).size());
    return 44 + kLetterWidth * static_cast<double>(longest);
  }

  bool has_legend() const {
    return std::any_of(plot_.series.begin(), plot_.series.end(),
                       [](const Series& series) { return !series.name.empty(); });
  }

  double legend_width() const {
    if (!has_legend()) return 24;
    std::size_t longest = 0;
    for (const Series& series : plot_.series) longest = std::max(longest, letters(series.name));
    return 68 + kLetterWidth * static_cast<double>(longest);
  }

  void open() {
    const double title_width = kLetterWidth * 1.3 * static_cast<double>(letters(plot_.title)) + 2 * left_;
    const double width = std::max(left_ + kAreaWidth + legend_width(), title_width);
    const double legend_height = kLegendLine * static_cast<double>(plot_.series.size() + 1);
    const double height = kTop + std::max(kAreaHeight, legend_height) + kBottom;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
        "fill=\"#222\">\n",
        width, height);
    add("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    if (!plot_.title.empty()) {
      add("<text x=\"{:.1f}\" y=\"27\" font-size=\"15\" font-weight=\"bold\">{}</text>\n", left_,
          escaped(plot_.title));
    }
  }

  void grid() {
    const double bottom = kTop + kAreaHeight;
    for (const double tick : x_.ticks()) {
      const double x = left_ + x_.pixel(tick);
      add("<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#e4e4e4\"/>", x, kTop, bottom);
      add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 18, tick_text(tick));
    }
    for (const double tick : y_.ticks()) {
      const double y = kTop + y_.pixel(tick);
      add("<path d=\"M{0:.1f} {1:.1f}h{2}\" stroke=\"#e4e4e4\"/>", left_, y, kAreaWidth);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 7, y + 4,
          tick_text(tick));
    }
    add("<path d=\"M{0:.1f} {1}V{2}h{3}\" fill=\"none\" stroke=\"#555\"/>\n", left_, kTop, bottom,
        kAreaWidth);
    add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" font-size=\"13\">{}</text>\n",
        left_ + kAreaWidth / 2, bottom + 42, escaped(plot_.x_label));
    add("<text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\" "
        "font-size=\"13\">{}</text>\n",
        kTop + kAreaHeight / 2, escaped(plot_.y_label));
  }

  const char* colour(std::size_t i) const { return kColours[i % kColours.size()]; }

  /// A second cycle through the colours uses finer dashes.
  std::string line_style(std::size_t i) const {
    const bool again = (i / kColours.size()) % 2 == 1;
    const char* dash = plot_.series[i].dashed ? (again ? "2 3" : "7 5") : (again ? "12 3 2 3" : "none");
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", colour(i),
                       dash);
  }

  void marker(std::size_t i, double x, double y, double radius) {
    const bool hollow = plot_.series[i].dashed;
    add("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", x,
        y, radius, hollow ? "#fff" : colour(i), colour(i));
  }

  /// Error bars; an end that the axis cannot show is at the bottom.
  void bars(std::size_t i) {
    const Series& series = plot_.series[i];
    for (std::size_t p = 0; p < std::min(series.bar.size(), series.y.size()); ++p) {
      if (!x_.shows(series.x[p]) || !y_.shows(series.y[p]) || !std::isfinite(series.bar[p])) continue;
      const double low = series.y[p] - series.bar[p];
      const double bottom = y_.shows(low) ? std::min(y_.pixel(low), kAreaHeight) : kAreaHeight;
      const double top = std::max(y_.pixel(series.y[p] + series.bar[p]), 0.0);
      add("<path d=\"M{0:.2f} {1:.2f}V{2:.2f}m-3 0h6\" fill=\"none\" stroke=\"{3}\" opacity=\"0.5\"/>\n",
          left_ + x_.pixel(series.x[p]), kTop + bottom, kTop + top, colour(i));
    }
  }

  void mark() {
    if (!plot_.mark || !x_.shows(plot_.mark->x)) return;
    const double x = left_ + x_.pixel(plot_.mark->x);
    const bool right = x_.pixel(plot_.mark->x) > kAreaWidth / 2;  // then the word stands to the left
    add("<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#555\" stroke-dasharray=\"3 3\"/>", x, kTop,
        kTop + kAreaHeight);
    add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x + (right ? -6 : 6), kTop + 14,
        right ? "end" : "start", escaped(plot_.mark->text));
  }

  void curve(std::size_t i) {
    const Series& series = plot_.series[i];
    const std::size_t count = std::min(series.x.size(), series.y.size());
    std::string path;
    std::vector<std::pair<double, double>> points;
    bool pen_down = false;  // a value the axis cannot show interrupts the line
    for (std::size_t p = 0; p < count; ++p) {
      const bool shown = x_.shows(series.x[p]) && y_.shows(series.y[p]);
      if (shown) {
        points.emplace_back(left_ + x_.pixel(series.x[p]), kTop + y_.pixel(series.y[p]));
        fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", pen_down ? 'L' : 'M', points.back().first,
                       points.back().second);
      }
      pen_down = shown;
    }
    if (!series.points_only && points.size() > 1) {
      add("<path d=\"{}\" {} stroke-linejoin=\"round\"/>\n", path, line_style(i));
    }
    if (series.points_only || points.size() <= kMostMarkers) {
      for (const auto& [x, y] : points) marker(i, x, y, series.points_only ? 3.5 : 2.5);
    }
  }

  void legend() {
    const double x = left_ + kAreaWidth + 16;
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      const double y = kTop + 10 + kLegendLine * static_cast<double>(i);
      if (!plot_.series[i].points_only) {
        add("<path d=\"M{:.1f} {:.1f}h28\" {}/>\n", x, y, line_style(i));
      }
      marker(i, x + 14, y, 2.5);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 36, y + 4, escaped(plot_.series[i].name));
    }
  }

  const Plot& plot_;
  Axis x_, y_;
  double left_;
  std::string out_;
};

}  // namespace

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string to_svg(const Plot& plot) {
  return Drawing(plot).text();
}

}  // namespace sharelearn
