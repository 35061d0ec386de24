// Data: a data set made of Python's arrays.
#include <fmt/core.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>

#include "core.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/transform/missing.hpp"

namespace sharelearn::python {
namespace {

using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr Index kTile = 4096;  // rows of one piece: a tile of any layout fits the cache

[[noreturn]] void too_large(Index row, Index column, double value) {
  throw InputError(
      fmt::format("the value {:g} in row {}, column {} is infinity in float32, in which data is stored",
                  value, row, column));
}

template <class T>
void copy_tile(const T* from, Index rows, std::int64_t row_step, float* to, Index first, Index column) {
  for (Index i = 0; i < rows; ++i) {
    const T value = from[i * row_step];
    to[i] = static_cast<float>(value);
    if constexpr (std::is_same_v<T, double>) {
      if (std::isinf(to[i]) && std::isfinite(value)) too_large(first + i, column, value);
    }
  }
}

template <class T>
void convert(const Array& x, DenseMatrix& to, ThreadPool& threads) {
  const T* from = static_cast<const T*>(x.data());
  const Index rows = to.rows(), columns = to.cols();
  const std::int64_t row_step = x.stride(0), column_step = x.stride(1);
  threads.for_each((rows + kTile - 1) / kTile, [&](std::int64_t piece, int) {
    const Index first = piece * kTile, count = std::min(kTile, rows - first);
    for (Index j = 0; j < columns; ++j) {
      copy_tile(from + first * row_step + j * column_step, count, row_step, to.column(j) + first, first, j);
    }
  });
}

using Converter = void (*)(const Array&, DenseMatrix&, ThreadPool&);

Converter converter_of(const Array& x) {
  if (x.dtype() == nb::dtype<float>()) return convert<float>;
  if (x.dtype() == nb::dtype<double>()) return convert<double>;
  if (x.dtype() == nb::dtype<std::uint8_t>()) return convert<std::uint8_t>;
  if (x.dtype() == nb::dtype<std::int32_t>()) return convert<std::int32_t>;
  if (x.dtype() == nb::dtype<std::int64_t>()) return convert<std::int64_t>;
  if (x.dtype() == nb::dtype<bool>()) return convert<bool>;
  throw nb::type_error("expected an array of float32, float64, uint8, int32, int64 or bool");
}

void take_sparse(Data& data, Index rows, const Offsets& start, const Ids& row, const Floats& value) {
  SparseMatrix x{rows, static_cast<Index>(start.shape(0)) - 1, {0}, {}, {}};
  if (x.cols < 0 || row.shape(0) != value.shape(0)) throw InputError("the sparse matrix is not well formed");
  for (Index j = 0; j < x.cols; ++j) {
    Index last = -1;
    for (Index e = start.data()[j]; e < start.data()[j + 1]; ++e) {
      if (e < 0 || e >= static_cast<Index>(row.shape(0)) || row.data()[e] <= last || row.data()[e] >= rows)
        throw InputError("the sparse matrix is not well formed: rows must ascend within a column");
      last = row.data()[e];
      if (value.data()[e] == 0) continue;
      x.row.push_back(static_cast<std::uint32_t>(last));
      x.value.push_back(value.data()[e]);
    }
    x.start.push_back(std::ssize(x.value));
  }
  data.set.x = std::move(x);
}

/// Whether all values of a column are finite, or NaN where that is allowed. The loops have no exit, so that
/// they are vectorised.
bool is_finite_column(std::span<const float> values, bool allow_nan) {
  constexpr std::uint32_t infinity = 0x7f800000, without_sign = 0x7fffffff;
  std::uint32_t bad = 0;
  if (allow_nan) {
    for (const float value : values)
      bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & without_sign) == infinity);
  } else {
    for (const float value : values)
      bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & infinity) == infinity);
  }
  return bad == 0;
}

bool is_finite(const Data& self, bool allow_nan, const std::optional<std::vector<Index>>& columns,
               int threads) {
  const Matrix& x = self.set.x;
  const auto count = columns ? std::ssize(*columns) : x.cols();
  std::atomic<bool> finite = true;
  const auto look = [&](std::int64_t n, int) {
    const Index j = columns ? (*columns)[static_cast<std::size_t>(n)] : n;
    const auto values = x.is_sparse() ? x.sparse().column_values(j) : x.dense().column_span(j);
    if (!is_finite_column(values, allow_nan)) finite = false;
  };
  Threads pool(threads_for(x.rows() * count, threads));
  const nb::gil_scoped_release released;
  static_cast<ThreadPool&>(pool).for_each(count, look);
  return finite;
}

void fill_zero(Data& self, int threads) {
  Threads pool(threads_for(self.set.rows() * self.set.columns(), threads));
  const nb::gil_scoped_release released;
  if (has_missing(self.set.x)) fill_missing(self.set.x, {}, pool);
}

void require_rows(const Data& data, std::size_t count, const char* what) {
  if (static_cast<Index>(count) != data.set.rows())
    throw InputError(fmt::format("there are {} {} for {} rows", count, what, data.set.rows()));
}

