// Progress, callbacks and interrupts of a run that has released the GIL.
#pragma once

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <exception>
#include <optional>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {

class PythonMonitor : public Monitor {
 public:
  /// `progress(what, done, total, note)` and `after_round(dict)`, or None. What they raise ends the run;
  /// after_round ends it also by returning False.
  PythonMonitor(nb::object progress, nb::object after_round);

  void progress(std::string_view what, std::int64_t done, std::int64_t total, std::string_view note) override;
  /// Looks for signals, as an interrupt with Ctrl-C, a few times per second.
  bool cancelled() const override;
  bool after_round(const Round& round);

  /// Runs `learn` with the GIL released: (model, report, exception or None). Without a model, raises what
  /// ended the run.
  template <class Learn>
  nb::tuple run(const Learn& learn) {
    std::optional<Fitted> fitted;
    try {
      const nb::gil_scoped_release released;
      fitted.emplace(learn());
    } catch (const Error&) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
    return result(*fitted);
  }

 private:
  /// Calls with the GIL; keeps what is raised.
  template <class Call>
  void guarded(const Call& call) const {
    if (raised_) return;
    const nb::gil_scoped_acquire acquired;
    try {
      call();
    } catch (nb::python_error&) {
      raised_ = std::current_exception();
    }
  }
  nb::tuple result(const Fitted& fitted) const;

  nb::object progress_, after_round_;
  mutable std::exception_ptr raised_;
  mutable std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace sharelearn::python
