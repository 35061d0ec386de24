// Model: prediction, files and everything that fitted attributes show.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core.hpp"
#include "sharelearn/export/export.hpp"
#include "sharelearn/fit/evaluate.hpp"
#include "sharelearn/model/early.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/report/page.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

using Scores = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

/// An array that takes over the memory of `values`.
Scores as_matrix(Grid<double> values) {
  const auto rows = static_cast<std::size_t>(values.rows()),
             columns = static_cast<std::size_t>(values.cols());
  const std::int64_t stride = values.stride();
  auto* kept = new Grid<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Grid<double>*>(p); });
  return Scores(kept->data(), {rows, columns}, owner, {1, stride});
}

Scores compute(const Model& model, const Data& data, int threads, bool probabilities) {
  Grid<double> result;
  {
    Threads pool(threads_for(data.set.rows() * std::max<Index>(model.features_used(), 1), threads));
    const nb::gil_scoped_release released;
    result = probabilities ? model.proba(data.set, pool) : model.scores(data.set, pool);
  }
  return as_matrix(std::move(result));
}

template <bool kProbabilities>
Scores of_data(const Model& model, const Data& data, int threads) {
  return compute(model, data, threads, kProbabilities);
}

template <bool kProbabilities>
Scores of_array(const Model& model, const Array& x, int threads) {
  Data data;
  take_dense(data, x, threads);
  return compute(model, data, threads, kProbabilities);
}

/// Number of the class with the highest score; signs of tasks; values of a regression.
nb::object predictions(const Model& model, const Data& data, int threads) {
  Predictions result;
  {
    Threads pool(threads_for(data.set.rows() * std::max<Index>(model.features_used(), 1), threads));
    const nb::gil_scoped_release released;
    result = model.predict(data.set, pool);
  }
  if (model.outputs_are() == OutputKind::classes) return nb::cast(as_array(std::move(result.classes)));
  if (model.outputs_are() == OutputKind::value) return nb::cast(as_array(std::move(result.values)));
  auto* kept = new Grid<std::int8_t>(std::move(result.signs));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Grid<std::int8_t>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::int8_t, nb::ndim<2>>(
      kept->data(), {static_cast<std::size_t>(kept->rows()), static_cast<std::size_t>(kept->cols())}, owner,
      {1, kept->stride()}));
}

nb::object predict_data(const Model& model, const Data& data, int threads) {
  return predictions(model, data, threads);
}
nb::object predict_array(const Model& model, const Array& x, int threads) {
  Data data;
  take_dense(data, x, threads);
  return predictions(model, data, threads);
}

/// The model as a linear one; null if it is not.
std::shared_ptr<const LinearModel> linear(const std::shared_ptr<Model>& model) {
  if (const auto online = std::dynamic_pointer_cast<OnlineCascadeModel>(model))
    return online->to_linear(false);
  return std::dynamic_pointer_cast<const LinearModel>(model);
}

const LinearModel& require_linear(const std::shared_ptr<const LinearModel>& model) {
  if (!model) throw InputError("the model has no path of stages");
  return *model;
}

/// A model that predicts as this one does at a stage.
std::shared_ptr<Model> at_stage(const std::shared_ptr<Model>& self, Index stage) {
  const auto of = linear(self);
  const LinearModel& whole = require_linear(of);
  if (stage < 0 || stage >= std::ssize(whole.stages)) throw nb::index_error("there is no such stage");
  auto part = std::make_shared<LinearModel>(whole);
  part->stage = stage;
  return part;
}

