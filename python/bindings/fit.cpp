// fit() of every batch method through its table of options; progress, callbacks and interrupts.
#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>

#include "core.hpp"
#include "monitor.hpp"
#include "sharelearn/fit/cascade.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/fit/transfer.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

std::unique_ptr<Method> method_named(const std::string& name) {
  for (auto& method : batch_methods()) {
    if (method->name() == name) return std::move(method);
  }
  throw InputError("there is no method '" + name + "'");
}

/// Fits with the GIL released. An exception of a callback or an interrupt ends the fit; the model so far is
/// the result, and the exception its third entry.
nb::tuple fit_method(const std::string& name, const nb::dict& options, const Data& train, const Data* test,
                     int threads, nb::object progress, nb::object after_round) {
  const auto method = method_named(name);
  set_fields(method->fields(), options);
  PythonMonitor monitor(std::move(progress), std::move(after_round));
  const nb::tuple result = monitor.run([&] {
    Threads pool(threads);
    const FitObserver observer = [&](const Round& round) { return monitor.after_round(round); };
    return method->fit({train.set, test != nullptr ? &test->set : nullptr}, {pool, monitor}, observer);
  });
  const FieldTable table = method->fields();
  const Field* checkpoint = table.find("checkpoint");
  if (checkpoint != nullptr && checkpoint->is_set() && result[2].is_none())  // the run is finished
    std::filesystem::remove(checkpoint->get().get<std::string>());
  return result;
}

/// fit_method() of shareboost that goes on from a model of the same data to more features.
nb::tuple continue_shareboost(const std::shared_ptr<Model>& start, const nb::dict& options, const Data& train,
                              int threads, nb::object progress, nb::object after_round) {
  ShareBoostFit chosen;
  set_fields(fields(chosen), options);
  chosen.start = start;
  PythonMonitor monitor(std::move(progress), std::move(after_round));
  return monitor.run([&] {
    Threads pool(threads);
    const FitObserver observer = [&](const Round& round) { return monitor.after_round(round); };
    return fit({train.set}, chosen, {pool, monitor}, observer);
  });
}

nb::dict description(std::string_view name, std::string_view summary, const FieldTable& table) {
  nb::dict entry;
  entry["name"] = std::string(name);
  entry["summary"] = in_python_words(summary);
  entry["fields"] = table_as_list(table);
  return entry;
}

/// Every method with its table of options.
nb::list methods() {
  nb::list list;
  for (auto& method : batch_methods())
    list.append(description(method->name(), method->summary(), method->fields()));
  SharingFit sharing;
  list.append(description(SharingFit::name, SharingFit::summary, fields(sharing)));
  OnlineCascadeFit online;
  list.append(description("online-cascade", "The cascade, one example after the other", fields(online)));
  TransferFit transfer;
  list.append(description("transfer", "New classes with the knowledge of a cascade", fields(transfer)));
  return list;
}

nb::tuple transfer_model(const Model& known, const Data& train, const nb::dict& options, int threads) {
  TransferFit chosen;
  set_fields(fields(chosen), options);
  PythonMonitor monitor{nb::none(), nb::none()};
  return monitor.run([&] {
    Threads pool(threads);
    return transfer(known, {train.set}, chosen, {pool, monitor});
  });
}

nb::tuple fit_online_cascade(const nb::dict& options, const Data& train, int threads, nb::object progress) {
  OnlineCascadeFit chosen;
  set_fields(fields(chosen), options);
  PythonMonitor monitor(std::move(progress), nb::none());
  return monitor.run([&] {
    Threads pool(threads);
    return fit({train.set}, chosen, {pool, monitor});
  });
}

}  // namespace

void bind_fit(nb::module_& module) {
  module.def("methods", methods, "Every method with its table of options, as a list of dicts.");
  module.def("fit", fit_method, nb::arg("method"), nb::arg("options"), nb::arg("train"),
             nb::arg("test").none() = nb::none(), nb::arg("threads") = 0,
             nb::arg("progress").none() = nb::none(), nb::arg("after_round").none() = nb::none(),
             "Learns a model: (model, report, exception or None).");
  module.def("continue_shareboost", continue_shareboost, nb::arg("start"), nb::arg("options"),
             nb::arg("train"), nb::arg("threads") = 0, nb::arg("progress").none() = nb::none(),
             nb::arg("after_round").none() = nb::none(),
             "Goes on from a model of the same data to more features: (model, report, exception or None).");
  module.def("fit_online_cascade", fit_online_cascade, nb::arg("options"), nb::arg("train"),
             nb::arg("threads") = 0, nb::arg("progress").none() = nb::none());
  module.def("transfer", transfer_model, nb::arg("known"), nb::arg("train"), nb::arg("options"),
             nb::arg("threads") = 0);
}

}  // namespace sharelearn::python
