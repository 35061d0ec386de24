#include "export/c_tables.hpp"

#include <algorithm>
#include <cmath>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

std::string c_number(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single)) throw InputError("the model has numbers that are too large for C's float");
  std::string text = fmt::format("{:.9g}", single);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return single < 0 ? "(" + text + ")" : text;
}

/// Bytes of one entry on a 32-bit machine.
static Index bytes_of(std::string_view type) {
  if (type == "int8_t" || type == "uint8_t") return 1;
  if (type == "int16_t" || type == "uint16_t") return 2;
  return type == "NAME_template" ? 24 : 4;
}

std::string CTables::table(std::string_view type, const std::vector<std::string>& entries) {
  std::string content = fmt::format("{} {}", type, fmt::join(entries, ","));
  const auto [known, is_new] = known_.try_emplace(std::move(content), fmt::format("NAME_t{}", known_.size()));
  const std::string& named = known->second;
  if (!is_new) return named;
  table_bytes += bytes_of(type) * std::ssize(entries);
  tables += fmt::format("static const {} {}[{}] = {{", type, named, entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    tables +=
        fmt::format("{}{}", i % 8 == 0 ? "\n  " : " ", entries[i]) + (i + 1 < entries.size() ? "," : "");
  }
  tables += "\n};\n";
  return named;
}

Index CTables::slot(Index column) {
  const auto found = std::ranges::find(columns, column);
  const auto at = found - columns.begin();
  if (found == columns.end()) columns.push_back(column);
  return at;
}

void CTables::declare(std::string_view type, const std::string& named, Index length) {
  line(fmt::format("{} {}[{}];", type, named, length));
  array_bytes += bytes_of(type) * length;
}

std::string CTables::response(const formula::TemplateMaximum& n) {
  if (frame == nullptr) {
    frame = &n;
    for (Index i = 0; i < n.height * n.width; ++i) slot(i);
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
  const std::string described = fmt::format(
      "{{{}, {}, {}, {}, {}, {}u}}", integers("int8_t", n.weights), integers("int16_t", n.row_mask),
      integers("int16_t", n.column_mask), n.size, contrast_tables[n.size], n.multiplier);
  return fmt::format("NAME_respond(work, {})", table("NAME_template", {described}));
}

}  // namespace sharelearn