/// Weights and intercepts for raw columns, outputs x columns, at the stage in use; none if a feature is not a
/// column.
std::optional<std::pair<Grid<double>, std::vector<double>>> raw_weights(const LinearModel& model) {
  const auto outputs = std::ssize(model.names);
  Grid<double> coefficients(outputs, model.columns());
  std::vector<double> intercept = model.bias();
  const std::vector<double> weights = model.weights();
  const Scaling& scaling = model.preprocessing.scaling;
  for (std::size_t f = 0; f < model.features.size(); ++f) {
    if (model.features[f]->pool() != "columns") return std::nullopt;
    const Index j = model.features[f]->inputs().front();
    const auto at = static_cast<std::size_t>(j);
    for (Index c = 0; c < outputs; ++c) {
      const auto from = f * static_cast<std::size_t>(outputs) + static_cast<std::size_t>(c);
      const double weight = from < weights.size() ? weights[from] : 0;
      const double raw = scaling.is_identity() ? weight : weight * scaling.factor[at];
      coefficients(c, j) += raw;
      if (!scaling.is_identity()) intercept[static_cast<std::size_t>(c)] -= raw * scaling.offset[at];
    }
  }
  return std::pair(std::move(coefficients), std::move(intercept));
}

nb::object coefficients(const std::shared_ptr<Model>& self) {
  const auto of = linear(self);
  if (!of) return nb::none();
  auto raw = raw_weights(*of);
  if (!raw) return nb::none();
  return nb::make_tuple(as_matrix(std::move(raw->first)), as_array(std::move(raw->second)));
}

/// What scores of classes have in common and may lose: only their differences count, and no penalty fixes the
/// mean of the intercepts.
double common_score(const std::shared_ptr<Model>& self) {
  const auto of = linear(self);
  if (!of || of->kind_of_output != OutputKind::classes) return 0;
  const std::vector<double> bias = of->bias();
  return std::accumulate(bias.begin(), bias.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(bias.size(), 1));
}

/// Features with a weight at the stage in use, in order of choice.
nb::list features(const std::shared_ptr<Model>& self) {
  nb::list list;
  const auto of = linear(self);
  if (!of) return list;
  const std::vector<double> weights = of->weights();
  const std::size_t outputs = of->names.size();
  std::size_t column = 0;
  for (const FeaturePtr& feature : of->features) {
    const auto width = static_cast<std::size_t>(feature->width());
    const auto begin = std::min(column * outputs, weights.size()),
               end = std::min((column + width) * outputs, weights.size());
    column += width;
    const bool used =
        std::any_of(weights.begin() + static_cast<std::ptrdiff_t>(begin),
                    weights.begin() + static_cast<std::ptrdiff_t>(end), [](double w) { return w != 0; });
    if (used) list.append(to_python(feature->describe(of->column_names())));
  }
  return list;
}

/// Columns of the data that a prediction reads; an indicator reads the column whose missing values it tells
/// of.
std::vector<Index> inputs(const std::shared_ptr<Model>& self) {
  const auto of = linear(self);
  std::set<Index> columns;
  if (of) {
    const std::vector<double> weights = of->weights();
    const std::size_t outputs = of->names.size();
    const Index data_columns = of->preprocessing.data_columns();
    std::size_t column = 0;
    for (const FeaturePtr& feature : of->features) {
      for (std::size_t e = 0; e < static_cast<std::size_t>(feature->width()) * outputs; ++e) {
        const std::size_t at = column * outputs + e;
        if (at >= weights.size() || weights[at] == 0) continue;
        for (const Index input : feature->inputs()) {
          const auto beyond = static_cast<std::size_t>(std::max<Index>(0, input - data_columns));
          const bool is_indicator = beyond < of->preprocessing.indicators.size() && input >= data_columns;
          columns.insert(is_indicator ? of->preprocessing.indicators[beyond] : input);
        }
        break;
      }
      column += static_cast<std::size_t>(feature->width());
    }
  }
  return {columns.begin(), columns.end()};
}

std::vector<std::pair<Index, double>> stages_of(const LinearModel& model) {
  std::vector<std::pair<Index, double>> stages;
  for (const Stage& stage : model.stages) stages.emplace_back(stage.features, stage.parameter);
  return stages;
}

