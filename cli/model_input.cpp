// Reading data for a model that exists.
#include <fmt/core.h>

#include "command.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/transform/missing.hpp"
#include "sharing_stream.hpp"

namespace sharelearn::cli {
namespace {

/// Lines of features by name, as `fit sharing --names` reads them.
Dataset read_named_lines(const std::string& path, const DataOptions& options, bool labels_required,
                         bool hashed) {
  LineSource source(path);
  if (options.format == "auto") require_named_lines(source);
  check_options(options.resolved(), Format::svmlight, source.name());
  LineReaderOptions reading;
  reading.ids = FeatureIds::names;
  reading.label_required = labels_required;
  reading.add_repeated = hashed;
  return read_lines(source, std::move(reading));
}

}  // namespace

Dataset read_matching(const Columns& columns, const std::string& path, ReadOptions options,
                      ThreadPool& threads) {
  // With means of these rows the prediction of a row would depend on the other rows.
  const bool fill = options.missing == Missing::mean;
  if (fill) options.missing = Missing::keep;
  options.columns = columns.count;
  options.column_names = columns.names;
  Dataset data = read_dataset(path, options, threads);
  order_columns(data, columns.names, columns.whose);
  if (fill && columns.means.empty() && has_missing(data.x)) {
    throw InputError(fmt::format(
        "{}: values are missing, and {} has no means to fill in; fit with --missing mean, or give "
        "--missing zero here",
        data.source, columns.whose));
  }
  if (fill) fill_missing(data.x, columns.means, threads);
  return data;
}

Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       bool labels_required, ThreadPool& threads) {
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  if (sharing != nullptr && sharing->features.by_name()) {
    if (options.format == "svmlight" || (options.format == "auto" && model.columns() == 0)) {
      return read_named_lines(path, options, labels_required, sharing->features.hash_bits() > 0);
    }
  }
  ReadOptions read = options.resolved();
  read.labels_required = labels_required;
  read.columns = model.columns();
  read.column_names = model.column_names();
  if (read.missing == Missing::mean) read.missing = Missing::keep;  // the model has the means
  return read_dataset(path, read, threads);
}

void ModelInput::declare(CLI::App& app, const std::string& what) {
  app.add_option("MODEL", model, "Model file written by fit or transfer")->required();
  app.add_option("DATA", data, what)->required();
  app.add_option("--features", features,
                 "Use the model with at most N features, of those that the training kept")
      ->check(non_negative())
      ->group("Model");
  app.add_option("--levels", levels, "Use only the first N levels of a cascade")
      ->check(positive())
      ->group("Model");
  reading.declare(app);
}

ModelPtr ModelInput::load() const {
  ModelPtr loaded = load_model(model);
  if (features >= 0) use_features(*loaded, features);
  if (levels > 0) use_levels(*loaded, levels);
  return loaded;
}

void ModelInput::check_output(const NamedPath& output) const {
  check_paths({output}, {{"MODEL", model}, {"DATA", data}, {"--labels", reading.read.labels_file}});
}

void use_features(Model& model, Index count) {
  auto* linear = dynamic_cast<LinearModel*>(&model);
  if (linear == nullptr || linear->increments) {
    throw InputError(
        fmt::format("--features: a model of the kind '{}' has no path of features to choose from",
                    linear == nullptr ? std::string(model.kind()) : "cascade"));
  }
  linear->use_features(count);
}

void use_levels(Model& model, Index count) {
  auto* linear = dynamic_cast<LinearModel*>(&model);
  auto* online = dynamic_cast<OnlineCascadeModel*>(&model);
  if (online == nullptr && (linear == nullptr || !linear->increments)) {
    throw InputError("--levels: the model is not a cascade, it has no levels");
  }
  const Index levels =
      online != nullptr ? online->cascade.levels() : static_cast<Index>(linear->stages.size());
  if (count < 1 || count > levels) {
    throw InputError(fmt::format("--levels {}: the cascade has levels 1 to {}", count, levels));
  }
  if (online != nullptr) {
    online->levels = count;
  } else {
    linear->stage = count - 1;
  }
}

}  // namespace sharelearn::cli
