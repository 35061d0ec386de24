// The online learners: they learn row by row, go on from a model, and are a model at any time.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core.hpp"
#include "monitor.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

SharingFit sharing_options(const nb::dict& options) {
  SharingFit chosen;
  set_fields(fields(chosen), options);
  return chosen;
}

OnlineCascadeFit cascade_options(const nb::dict& options) {
  OnlineCascadeFit chosen;
  set_fields(fields(chosen), options);
  return chosen;
}

/// Learns the rows; returns for each row the class predicted before learning (-1: none was known).
nb::list learn_rows(OnlineSharing& self, const Data& rows) {
  std::vector<Index> predicted;
  {
    Threads pool(1);
    const nb::gil_scoped_release released;
    RowsToLearn how;
    how.after_row = [&](const SharingTrial& trial) {
      predicted.push_back(trial.predicted);
      return true;
    };
    self.begin_input();
    self.learn(rows.set, pool, how);
  }
  nb::list list;
  for (const Index each : predicted) list.append(each);
  return list;
}

void bind_sharing(nb::module_& module) {
  nb::class_<OnlineSharing>(module, "OnlineSharing",
                            "Learns shared hypotheses online; classes may appear at any time.")
      .def_static(
          "begin", [](const nb::dict& options) { return OnlineSharing::begin(sharing_options(options)); },
          nb::arg("options"))
      .def_static(
          "resume",
          [](const std::shared_ptr<Model>& model, const nb::dict& options) {
            // The learner changes the model it goes on from.
            return OnlineSharing::resume(model_from_bytes(model_bytes(*model), "the model"),
                                         sharing_options(options));
          },
          nb::arg("model"), nb::arg("options"))
      .def("learn", learn_rows, nb::arg("rows"),
           "Learns the rows in order; returns the predictions made before each.")
      .def(
          "learn_line",
          [](OnlineSharing& self, const std::string& line) {
            const LineTrial result = self.learn(line, Unlabelled::predict);
            if (result.problem) throw InputError(result.problem.message);
            const Index predicted = result.trial.predicted;
            return predicted < 0
                       ? nb::object(nb::none())
                       : nb::object(nb::cast(self.model().classes[static_cast<std::size_t>(predicted)]));
          },
          nb::arg("line"), "One line `label index:value ...`; returns the class predicted before learning.")
      .def("model",
           [](OnlineSharing& self) -> std::shared_ptr<Model> {
             return model_from_bytes(model_bytes(self.checkpoint()), "the model");  // it cannot be copied
           })
      .def(
          "finish",
          [](OnlineSharing& self) {
            PythonMonitor monitor{nb::none(), nb::none()};
            return monitor.run([&] {
              Threads pool(1);
              return self.finish(nullptr, pool);
            });
          },
          "(model, report, None)")
      .def_prop_ro("classes", [](const OnlineSharing& self) { return self.model().classes; })
      .def_prop_ro("examples", [](const OnlineSharing& self) { return self.model().examples; })
      .def_prop_ro("mistakes", [](const OnlineSharing& self) { return self.model().mistakes; });
}

void bind_cascade(nb::module_& module) {
  nb::class_<OnlineCascadeLearner>(module, "OnlineCascade", "Learns a cascade online.")
      .def_static(
          "begin",
          [](const nb::dict& options, const std::vector<std::string>& outputs, Index columns) {
            const OnlineCascadeFit chosen = cascade_options(options);
            const bool multiclass = chosen.loss.value_or("multiclass-hinge").starts_with("multiclass");
            OnlineOutline outline = outline_of(outputs, multiclass);
            outline.columns = columns;
            return OnlineCascadeLearner::begin(chosen, outline);
          },
          nb::arg("options"), nb::arg("outputs"), nb::arg("columns"))
      .def_static(
          "resume",
          [](const std::shared_ptr<Model>& model, const nb::dict& options) {
            // The learner changes the model it goes on from.
            auto own = std::dynamic_pointer_cast<OnlineCascadeModel>(
                model_from_bytes(model_bytes(*model), "the model"));
            if (!own) throw InputError("the model is not one of an online cascade");
            return OnlineCascadeLearner::resume(own, cascade_options(options));
          },
          nb::arg("model"), nb::arg("options"))
      .def(
          "learn",
          [](OnlineCascadeLearner& self, const Data& rows) {
            PythonMonitor monitor{nb::none(), nb::none()};
            const nb::gil_scoped_release released;
            Threads pool(1);
            self.learn(self.match(rows.set, pool), {pool, monitor});
          },
          nb::arg("rows"))
      .def("model",
           [](const OnlineCascadeLearner& self) -> std::shared_ptr<Model> {
             return std::make_shared<OnlineCascadeModel>(self.model());
           })
      .def("report", [](const OnlineCascadeLearner& self) { return to_python(to_json(self.report(0))); });
}

}  // namespace

void bind_online(nb::module_& module) {
  bind_sharing(module);
  bind_cascade(module);
}

}  // namespace sharelearn::python