nb::bytes bytes_of(const Model& model) {
  const std::string bytes = model_bytes(model);
  return nb::bytes(bytes.data(), bytes.size());
}

std::shared_ptr<Model> from_bytes(const nb::bytes& bytes) {
  return model_from_bytes(std::string_view(bytes.c_str(), bytes.size()), "the model");
}

std::string page_of(const Model& model, const Data* data, nb::handle fit, const std::string& title,
                    int threads) {
  const PageOptions options{.title = title, .fit = to_json(fit)};
  Threads pool(threads);
  const nb::gil_scoped_release released;
  return report_page(model, options, data == nullptr ? nullptr : &data->set, pool);
}

void export_to(const Model& model, const std::string& path, const std::string& to,
               std::optional<Index> features) {
  LinearModel exported = *as_linear(model, "export");
  if (features) {
    exported.use_features(*features);
    exported.early = nullptr;  // its thresholds belong to another number of features
  }
  write_file(path, export_model(exported, export_target_from(to), path, nullptr).text);
}

/// A model that predicts as this one does, with thresholds at which a prediction may stop.
std::shared_ptr<Model> with_early_stop(const Model& self, const Data& data, double disagreement,
                                       double confidence, std::uint64_t seed, int threads) {
  const auto within = [](double value) { return value > 0 && value < 1; };
  if (!within(disagreement)) throw InputError("`disagreement` must be above 0 and below 1");
  if (!within(confidence)) throw InputError("`confidence` must be above 0 and below 1");
  auto model = model_from_bytes(model_bytes(self), "the model");
  Threads pool(threads);
  const nb::gil_scoped_release released;
  model->early = std::make_shared<const EarlyStop>(fit_early(
      self, data.set, {.disagreement = disagreement, .confidence = confidence, .seed = seed}, pool));
  return model;
}

/// Scores, and the number of features that were computed for each row.
nb::tuple early_scores(const Model& self, const Data& data, int threads) {
  EarlyScores found;
  std::vector<Index> features;
  {
    Threads pool(threads);
    const nb::gil_scoped_release released;
    found = self.early_scores(data.set, pool);
    const auto work = early_work(*as_linear(self, "early"), *self.early);
    for (const std::int32_t stop : found.stop)
      features.push_back(work[static_cast<std::size_t>(stop)].features);
  }
  return nb::make_tuple(as_matrix(std::move(found.scores)), as_array(std::move(features)));
}

nb::tuple early_scores_of_array(const Model& self, const Array& x, int threads) {
  Data data;
  take_dense(data, x, threads);
  return early_scores(self, data, threads);
}

void bind_early(nb::class_<Model>& model) {
  model
      .def("with_early_stop", with_early_stop, nb::arg("data"), nb::arg("disagreement") = 0.001,
           nb::arg("confidence") = 0.95, nb::arg("seed") = 1, nb::arg("threads") = 0,
           "This model with thresholds at which a prediction may stop, from rows not trained on.")
      .def("early_scores", early_scores, nb::arg("data"), nb::arg("threads") = 0,
           "Scores of rows that stop where their answer is safe, and features computed per row.")
      .def("early_scores", early_scores_of_array, nb::arg("x"), nb::arg("threads") = 0);
}

void bind_prediction(nb::class_<Model>& model) {
  model
      .def("scores", of_data<false>, nb::arg("data"), nb::arg("threads") = 0, "One score per row and output.")
      .def("scores", of_array<false>, nb::arg("x"), nb::arg("threads") = 0)
      .def("proba", of_data<true>, nb::arg("data"), nb::arg("threads") = 0,
           "One probability per row and output.")
      .def("proba", of_array<true>, nb::arg("x"), nb::arg("threads") = 0)
      .def("predict", predict_data, nb::arg("data"), nb::arg("threads") = 0,
           "Numbers of classes (see `outputs`), signs of tasks, or values.")
      .def("predict", predict_array, nb::arg("x"), nb::arg("threads") = 0)
      .def(
          "evaluate",
          [](const Model& self, const Data& data, int threads) {
            Threads pool(threads);
            return to_python(to_json(evaluate(self, data.set, pool)));
          },
          nb::arg("data"), nb::arg("threads") = 0, "What `sharelearn evaluate` reports.")
      .def("report_page", page_of, nb::arg("data").none(), nb::arg("fit"), nb::arg("title"),
           nb::arg("threads") = 0, "One HTML page about the model, as `sharelearn report` writes it.");
}

