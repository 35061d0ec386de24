// Data of any library that has Arrow's C stream interface (__arrow_c_stream__): tables and readers of
// batches.
//
// Batches are converted one after the other and released at once, so that a reader of a file never has more
// than one of them in memory. Missing values become NaN.
#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

// The structures of Arrow's C data and C stream interfaces, as their specification gives them.
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
namespace {

/// A structure that its producer releases.
template <class T>
struct Owned : T {
  Owned() : T{} {}
  explicit Owned(T& taken) : T(taken) { taken.release = nullptr; }
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Values of one column of a batch as float32.
using ColumnConverter = void (*)(const ArrowArray& from, std::int64_t first, std::int64_t count, float* to);

template <class T>
void convert_numbers(const ArrowArray& from, std::int64_t first, std::int64_t count, float* to) {
  const T* values = static_cast<const T*>(from.buffers[1]) + first;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(values[i]);
    if constexpr (std::is_same_v<T, double>) {
      if (std::isinf(to[i]) && std::isfinite(values[i]))
        throw InputError(
            fmt::format("the value {:g} is infinity in float32, in which data is stored", values[i]));
    }
  }
}

bool bit(const void* bits, std::int64_t at) {
  return (static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8) & 1) != 0;
}

void convert_flags(const ArrowArray& from, std::int64_t first, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = bit(from.buffers[1], first + i) ? 1.0F : 0.0F;
}

void convert_nothing(const ArrowArray&, std::int64_t, std::int64_t count, float* to) {
  std::fill_n(to, count, kMissing);
}

ColumnConverter converter_of(const ArrowSchema& column) {
  const std::string_view format = column.format, name = column.name == nullptr ? "" : column.name;
  const bool is_text = format == "u" || format == "U" || format == "vu";
  if (column.dictionary != nullptr || is_text) {
    throw InputError(fmt::format(
        "column '{}' holds {}: encode it as numbers (scikit-learn's OneHotEncoder), or leave it out", name,
        is_text ? "text" : "categories"));
  }
  if (format == "f") return convert_numbers<float>;
  if (format == "g") return convert_numbers<double>;
  if (format == "c") return convert_numbers<std::int8_t>;
  if (format == "C") return convert_numbers<std::uint8_t>;
  if (format == "s") return convert_numbers<std::int16_t>;
  if (format == "S") return convert_numbers<std::uint16_t>;
  if (format == "i") return convert_numbers<std::int32_t>;
  if (format == "I") return convert_numbers<std::uint32_t>;
  if (format == "l") return convert_numbers<std::int64_t>;
  if (format == "L") return convert_numbers<std::uint64_t>;
  if (format == "b") return convert_flags;
  if (format == "n") return convert_nothing;
  throw InputError(fmt::format("column '{}' has Arrow's type '{}': expected numbers or flags", name, format));
}

/// The columns of a stream: their names, and how to read them.
struct Layout {
  std::vector<std::string> names;
  std::vector<ColumnConverter> converters;
};

Layout layout_of(const ArrowSchema& schema) {
  if (std::strcmp(schema.format, "+s") != 0)
    throw InputError("expected a table of columns, found a single column");
  Layout layout;
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    const ArrowSchema& column = *schema.children[j];
    layout.converters.push_back(converter_of(column));
    layout.names.emplace_back(column.name == nullptr ? "" : column.name);
  }
  return layout;
}

void convert_column(const ArrowArray& batch, Index j, ColumnConverter converter, float* to) {
  const ArrowArray& column = *batch.children[j];
  const std::int64_t first = batch.offset + column.offset;
  converter(column, first, batch.length, to);
  const void* valid = column.n_buffers > 0 ? column.buffers[0] : nullptr;
  if (column.null_count == 0 || valid == nullptr || converter == convert_nothing) return;
  for (std::int64_t i = 0; i < batch.length; ++i) {
    if (!bit(valid, first + i)) to[i] = kMissing;
  }
}

DenseMatrix converted(const ArrowArray& batch, const Layout& layout, ThreadPool& threads) {
  const auto columns = std::ssize(layout.converters);
  if (batch.n_children != columns) throw InputError("a batch has other columns than the stream");
  if (batch.n_buffers > 0 && batch.buffers[0] != nullptr && batch.null_count != 0)
    throw InputError("the stream has rows that are missing as a whole");
  DenseMatrix values(batch.length, columns);
  threads.for_each(columns, [&](std::int64_t j, int) {
    convert_column(batch, j, layout.converters[static_cast<std::size_t>(j)], values.column(j));
  });
  return values;
}

/// One matrix of the blocks of rows, which are freed as they are copied.
DenseMatrix assembled(std::vector<DenseMatrix> blocks, Index columns) {
  if (blocks.size() == 1) return std::move(blocks.front());
  Index rows = 0, first = 0;
  for (const DenseMatrix& block : blocks) rows += block.rows();
  DenseMatrix all(rows, columns);
  for (DenseMatrix& block : blocks) {
    for (Index j = 0; j < columns; ++j) std::copy_n(block.column(j), block.rows(), all.column(j) + first);
    first += block.rows();
    block = DenseMatrix();
  }
  return all;
}

void check(int code, ArrowArrayStream& stream) {
  if (code == 0) return;
  const char* error = stream.get_last_error(&stream);
  throw InputError(fmt::format("the Arrow stream fails: {}", error == nullptr ? "no reason given" : error));
}

void read_stream(Data& data, ArrowArrayStream& stream, ThreadPool& threads) {
  Owned<ArrowSchema> schema;
  check(stream.get_schema(&stream, &schema), stream);
  Layout layout = layout_of(schema);
  std::vector<DenseMatrix> blocks;
  for (;;) {
    Owned<ArrowArray> batch;
    check(stream.get_next(&stream, &batch), stream);
    if (batch.release == nullptr) break;  // the end
    if (batch.length > 0) blocks.push_back(converted(batch, layout, threads));
  }
  data.set.x = assembled(std::move(blocks), std::ssize(layout.names));
  data.set.column_names = std::move(layout.names);
}

}  // namespace

void take_stream(Data& data, nb::handle capsule, int threads) {
  auto* given = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (given == nullptr) throw nb::python_error();
  if (given->release == nullptr) throw InputError("the Arrow stream has been read already");
  Threads pool(threads);
  // A producer that runs Python code takes the lock itself.
  const nb::gil_scoped_release released;
  Owned<ArrowArrayStream> stream(*given);
  read_stream(data, stream, pool);
}

}  // namespace sharelearn::python
