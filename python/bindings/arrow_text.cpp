// Columns of text of Arrow streams, in all of Arrow's layouts of text.
#include <cstring>

#include "arrow.hpp"

namespace sharelearn::python {
namespace {

bool is_text_format(std::string_view format) {
  return format == "u" || format == "U" || format == "vu";
}

bool is_valid(const ArrowArray& column, std::int64_t row) {
  const void* valid = column.n_buffers > 0 ? column.buffers[0] : nullptr;
  return column.null_count == 0 || valid == nullptr || arrow_bit(valid, row);
}

template <class Offset>
std::string_view text_between(const ArrowArray& column, std::int64_t row) {
  const auto* offsets = static_cast<const Offset*>(column.buffers[1]);
  const auto length = static_cast<std::size_t>(offsets[row + 1] - offsets[row]);
  return length == 0 ? ""
                     : std::string_view(static_cast<const char*>(column.buffers[2]) + offsets[row], length);
}

/// A view of 16 bytes: the length, then up to 12 bytes of text, or four bytes of it with the number of a
/// buffer and an offset.
std::string_view text_of_view(const ArrowArray& column, std::int64_t row) {
  const char* view = static_cast<const char*>(column.buffers[1]) + 16 * row;
  std::int32_t length = 0, buffer = 0, offset = 0;
  std::memcpy(&length, view, 4);
  if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
  std::memcpy(&buffer, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {static_cast<const char*>(column.buffers[2 + buffer]) + offset, static_cast<std::size_t>(length)};
}

std::string_view text_at(std::string_view format, const ArrowArray& column, std::int64_t row) {
  if (format == "u") return text_between<std::int32_t>(column, row);
  if (format == "U") return text_between<std::int64_t>(column, row);
  return text_of_view(column, row);
}

/// An entry of the column of indices of a dictionary.
std::int64_t index_at(char format, const void* values, std::int64_t row) {
  switch (format) {
    case 'c':
      return static_cast<const std::int8_t*>(values)[row];
    case 'C':
      return static_cast<const std::uint8_t*>(values)[row];
    case 's':
      return static_cast<const std::int16_t*>(values)[row];
    case 'S':
      return static_cast<const std::uint16_t*>(values)[row];
    case 'i':
      return static_cast<const std::int32_t*>(values)[row];
    case 'I':
      return static_cast<const std::uint32_t*>(values)[row];
    default:
      return static_cast<const std::int64_t*>(values)[row];
  }
}

}  // namespace

bool is_arrow_text(const ArrowSchema& column) {
  return is_text_format(column.dictionary != nullptr ? column.dictionary->format : column.format);
}

ArrowText::ArrowText(const ArrowSchema& column)
    : text_format_(column.dictionary != nullptr ? column.dictionary->format : column.format),
      index_format_(column.dictionary != nullptr ? column.format : "") {}

void ArrowText::append(const ArrowArray& column, std::int64_t first, std::int64_t count) {
  if (index_format_.empty()) {
    append_texts(column, first, count);
  } else {
    append_categories(column, first, count);
  }
}

std::int32_t ArrowText::id_of(std::string_view text) {
  const auto [entry, is_new] =
      place_.try_emplace(std::string(text), static_cast<std::int32_t>(place_.size()));
  if (is_new) column_.names.push_back(entry->first);
  return entry->second;
}

void ArrowText::append_texts(const ArrowArray& column, std::int64_t first, std::int64_t count) {
  for (std::int64_t row = first; row < first + count; ++row)
    column_.id.push_back(is_valid(column, row) ? id_of(text_at(text_format_, column, row)) : -1);
}

/// Every batch has a dictionary of its own. Entries that no row has are not looked at.
void ArrowText::append_categories(const ArrowArray& column, std::int64_t first, std::int64_t count) {
  constexpr std::int32_t unknown = -2;
  const ArrowArray& entries = *column.dictionary;
  std::vector<std::int32_t> id(static_cast<std::size_t>(entries.length), unknown);
  for (std::int64_t row = first; row < first + count; ++row) {
    if (!is_valid(column, row)) {
      column_.id.push_back(-1);
      continue;
    }
    const std::int64_t entry = index_at(index_format_.front(), column.buffers[1], row);
    std::int32_t& known = id[static_cast<std::size_t>(entry)];
    if (known == unknown) {
      const std::int64_t place = entries.offset + entry;
      known = is_valid(entries, place) ? id_of(text_at(text_format_, entries, place)) : -1;
    }
    column_.id.push_back(known);
  }
}

}  // namespace sharelearn::python