void bind_stages(nb::class_<Model>& model) {
  model
      .def("at_stage", at_stage, nb::arg("stage"),
           "A model that predicts as this one does at a stage of its path.")
      .def_prop_ro(
          "stages",
          [](const std::shared_ptr<Model>& self) {
            nb::list list;
            const auto of = linear(self);
            if (!of) return list;
            for (const auto& [count, parameter] : stages_of(*of))
              list.append(nb::make_tuple(count, parameter));
            return list;
          },
          "One pair per stage: number of features, and lambda or the number of features asked for.")
      .def_prop_ro("stage",
                   [](const std::shared_ptr<Model>& self) -> Index {
                     const auto of = linear(self);
                     return of ? of->stage : 0;
                   })
      .def_prop_ro(
          "coefficients", coefficients,
          "Weights (outputs x columns) and intercepts for raw columns, or None if features are not columns.")
      .def_prop_ro("common_score", common_score,
                   "Mean of the intercepts of classes, which no prediction depends on.")
      .def_prop_ro("features", features, "Features in use, in order of choice.")
      .def_prop_ro("inputs", inputs, "Columns of the data that a prediction reads, ascending.");
}

void bind_files(nb::class_<Model>& model) {
  model
      .def("export", export_to, nb::arg("path"), nb::arg("to"), nb::arg("features") = nb::none(),
           "What `sharelearn export` writes.")
      .def(
          "save", [](const Model& self, const std::string& path) { save_model(self, path); }, nb::arg("path"))
      .def_static(
          "load", [](const std::string& path) { return load_model(path); }, nb::arg("path"))
      .def("to_bytes", bytes_of, "The content of the model's file.")
      .def_static("from_bytes", from_bytes, nb::arg("content"))
      .def("__reduce__",
           [](nb::handle self) {
             const nb::object from = nb::module_::import_("sharelearn._files").attr("from_bytes");
             return nb::make_tuple(from, nb::make_tuple(self.attr("to_bytes")()));
           })
      .def(
          "to_json", [](const Model& self, bool all_stages) { return to_python(self.to_json(all_stages)); },
          nb::arg("all_stages") = false, "Everything that another program needs to predict.")
      .def("describe", [](const Model& self) { return self.describe(); })
      .def("__repr__", [](const Model& self) {
        return "<sharelearn.Model of " + std::to_string(self.features_used()) + " features, " +
               std::to_string(self.output_names().size()) + " outputs>";
      });
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model> model(module, "Model", "A learned model, as a .shl file holds it.");
  bind_prediction(model);
  bind_early(model);
  bind_stages(model);
  bind_files(model);
  model.def_prop_ro("kind", [](const Model& self) { return std::string(self.kind()); })
      .def_prop_ro("outputs_are", [](const Model& self) { return std::string(name_of(self.outputs_are())); })
      .def_prop_ro(
          "outputs", [](const Model& self) { return self.output_names(); }, "Names of classes or tasks.")
      .def_prop_ro("gives_probabilities", [](const Model& self) { return gives_probabilities(self.link()); })
      .def_prop_ro("columns", [](const Model& self) { return self.columns(); })
      .def_prop_ro("column_names", [](const Model& self) { return self.column_names(); })
      .def_prop_ro("features_used", [](const Model& self) { return self.features_used(); })
      .def_prop_ro("metadata", [](const Model& self) { return to_python(self.metadata); });
}

}  // namespace sharelearn::python
