// What the parts of the extension module share: the conversions between Python's and the library's values,
// the threads, and the classes that hold data, models and learners.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/categories.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/model/model.hpp"

namespace sharelearn::python {

namespace nb = nanobind;
using Array = nb::ndarray<nb::ro, nb::device::cpu>;

nb::object to_python(const nlohmann::json& value);
/// Throws InputError where JSON has no such value.
nlohmann::json to_json(nb::handle value);

/// An array that takes over the memory of `values`.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> as_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

/// Python's name of an option: `per-round` is per_round, and some have the name that scikit-learn gives them.
std::string python_name(std::string_view option);
/// A library message with options named as Python names them.
std::string in_python_words(std::string_view message);

/// Sets the fields that `options` names (in Python's words); None leaves a field unset.
void set_fields(const FieldTable& table, const nb::dict& options);
/// The table as a list of dicts, from which estimators are generated.
nb::list table_as_list(const FieldTable& table);

/// Threads on loan from a store of idle pools: starting threads costs more than a small prediction, and a
/// pool serves one caller at a time.
class Threads {
 public:
  /// 0: one per core.
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  operator ThreadPool&() { return *pool_; }

 private:
  std::unique_ptr<ThreadPool> pool_;
};

/// A data set, and the Python object that owns borrowed values.
struct Data {
  Dataset set;
  nb::object owner;
  std::vector<TextColumn> texts;  ///< columns of text that are not part of the matrix yet, in order
};

/// Threads worth waking for this many numbers.
int threads_for(Index numbers, int asked);

/// Values of a 2-D array: borrowed if they are float32 columns, else converted once.
void take_dense(Data& data, const Array& x, int threads);

/// Values and column names of an Arrow stream, given as the capsule of __arrow_c_stream__; its columns of
/// text are put aside.
void take_stream(Data& data, nb::handle capsule, int threads);

void bind_data(nb::module_& module);
void bind_categories(nb::class_<Data>& data);
void bind_cache(nb::module_& module, nb::class_<Data>& data);
void bind_model(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_online(nb::module_& module);

/// Model and report, as (Model, dict).
nb::tuple as_pair(const Fitted& fitted);

}  // namespace sharelearn::python
