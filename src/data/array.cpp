#include "data/array.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/labels.hpp"
#include "data/place_rows.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

constexpr Index kPieceBytes = Index{1} << 20;

template <class T>
T load(const char* p, bool big_endian) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, p, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big)) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// A number in IEEE 754 binary16, the format of numpy's float16.
struct Half {
  std::uint16_t bits;
  operator float() const {
    const int exponent = bits >> 10 & 0x1F;
    const auto fraction = static_cast<float>(bits & 0x3FF);
    float size = std::ldexp(fraction, -24);  // zero and subnormal numbers
    if (exponent == 0x1F) {
      size = fraction == 0 ? HUGE_VALF : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent > 0) {
      size = std::ldexp(1024 + fraction, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -size : size;
  }
};

/// Calls use(T{}) with the element type T of the layout.
template <class Use>
void with_type(const ArrayLayout& layout, const Use& use) {
  const bool is_signed = layout.kind == ElementKind::signed_integer;
  if (layout.kind == ElementKind::real) {
    if (layout.element_bytes == 2) return use(Half{});
    return layout.element_bytes == 4 ? use(float{}) : use(double{});
  }
  switch (layout.element_bytes) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

float to_float(double value) {
  if (std::abs(value) > std::numeric_limits<float>::max())
    return std::copysign(HUGE_VALF, value > 0 ? 1.0f : -1.0f);
  return static_cast<float>(value);
}

void convert(const ArrayLayout& layout, const char* bytes, Index count, float* out) {
  with_type(layout, [&](auto type) {
    using T = decltype(type);
    for (Index i = 0; i < count; ++i) {
      const T value = load<T>(bytes + i * static_cast<Index>(sizeof(T)), layout.big_endian);
      if constexpr (std::is_same_v<T, double>) {
        out[i] = to_float(value);
      } else {
        out[i] = static_cast<float>(value);
      }
    }
  });
}

/// The element at `p` as label text.
std::string label_text(const ArrayLayout& layout, const char* p) {
  std::string text;
  if (layout.kind == ElementKind::bytes) {
    text.assign(p, static_cast<std::size_t>(layout.element_bytes));
  } else if (layout.kind == ElementKind::unicode) {
    for (Index i = 0; i < layout.element_bytes; i += 4) {
      const auto letter = load<std::uint32_t>(p + i, layout.big_endian);
      if (letter < 0x80) {
        text += static_cast<char>(letter);
      } else if (letter < 0x800) {
        text += {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))};
      } else if (letter < 0x10000) {
        text += {static_cast<char>(0xE0 | letter >> 12), static_cast<char>(0x80 | (letter >> 6 & 0x3F)),
                 static_cast<char>(0x80 | (letter & 0x3F))};
      } else {
        text +=
            {static_cast<char>(0xF0 | (letter >> 18 & 0x7)), static_cast<char>(0x80 | (letter >> 12 & 0x3F)),
             static_cast<char>(0x80 | (letter >> 6 & 0x3F)), static_cast<char>(0x80 | (letter & 0x3F))};
      }
    }
  } else {
    with_type(layout, [&](auto type) {
      using T = decltype(type);
      const T value = load<T>(p, layout.big_endian);
      if constexpr (sizeof(T) == 1) {
        text = fmt::format("{}", static_cast<int>(value));
      } else if constexpr (std::is_same_v<T, Half>) {
        text = fmt::format("{}", static_cast<float>(value));
      } else {
        text = fmt::format("{}", value);
      }
    });
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

/// Position, in elements, of the entry (row, column). `column` counts all other indices in C order.
Index element_at(const ArrayLayout& layout, Index row, Index column) {
  if (!layout.by_columns) return row * layout.columns() + column;
  Index position = 0, weight = layout.rows() * layout.columns();
  for (std::size_t d = layout.shape.size(); d-- > 1;) {
    weight /= layout.shape[d];
    position += weight * (column % layout.shape[d]);
    column /= layout.shape[d];
  }
  return position + row;
}

/// x = the rows of the array from `from` on.
void read_by_rows(const ByteSource& source, const ArrayLayout& layout, Index from, DenseMatrix& x,
                  ThreadPool& threads) {
  const Index row_bytes = layout.columns() * layout.element_bytes;
  const Index rows_at_once = std::max<Index>(1, kPieceBytes / std::max<Index>(1, row_bytes));
  const Index pieces = (x.rows() + rows_at_once - 1) / rows_at_once;
  threads.for_each(pieces, [&](std::int64_t piece, int) {
    const Index first = piece * rows_at_once;
    const Index rows = std::min(rows_at_once, x.rows() - first);
    std::vector<char> bytes(static_cast<std::size_t>(rows * row_bytes));
    std::vector<float> values(static_cast<std::size_t>(rows * x.cols()));
    source.read(layout.offset + (from + first) * row_bytes, rows * row_bytes, bytes.data());
    convert(layout, bytes.data(), rows * x.cols(), values.data());
    place_rows(values.data(), rows, first, x);
  });
}

void read_by_columns(const ByteSource& source, const ArrayLayout& layout, Index from, DenseMatrix& x,
                     ThreadPool& threads) {
  threads.for_each(x.cols(), [&](std::int64_t j, int) {
    std::vector<char> bytes(static_cast<std::size_t>(x.rows() * layout.element_bytes));
    source.read(layout.offset + element_at(layout, from, j) * layout.element_bytes,
                static_cast<Index>(bytes.size()), bytes.data());
    convert(layout, bytes.data(), x.rows(), x.column(j));
  });
}

/// Fills missing values, or throws for the first row with a value that is not allowed.
void make_finite(const ByteSource& source, Index from, DenseMatrix& x, Missing missing, ThreadPool& threads) {
  Index bad_row = x.rows(), bad_column = 0;
  bool has_missing = false;
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      const float value = x(i, j);
      if (std::isfinite(value)) continue;
      has_missing |= std::isnan(value);
      if (i >= bad_row || (std::isnan(value) && missing != Missing::error)) continue;
      bad_row = i;
      bad_column = j;
    }
  }
  if (bad_row < x.rows()) {
    const bool is_missing = std::isnan(x(bad_row, bad_column));
    throw InputError(
        fmt::format("{}: row {} (the first is 1), column {} (counted from 0): {}", source.name(),
                    from + bad_row + 1, bad_column,
                    is_missing ? "the value is missing (nan); `missing` mean or `missing` zero fills it in"
                               : "expected a finite number within the range of float32, found infinity"));
  }
  if (has_missing) fill_missing(x, missing, threads);
}

}  // namespace

