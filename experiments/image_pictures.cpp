#include "image_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pool/patch_feature.hpp"

namespace sharelearn::reproduce {
namespace {

std::string document(Index width, Index height, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{2}\" height=\"{3}\" "
      "shape-rendering=\"crispEdges\" font-family=\"sans-serif\" font-size=\"6\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{4}</svg>\n",
      width, height, 3 * width, 3 * height, body);
}

std::string rectangle(double x, double y, double width, double height, const std::string& colour) {
  return fmt::format("<rect x=\"{:.4g}\" y=\"{:.4g}\" width=\"{:.4g}\" height=\"{:.4g}\" fill=\"{}\"/>\n", x,
                     y, width, height, colour);
}

std::string grey(double value) {
  const int level = std::clamp(static_cast<int>(std::lround(15 * value)), 0, 15);
  return fmt::format("#{0:x}{0:x}{0:x}", level);
}

/// A run of equal grey values becomes one rectangle.
std::string draw_image(std::span<const double> values, Index width, double left, double top, double scale) {
  std::string body;
  const auto count = static_cast<Index>(values.size());
  for (Index p = 0; p < count;) {
    const std::string colour = grey(values[static_cast<std::size_t>(p)]);
    Index end = p + 1;
    while (end % width != 0 && end < count && grey(values[static_cast<std::size_t>(end)]) == colour) ++end;
    body +=
        rectangle(left + static_cast<double>(p % width) * scale, top + static_cast<double>(p / width) * scale,
                  static_cast<double>(end - p) * scale, scale, colour);
    p = end;
  }
  return body;
}

/// The template at the centre of its mask, in a frame of the image's size; the support of the mask is shaded.
std::string draw_template(const PatchFeature::Parts& parts, double left, double top) {
  const ImageShape& shape = parts.frame.shape;
  const ProfileRange y = range_of(parts.row_profile), x = range_of(parts.column_profile);
  const auto peak = [](const MaskProfile& profile) {
    return static_cast<double>(std::ranges::max_element(profile) - profile.begin());
  };
  std::string body =
      rectangle(left, top, static_cast<double>(shape.width), static_cast<double>(shape.height), "#eee");
  body += rectangle(left + static_cast<double>(x.begin), top + static_cast<double>(y.begin),
                    static_cast<double>(x.end - x.begin + parts.size - 1),
                    static_cast<double>(y.end - y.begin + parts.size - 1), "#bcd");
  const int largest = std::max(
      1, std::abs(*std::ranges::max_element(parts.weights, {}, [](std::int8_t w) { return std::abs(w); })));
  std::vector<double> values;
  for (const std::int8_t w : parts.weights) values.push_back(0.5 + 0.5 * w / largest);
  return body +
         draw_image(values, parts.size, left + peak(parts.column_profile), top + peak(parts.row_profile), 1);
}

/// One bar per class: upwards for positive, downwards for negative weights.
std::string draw_weights(std::span<const double> weights, double left, double top) {
  double largest = 1e-300;
  for (const double w : weights) largest = std::max(largest, std::abs(w));
  std::string body = rectangle(left, top + 8, 28, 0.2, "#888");
  const double step = 28 / static_cast<double>(weights.size());
  for (std::size_t c = 0; c < weights.size(); ++c) {
    const double length = 8 * std::abs(weights[c]) / largest;
    const double x = left + static_cast<double>(c) * step;
    body += rectangle(x + 0.1 * step, weights[c] > 0 ? top + 8 - length : top + 8, 0.8 * step, length,
                      weights[c] > 0 ? "#2a6" : "#c44");
  }
  return body;
}

}  // namespace

std::string templates_picture(const LinearModel& model, Index count) {
  constexpr Index kColumns = 10, kWidth = 32, kHeight = 58;
  const Index shown = std::min(count, static_cast<Index>(model.features.size()));
  const std::vector<double> weights = model.weights();
  const auto classes = std::ssize(model.names);
  std::string body;
  for (Index f = 0; f < shown; ++f) {
    const auto* feature =
        dynamic_cast<const PatchFeature*>(model.features[static_cast<std::size_t>(f)].get());
    if (feature == nullptr) continue;
    const auto left = static_cast<double>(2 + f % kColumns * kWidth);
    const auto top = static_cast<double>(2 + f / kColumns * kHeight);
    body += draw_template(feature->parts(), left, top);
    body +=
        draw_weights({weights.begin() + f * classes, weights.begin() + (f + 1) * classes}, left, top + 30);
    body += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left, top + 53, f + 1);
  }
  return document(kColumns * kWidth + 4, (shown + kColumns - 1) / kColumns * kHeight + 4, body);
}

std::string mistakes_picture(std::span<const Mistake> mistakes, const ImageShape& shape) {
  constexpr Index kColumns = 10;
  const Index width = shape.width + 4, height = shape.height + 12;
  std::string body;
  for (std::size_t m = 0; m < mistakes.size(); ++m) {
    const float white = std::max(1e-20f, std::ranges::max(mistakes[m].pixels));
    std::vector<double> values;
    for (const float v : mistakes[m].pixels) values.push_back(1 - static_cast<double>(v / white));
    const auto left = static_cast<double>(2 + static_cast<Index>(m) % kColumns * width);
    const auto top = static_cast<double>(2 + static_cast<Index>(m) / kColumns * height);
    body += draw_image(values, shape.width, left, top, 1);
    body +=
        fmt::format("<text x=\"{}\" y=\"{}\">{} as {}</text>\n", left,
                    top + static_cast<double>(shape.height) + 7, mistakes[m].truth, mistakes[m].predicted);
  }
  const auto lines = (static_cast<Index>(mistakes.size()) + kColumns - 1) / kColumns;
  return document(kColumns * width + 4, std::max<Index>(1, lines) * height + 4, body);
}

}  // namespace sharelearn::reproduce
