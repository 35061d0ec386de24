// Reading data for a model that exists.
#include <fmt/core.h>

#include <algorithm>

#include "command.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/error.hpp"
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

/// Chooses the point of the model's path with at most `count` features.
void use_features(Model& model, Index count) {
  auto* linear = dynamic_cast<LinearModel*>(&model);
  if (linear == nullptr || linear->increments) {
    throw InputError(
        fmt::format("--features: a model of the kind '{}' has no path of features to choose from",
                    linear == nullptr ? std::string(model.kind()) : "cascade"));
  }
  linear->use_features(count);
}

/// Predicts with the first `count` levels of a cascade.
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

/// Chooses the point of a path of lambdas.
void use_lambda(Model& model, double lambda) {
  auto* linear = dynamic_cast<LinearModel*>(&model);
  if (linear == nullptr || !linear->is_lambda_path()) {
    throw InputError("--lambda: the model has no path of lambdas to choose from; see --features");
  }
  linear->use_lambda(lambda);
}

}  // namespace

Dataset read_matching(const Dataset& known, const std::string& path, ReadOptions options,
                      ThreadPool& threads) {
  options.match = true;
  options.whose = known.source;
  options.columns = known.columns();
  options.column_names = known.column_names;
  options.categories = known.categories;
  options.label_place = known.label_place;
  if (!known.column_names.empty()) {  // columns with other names are left out
    options.group_column.clear();
    options.fold_column.clear();
  }
  return read_dataset(path, options, threads);
}

ReadOptions reading_for(const Model& model, const DataOptions& options, const DataNeeds& needs) {
  ReadOptions read = options.resolved();
  const Preprocessing& input = model.preprocessing;
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  read.labels_required = needs.labels;
  read.columns = input.data_columns();
  read.column_names = input.data_names();
  read.categories = input.categories;
  read.label_place = model.label_place;
  read.zero_based = read.zero_based || model.zero_based;
  // A vocabulary finds names by itself.
  read.match = read.columns > 0 && (sharing == nullptr || !sharing->features.by_name());
  if (!needs.all_columns) {
    const std::vector<char> needed = input.needed_in_data(model.columns_needed());
    if (std::ranges::any_of(needed, [](char n) { return n != 0; })) read.needed = needed;
  }
  const bool fills = read.missing == Missing::error && !input.means.empty();
  if (fills || read.missing == Missing::mean) read.missing = Missing::keep;  // the model has the means
  return read;
}

Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       const DataNeeds& needs, ThreadPool& threads) {
  const auto* sharing = dynamic_cast<const SharingModel*>(&model);
  if (sharing != nullptr && sharing->features.by_name()) {
    if (options.format == "svmlight" || (options.format == "auto" && model.columns() == 0)) {
      return read_named_lines(path, options, needs.labels, sharing->features.hash_bits() > 0);
    }
  }
  return read_dataset(path, reading_for(model, options, needs), threads);
}

void PathPoint::declare(CLI::App& app, const std::string& verb) {
  auto* by_features =
      app.add_option("--features", features,
                     verb + " the model with at most N features, of those that the training kept")
          ->check(non_negative())
          ->group("Model");
  app.add_option("--lambda", lambda, verb + " the solution of a path whose lambda is nearest to this one")
      ->check(positive())
      ->excludes(by_features)
      ->group("Model");
  app.add_option("--levels", levels, verb + " only the first N levels of a cascade")
      ->check(positive())
      ->group("Model");
}

void PathPoint::choose(Model& model) const {
  if (features >= 0) use_features(model, features);
  if (lambda) use_lambda(model, *lambda);
  if (levels > 0) use_levels(model, levels);
}

void forget_training(Model& model) {
  if (!model.metadata.contains("summary")) return;
  nlohmann::json& summary = model.metadata["summary"];
  if (summary.value("features_used", Index{-1}) == model.features_used()) return;
  nlohmann::json kept = nlohmann::json::object();
  if (summary.contains("candidates")) kept["candidates"] = summary["candidates"];
  kept["features_used"] = model.features_used();
  summary = std::move(kept);
}

void ModelInput::declare(CLI::App& app, const std::string& what) {
  app.add_option("MODEL", model, "Model file written by fit or transfer")->required();
  app.add_option("DATA", data, what)->required();
  point.declare(app, "Use");
  reading.declare(app);
}

ModelPtr ModelInput::load() const {
  ModelPtr loaded = load_model(model);
  point.choose(*loaded);
  return loaded;
}

void ModelInput::check_output(const NamedPath& output) const {
  check_paths({output}, {{"MODEL", model}, {"DATA", data}, {"--labels", reading.read.labels_file}});
}

}  // namespace sharelearn::cli
