// Writes data sets as text that read_dataset() can read.
#pragma once

#include <string>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// One line per row, without zeros, indices from 1. Throws InputError for a label that the format cannot
/// hold.
std::string to_svmlight(const Dataset& data);

/// Text as a field of a CSV line, quoted if necessary.
std::string csv_field(const std::string& text);

/// A header line if the columns have names; the label is the last column.
std::string to_csv(const Dataset& data);

}  // namespace sharelearn
