// sharelearn._core: the library for Python, with no more in it than a front has: it converts, calls and
// translates errors.
#include "core.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/version.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace sharelearn;
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const InputError& error) {
      PyErr_SetString(PyExc_ValueError, python::in_python_words(error.what()).c_str());
    } catch (const Error& error) {
      PyErr_SetString(PyExc_RuntimeError, python::in_python_words(error.what()).c_str());
    }
  });
  nb::set_leak_warnings(false);  // a model that a caught exception still holds at exit is no leak
  module.attr("__version__") = std::string(kVersion).c_str();
  python::bind_data(module);
  python::bind_model(module);
  python::bind_fit(module);
  python::bind_online(module);
}
