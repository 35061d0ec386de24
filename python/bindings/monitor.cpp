#include "monitor.hpp"

namespace sharelearn::python {

PythonMonitor::PythonMonitor(nb::object progress, nb::object after_round)
    : progress_(std::move(progress)), after_round_(std::move(after_round)) {}

void PythonMonitor::progress(std::string_view what, std::int64_t done, std::int64_t total,
                             std::string_view note) {
  if (progress_.is_none()) return;
  guarded([&] { progress_(std::string(what), done, total, std::string(note)); });
}

bool PythonMonitor::cancelled() const {
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (!raised_ && now - looked_ >= pause) {
    looked_ = now;
    guarded([] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
  }
  return raised_ != nullptr;
}

bool PythonMonitor::after_round(const Round& round) {
  bool go_on = true;
  if (!after_round_.is_none()) {
    Round copy = round;
    const nlohmann::json values = fields(copy).values();
    guarded([&] {
      const nb::object answer = after_round_(to_python(values));
      go_on = !(nb::isinstance<nb::bool_>(answer) && !nb::cast<bool>(answer));
    });
  }
  return go_on && raised_ == nullptr;
}

nb::tuple PythonMonitor::result(const Fitted& fitted) const {
  nb::object exception = nb::none();
  if (raised_) {
    try {
      std::rethrow_exception(raised_);
    } catch (const nb::python_error& error) {
      exception = nb::borrow(error.value());
    }
  }
  nb::object report = to_python(to_json(fitted.report));
  nb::list warnings;
  for (const std::string& warning : fitted.report.warnings) warnings.append(in_python_words(warning));
  report["warnings"] = warnings;
  return nb::make_tuple(fitted.model, report, exception);
}

}  // namespace sharelearn::python
