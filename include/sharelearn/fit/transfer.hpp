// Learning new classes or tasks with the knowledge of a cascade (section 5 of [ZweigWeinshall13],
// learn/transfer.hpp): batch by projections, online by concatenation.
#pragma once

#include "sharelearn/fit/fit.hpp"

namespace sharelearn {

/// Options for a batch cascade; an online cascade applies its own options to the new tasks.
struct TransferFit {
  std::optional<std::string> loss = {};
  std::optional<Index> components = {};
  std::optional<std::vector<double>> phi = {};
  std::optional<double> smoothing = {};
  std::optional<bool> each_level = {};
};
FieldTable fields(TransferFit& options);

/// `known`: a model of a cascade, batch or online. The data is raw, as the model takes it. Throws InputError
/// if the model is not a cascade of columns, or the data does not fit it. `source`: name of the model for
/// messages.
Fitted transfer(const Model& known, const FitData& data, const TransferFit& options, const Context& context,
                const std::string& source = "the model");

}  // namespace sharelearn
