#include "export/c_walk.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// The floats in ascending order as integers.
std::int64_t rank_of(float v) {
  const auto bits = std::bit_cast<std::int32_t>(v);
  return bits >= 0 ? bits : std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits;
}
float float_at(std::int64_t rank) {
  const auto bits = rank >= 0 ? rank : std::int64_t{std::numeric_limits<std::int32_t>::min()} - rank;
  return std::bit_cast<float>(static_cast<std::int32_t>(bits));
}

}  // namespace

std::string c_number(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single)) throw InputError("the model has numbers that are too large for C's float");
  std::string text = fmt::format("{:.9g}", single);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return single < 0 ? "(" + text + ")" : text;
}

float raw_threshold(const Scaling& scaling, Index column, double threshold) {
  const float most = std::numeric_limits<float>::max();
  std::int64_t low = rank_of(-most), high = rank_of(most) + 1;  // high: infinity
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const double scaled = scaling.apply(float_at(middle), column);
    if (scaled < threshold) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return float_at(low);
}

Value CWalk::operator()(const formula::TemplateMaximum& n) {
  if (frame == nullptr) {
    frame = &n;
    for (Index i = 0; i < n.height * n.width; ++i) raw(i);
  }
  const bool same = frame->height == n.height && frame->width == n.width && frame->low == n.low &&
                    frame->high == n.high && frame->deskew == n.deskew && frame->contrast == n.contrast;
  const bool whole = std::holds_alternative<formula::AllColumns>(*n.of);
  bool in_order = whole && std::ssize(columns) == n.height * n.width;
  for (std::size_t i = 0; in_order && i < columns.size(); ++i) in_order = columns[i] == static_cast<Index>(i);
  if (!same || !in_order || !model_.preprocessing.scaling.is_identity()) {
    throw InputError(
        "C: image templates of scaled images, of several kinds of images, or beside other features "
        "cannot be exported; use js or python");
  }
  needs_math = true;
  if (!contrast_tables.contains(n.size)) {
    contrast_tables[n.size] = contrast_entries;
    contrast_entries += (n.height - n.size + 1) * (n.width - n.size + 1);
  }
  const auto integers = [&](std::string_view type, const auto& values) {
    std::vector<std::string> entries;
    for (const auto v : values) entries.push_back(std::to_string(v));
    return table(type, entries);
  };
  const std::string described = fmt::format(
      "{{{}, {}, {}, {}, {}, {}u}}", integers("int8_t", n.weights), integers("int16_t", n.row_mask),
      integers("int16_t", n.column_mask), n.size, contrast_tables[n.size], n.multiplier);
  return {fmt::format("NAME_respond(work, {})", table("NAME_template", {described}))};
}

}  // namespace sharelearn
