// IDX, the format of MNIST: 0 0 TYPE DIMENSIONS, a big-endian length for each dimension, the elements.
#include <fmt/core.h>

#include <filesystem>

#include "data/array.hpp"
#include "data/companion.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

bool set_type(ArrayLayout& layout, unsigned char code) {
  switch (code) {
    case 0x08:
      layout.kind = ElementKind::unsigned_integer, layout.element_bytes = 1;
      return true;
    case 0x09:
      layout.kind = ElementKind::signed_integer, layout.element_bytes = 1;
      return true;
    case 0x0B:
      layout.kind = ElementKind::signed_integer, layout.element_bytes = 2;
      return true;
    case 0x0C:
      layout.kind = ElementKind::signed_integer, layout.element_bytes = 4;
      return true;
    case 0x0D:
      layout.kind = ElementKind::real, layout.element_bytes = 4;
      return true;
    case 0x0E:
      layout.kind = ElementKind::real, layout.element_bytes = 8;
      return true;
    default:
      return false;
  }
}

/// Name of the labels file by the custom of MNIST: images-idx3 becomes labels-idx1.
std::vector<std::string> idx_label_names(const std::string& name) {
  std::string labels = replaced(name, "images", "labels");
  if (labels == name) return {};
  const std::size_t dimensions = labels.find("idx");
  if (dimensions != std::string::npos && dimensions + 3 < labels.size()) labels[dimensions + 3] = '1';
  return {labels};
}

}  // namespace

bool looks_like_idx(std::string_view head) {
  ArrayLayout layout;
  return head.size() >= 4 && head[0] == 0 && head[1] == 0 &&
         set_type(layout, static_cast<unsigned char>(head[2])) && head[3] >= 1;
}

ArrayLayout idx_layout(const ByteSource& source) {
  const std::string head = source.head(4 + 4 * 255);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  ArrayLayout layout;
  if (head.size() < 4 || byte(0) != 0 || byte(1) != 0 || !set_type(layout, byte(2)) || byte(3) == 0) {
    throw InputError(fmt::format("'{}': expected an IDX header (0, 0, type, dimensions)", source.name()));
  }
  layout.big_endian = true;
  layout.offset = 4 + 4 * Index{byte(3)};
  if (source.size() < layout.offset) {
    throw InputError(fmt::format("'{}': the file is cut off within its IDX header", source.name()));
  }
  for (std::size_t d = 0; d < byte(3); ++d) {
    const std::size_t at = 4 + 4 * d;
    layout.shape.push_back(Index{byte(at)} << 24 | Index{byte(at + 1)} << 16 | Index{byte(at + 2)} << 8 |
                           Index{byte(at + 3)});
  }
  check_size(source, layout);
  return layout;
}

Dataset read_idx_array(const ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TakeMatrix& take) {
  Dataset data;
  data.source = source.name();
  const ArrayLayout layout = idx_layout(source);
  data.image_width = layout.image_width();
  if (options.label_column != "none") {
    const std::string labels = companion_file(path, options, idx_label_names);
    if (!labels.empty()) {
      data.label = read_label_file(labels, options);
      check_label_count(data.label, labels, layout.rows(), source.name());
    } else if (options.labels_required) {
      throw InputError(
          fmt::format("'{}': found no labels beside it (an images file is expected to have its labels file "
                      "next to it); name the file with `labels`",
                      source.name()));
    }
  }
  data.x = take(source, layout, std::nullopt);
  return data;
}

Dataset read_idx(const ByteSource& source, const std::string& path, const ReadOptions& options,
                 ThreadPool& threads) {
  return read_idx_array(source, path, options, whole_matrix(options.missing, threads));
}

}  // namespace sharelearn
