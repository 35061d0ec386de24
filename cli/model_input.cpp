// Reading data for a model that exists.
#include <fmt/core.h>

#include "command.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {

Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       bool labels_required, ThreadPool& threads) {
  ReadOptions read = options.resolved();
  read.columns = model.columns();
  read.labels_required = labels_required;
  return read_dataset(path, read, threads);
}

void ModelInput::declare(CLI::App& app, const std::string& what) {
  app.add_option("MODEL", model, "A model that fit wrote")->required();
  app.add_option("DATA", data, what)->required();
  app.add_option("--features", features, "Use the model of at most this many features")
      ->check(non_negative());
  app.add_option("--levels", levels, "Use the first so many levels of a cascade")->check(positive());
  reading.declare(app);
}

ModelPtr ModelInput::load() const {
  ModelPtr loaded = load_model(model);
  if (features >= 0) use_features(*loaded, features);
  if (levels > 0) use_levels(*loaded, levels);
  return loaded;
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
    throw InputError("--levels: the model is no cascade, it has no levels");
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