Index ArrayLayout::columns() const {
  Index product = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) product *= shape[d];
  return product;
}

void check_size(const ByteSource& source, const ArrayLayout& layout) {
  Index promised = layout.element_bytes;
  for (const Index length : layout.shape) {
    if (length < 0 || __builtin_mul_overflow(promised, length, &promised)) {
      throw InputError(fmt::format("'{}': the dimensions in its header are impossibly large", source.name()));
    }
  }
  const Index held = source.size() - layout.offset;
  if (held != promised) {
    throw InputError(fmt::format("'{}': the header promises {} bytes of data, but {} follow; the file is {}",
                                 source.name(), promised, held,
                                 held < promised ? "cut off" : "not what its header says"));
  }
  if (layout.rows() == 0 || promised == 0) throw InputError(fmt::format("'{}' holds no rows", source.name()));
}

DenseMatrix read_matrix(const ByteSource& source, const ArrayLayout& layout, Missing missing,
                        ThreadPool& threads) {
  require_memory(
      DenseMatrix::bytes(layout.rows(), layout.columns()),
      fmt::format("'{}' with {} rows and {} columns", source.name(), layout.rows(), layout.columns()));
  return read_matrix_rows(source, layout, {0, layout.rows()}, missing, threads);
}

DenseMatrix read_matrix_rows(const ByteSource& source, const ArrayLayout& layout, RowRange rows,
                             Missing missing, ThreadPool& threads) {
  if (layout.is_text()) throw InputError(fmt::format("'{}': expected numbers, found text", source.name()));
  DenseMatrix x(rows.size(), layout.columns());
  if (layout.by_columns) {
    read_by_columns(source, layout, rows.begin, x, threads);
  } else {
    read_by_rows(source, layout, rows.begin, x, threads);
  }
  if (layout.kind == ElementKind::real) make_finite(source, rows.begin, x, missing, threads);
  return x;
}

TakeMatrix whole_matrix(Missing missing, ThreadPool& threads) {
  return [missing, &threads](const ByteSource& source, const ArrayLayout& layout,
                             std::optional<Index> label_column) -> Matrix {
    DenseMatrix x = read_matrix(source, layout, missing, threads);
    return label_column ? without_column(x, *label_column) : std::move(x);
  };
}

std::vector<Index> read_integers(const ByteSource& source, const ArrayLayout& layout) {
  const bool whole =
      layout.kind == ElementKind::signed_integer || layout.kind == ElementKind::unsigned_integer;
  if (!whole || layout.columns() != 1) {
    throw InputError(fmt::format("'{}': expected a list of whole numbers", source.name()));
  }
  std::vector<char> bytes(static_cast<std::size_t>(layout.rows() * layout.element_bytes));
  source.read(layout.offset, std::ssize(bytes), bytes.data());
  std::vector<Index> numbers(static_cast<std::size_t>(layout.rows()));
  with_type(layout, [&](auto type) {
    using T = decltype(type);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const T value = load<T>(bytes.data() + i * sizeof(T), layout.big_endian);
      if constexpr (std::is_integral_v<T>) numbers[i] = static_cast<Index>(value);
    }
  });
  return numbers;
}

LabelColumn read_labels(const ByteSource& source, const ArrayLayout& layout, Index column) {
  LabelCollector labels;
  const Index stride = (layout.by_columns ? 1 : layout.columns()) * layout.element_bytes;
  const Index first = layout.offset + element_at(layout, 0, column) * layout.element_bytes;
  const Index rows_at_once = std::max<Index>(1, kPieceBytes / stride);
  std::vector<char> bytes;
  for (Index begin = 0; begin < layout.rows(); begin += rows_at_once) {
    const Index rows = std::min(rows_at_once, layout.rows() - begin);
    bytes.resize(static_cast<std::size_t>((rows - 1) * stride + layout.element_bytes));
    source.read(first + begin * stride, static_cast<Index>(bytes.size()), bytes.data());
    for (Index i = 0; i < rows; ++i) {
      const std::string text = label_text(layout, bytes.data() + i * stride);
      if (is_missing_text(text)) {
        throw InputError(
            fmt::format("{}: the label of row {} (the first is 1) is missing", source.name(), begin + i + 1));
      }
      labels.add(text);
    }
  }
  return labels.take();
}

DenseMatrix without_column(const DenseMatrix& x, Index column) {
  DenseMatrix result(x.rows(), x.cols() - 1);
  for (Index j = 0; j < result.cols(); ++j) {
    const auto from = x.column_span(j < column ? j : j + 1);
    std::copy(from.begin(), from.end(), result.column(j));
  }
  return result;
}

}  // namespace sharelearn
