// Data in binary files that are mapped: written from batches of rows, and opened.
#include "sharelearn/data/cache.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

/// A cache that is being written, with the threads that write it.
class BatchWriter {
 public:
  BatchWriter(const std::string& path, std::optional<Index> rows, int threads)
      : threads_(threads), writer_(path, threads_) {
    if (rows) writer_.expect_rows(*rows);
  }

  void add(const Data& batch) {
    if (!batch.texts.empty()) {
      throw InputError("column '" + batch.texts.front().name +
                       "' holds text, whose levels are known after the last batch only: expected numbers");
    }
    const nb::gil_scoped_release released;
    writer_.add(batch.set);
  }

  void finish() {
    const nb::gil_scoped_release released;
    writer_.finish();
  }

 private:
  Threads threads_;
  CacheWriter writer_;
};

Data open_cache(const std::string& path, int threads) {
  Threads pool(threads);
  const nb::gil_scoped_release released;
  return {
      read_dataset(path, {.format = Format::cache, .missing = Missing::keep, .labels_required = false}, pool),
      {},
      {}};
}

nb::object labels_of(const Data& data) {
  const LabelColumn& label = data.set.label;
  if (label.empty()) return nb::none();
  return nb::make_tuple(label.names, as_array(label.id));
}

nb::object weights_of(const Data& data) {
  return data.set.weight.empty() ? nb::none() : nb::cast(as_array(data.set.weight));
}

}  // namespace

void bind_cache(nb::module_& module, nb::class_<Data>& data) {
  data.def(
          "shared",
          [](const Data& self) {
            return Data{self.set, self.owner, self.texts};
          },
          "Another data set of the same values, with labels and weights of its own.")
      .def_prop_ro("labels", labels_of, "Names of the labels and the number of each row's, or None.")
      .def_prop_ro("weights", weights_of, "Weights of the rows, or None.");
  module.def("open_cache", open_cache, nb::arg("path"), nb::arg("threads") = 0);
  nb::class_<BatchWriter>(module, "BatchWriter", "Writes a cache from batches of rows.")
      .def(nb::init<const std::string&, std::optional<Index>, int>(), nb::arg("path"),
           nb::arg("rows").none() = nb::none(), nb::arg("threads") = 0)
      .def("add", &BatchWriter::add, nb::arg("batch"))
      .def("finish", &BatchWriter::finish, "Completes the file; without it, none appears.");
}

}  // namespace sharelearn::python
