// Data of any library that has Arrow's C stream interface (__arrow_c_stream__): tables and readers of
// batches.
//
// Batches are converted one after the other and released at once, so that a reader of a file never has more
// than one of them in memory. Missing values become NaN.
#include "arrow.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

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

void convert_flags(const ArrowArray& from, std::int64_t first, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = arrow_bit(from.buffers[1], first + i) ? 1.0F : 0.0F;
}

void convert_nothing(const ArrowArray&, std::int64_t, std::int64_t count, float* to) {
  std::fill_n(to, count, kMissing);
}

ColumnConverter converter_of(const ArrowSchema& column) {
  const std::string_view format = column.format, name = column.name == nullptr ? "" : column.name;
  if (column.dictionary != nullptr) {
    throw InputError(fmt::format("column '{}' holds categories of Arrow's type '{}': expected text", name,
                                 column.dictionary->format));
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
  throw InputError(
      fmt::format("column '{}' has Arrow's type '{}': expected numbers, flags or text", name, format));
}

/// The columns of a stream: their names, and how to read them.
struct Layout {
  std::vector<std::string> names;  ///< of the columns of numbers
  std::vector<ColumnConverter> converters;
  std::vector<std::int64_t> places;  ///< of the columns of numbers among all
  std::vector<TextColumn> texts;     ///< their values come last
  std::vector<ArrowText> readers;
  std::vector<std::int64_t> text_places;
};

Layout layout_of(const ArrowSchema& schema) {
  if (std::strcmp(schema.format, "+s") != 0)
    throw InputError("expected a table of columns, found a single column");
  Layout layout;
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    const ArrowSchema& column = *schema.children[j];
    const std::string name = column.name == nullptr ? "" : column.name;
    if (is_arrow_text(column)) {
      layout.texts.push_back({name, std::ssize(layout.names), {}});
      layout.readers.emplace_back(column);
      layout.text_places.push_back(j);
    } else {
      layout.converters.push_back(converter_of(column));
      layout.names.push_back(name);
      layout.places.push_back(j);
    }
  }
  return layout;
}

void convert_column(const ArrowArray& batch, std::int64_t j, ColumnConverter converter, float* to) {
  const ArrowArray& column = *batch.children[j];
  const std::int64_t first = batch.offset + column.offset;
  converter(column, first, batch.length, to);
  const void* valid = column.n_buffers > 0 ? column.buffers[0] : nullptr;
  if (column.null_count == 0 || valid == nullptr || converter == convert_nothing) return;
  for (std::int64_t i = 0; i < batch.length; ++i) {
    if (!arrow_bit(valid, first + i)) to[i] = kMissing;
  }
}

/// The numbers of a batch; its texts join those of the batches before.
DenseMatrix converted(const ArrowArray& batch, Layout& layout, ThreadPool& threads) {
  const auto numbers = std::ssize(layout.converters), columns = numbers + std::ssize(layout.readers);
  if (batch.n_children != columns) throw InputError("a batch has other columns than the stream");
  if (batch.n_buffers > 0 && batch.buffers[0] != nullptr && batch.null_count != 0)
    throw InputError("the stream has rows that are missing as a whole");
  DenseMatrix values(batch.length, numbers);
  threads.for_each(columns, [&](std::int64_t task, int) {
    const auto j = static_cast<std::size_t>(task < numbers ? task : task - numbers);
    if (task < numbers) {
      convert_column(batch, layout.places[j], layout.converters[j], values.column(task));
    } else {
      const ArrowArray& column = *batch.children[layout.text_places[j]];
      layout.readers[j].append(column, batch.offset + column.offset, batch.length);
    }
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
  for (std::size_t c = 0; c < layout.texts.size(); ++c) layout.texts[c].values = layout.readers[c].take();
  data.texts = std::move(layout.texts);
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
