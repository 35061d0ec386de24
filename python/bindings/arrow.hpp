// The structures of Arrow's C data and C stream interfaces, and its columns of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sharelearn/data/dataset.hpp"

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace sharelearn::python {

/// A bit of Arrow's bitmaps: of validity, and of flags.
inline bool arrow_bit(const void* bits, std::int64_t at) {
  return (static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8) & 1) != 0;
}

/// Whether the column holds text, as such or as categories (a dictionary of texts).
bool is_arrow_text(const ArrowSchema& column);

/// Collects a column of text over the batches of a stream.
class ArrowText {
 public:
  explicit ArrowText(const ArrowSchema& column);
  /// Appends rows [first, first + count) of a batch.
  void append(const ArrowArray& column, std::int64_t first, std::int64_t count);
  LabelColumn take() { return std::move(column_); }

 private:
  std::int32_t id_of(std::string_view text);
  void append_texts(const ArrowArray& column, std::int64_t first, std::int64_t count);
  void append_categories(const ArrowArray& column, std::int64_t first, std::int64_t count);

  std::string text_format_, index_format_;  // the latter is empty where the texts are no dictionary
  LabelColumn column_;
  std::unordered_map<std::string, std::int32_t> place_;
};

}  // namespace sharelearn::python