/// Names in the order in which rows have them first, as a file has them.
LabelColumn by_appearance(const std::vector<std::string>& names, const Ids& id) {
  LabelColumn column;
  std::vector<std::int32_t> place(names.size(), -1);
  for (std::size_t i = 0; i < id.shape(0); ++i) {
    const std::int32_t given = id.data()[i];
    if (given < 0 || given >= std::ssize(names)) throw InputError("a label is out of range");
    std::int32_t& here = place[static_cast<std::size_t>(given)];
    if (here < 0) {
      here = static_cast<std::int32_t>(column.names.size());
      column.names.push_back(names[static_cast<std::size_t>(given)]);
    }
    column.id.push_back(here);
  }
  return column;
}

void set_labels(Data& data, const std::vector<std::string>& names, const Ids& id) {
  require_rows(data, id.shape(0), "labels");
  data.set.label = by_appearance(names, id);
}

/// The targets of a regression as labels: shortest text that gives the number back.
void set_values(Data& data, const Doubles& values) {
  require_rows(data, values.shape(0), "targets");
  LabelColumn column;
  std::unordered_map<double, std::int32_t> place;
  for (std::size_t i = 0; i < values.shape(0); ++i) {
    const double value = values.data()[i];
    if (!std::isfinite(value)) throw InputError(fmt::format("the target of row {} is {}", i, value));
    const auto [entry, is_new] = place.try_emplace(value, static_cast<std::int32_t>(column.names.size()));
    if (is_new) column.names.push_back(canonical_label(fmt::format("{}", value)));
    column.id.push_back(entry->second);
  }
  data.set.label = std::move(column);
}

}  // namespace

void take_dense(Data& data, const Array& x, int threads) {
  if (x.ndim() != 2) throw nb::type_error("expected a 2-D array");
  const auto rows = static_cast<Index>(x.shape(0)), columns = static_cast<Index>(x.shape(1));
  const bool one_column = columns <= 1;
  if (x.dtype() == nb::dtype<float>() && x.stride(0) == 1 && (one_column || x.stride(1) >= rows)) {
    data.set.x = Matrix::borrow({static_cast<const float*>(x.data()), rows, columns,
                                 one_column ? rows : static_cast<Index>(x.stride(1))});
    data.owner = nb::cast(x);
    return;
  }
  const Converter converter = converter_of(x);
  DenseMatrix dense(rows, columns);
  {
    Threads pool(threads_for(rows * columns, threads));
    const nb::gil_scoped_release released;
    converter(x, dense, pool);
  }
  data.set.x = std::move(dense);
}

void bind_data(nb::module_& module) {
  nb::class_<Data> data(module, "Data", "Rows to learn from or to predict, with their labels.");
  data.def(nb::init<>())
      .def(
          "take_dense",
          [](Data& self, const Array& x, int threads) {
            self.owner = nb::object();
            take_dense(self, x, threads);
          },
          nb::arg("x"), nb::arg("threads") = 0,
          "Uses float32 columns where they are (Fortran order); converts other arrays once.")
      .def(
          "take_stream",
          [](Data& self, const nb::object& capsule, int threads) {
            self.owner = nb::object();
            take_stream(self, capsule, threads);
          },
          nb::arg("capsule"), nb::arg("threads") = 0,
          "Values and names of the columns of an Arrow stream, batch by batch.")
      .def("is_finite", is_finite, nb::arg("allow_nan"), nb::arg("columns").none(), nb::arg("threads") = 0,
           "Whether the values, or those of some columns, are finite.")
      .def("fill_zero", fill_zero, nb::arg("threads") = 0, "Missing values become zero.")
      .def("take_sparse", take_sparse, nb::arg("rows"), nb::arg("indptr"), nb::arg("indices"),
           nb::arg("values"), "Compressed sparse columns, rows ascending.")
      .def("set_labels", set_labels, nb::arg("names"), nb::arg("ids"))
      .def(
          "set_tasks",
          [](Data& self, const std::vector<std::string>& names, const Ids& id) {
            require_rows(self, id.shape(0), "tasks");
            self.set.task = by_appearance(names, id);
          },
          nb::arg("names"), nb::arg("ids"))
      .def("set_values", set_values, nb::arg("values"))
      .def(
          "set_weights",
          [](Data& self, const Doubles& weights) {
            require_rows(self, weights.shape(0), "weights");
            self.set.weight.assign(weights.data(), weights.data() + weights.shape(0));
          },
          nb::arg("weights"))
      .def_prop_rw(
          "column_names", [](const Data& self) { return self.set.column_names; },
          [](Data& self, std::vector<std::string> names) { self.set.column_names = std::move(names); })
      .def_prop_rw(
          "label_name", [](const Data& self) { return self.set.label_place.name; },
          [](Data& self, std::string name) { self.set.label_place.name = std::move(name); })
      .def_prop_rw(
          "image_width", [](const Data& self) { return self.set.image_width; },
          [](Data& self, Index width) { self.set.image_width = width; })
      .def_prop_rw(
          "source", [](const Data& self) { return self.set.source; },
          [](Data& self, std::string source) { self.set.source = std::move(source); })
      .def_prop_ro("shape",
                   [](const Data& self) { return nb::make_tuple(self.set.rows(), self.set.columns()); })
      .def_prop_ro("is_borrowed", [](const Data& self) { return self.set.x.is_borrowed(); });
  bind_categories(data);
  bind_cache(module, data);
  module.def(
      "canonical_label", [](const std::string& text) { return canonical_label(text); }, nb::arg("text"),
      "The form in which labels are compared: \"+1\" and \"1.0\" are \"1\".");
}

}  // namespace sharelearn::python
