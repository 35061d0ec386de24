// Weights of classes from text: one line per class, its name and its weight.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// The weight of each of `names`; 1 for a class that the text does not name. Throws OptionError on
/// `class-weight`, with the line, for a class that is not in `names` and for a weight that is not above 0.
std::vector<double> class_weights_from(const std::string& text, const std::vector<std::string>& names);

}  // namespace sharelearn
