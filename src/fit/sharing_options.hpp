// From the options of sharing to an empty model, and back from a model to what it was learned with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sharelearn/fit/sharing.hpp"

namespace sharelearn {

/// A model that has seen nothing. The options must be filled in. Throws OptionError.
std::shared_ptr<SharingModel> empty_sharing_model(const SharingFit& options);

/// Options, in backticks, in which the models differ.
std::vector<std::string> differing_options(const SharingModel& a, const SharingModel& b);

}  // namespace sharelearn
