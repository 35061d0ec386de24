// An empty model from the options of sharing, and the options in which two models differ.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/fit/sharing.hpp"

namespace sharelearn {

/// Checks the options and fills in their defaults.
SharingFit resolved(SharingFit options);

/// Options of the model where `options` has none.
SharingFit with_options_of(const Model& model, SharingFit options);

/// A model that has seen nothing. The options must be filled in. Throws OptionError.
std::shared_ptr<SharingModel> empty_sharing_model(const SharingFit& options);

/// Options, in backticks, in which the models differ.
std::vector<std::string> differing_options(const SharingModel& a, const SharingModel& b);

}  // namespace sharelearn
