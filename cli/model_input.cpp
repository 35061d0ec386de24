// Reading data for a model that exists.
#include <fmt/core.h>

#include "command.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {

Dataset read_for_model(const Model& model, const std::string& path, const DataOptions& options,
                       bool labels_required, ThreadPool& threads) {
  ReadOptions read = options.resolved();
  read.columns = model.columns();
  read.labels_required = labels_required;
  return read_dataset(path, read, threads);
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

}  // namespace sharelearn::cli
