// Data sets as text that read_dataset() reads back.
#pragma once

#include <string>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// A line a row, zeros left out, indices from 1. Throws InputError for a label that the format cannot hold.
std::string to_svmlight(const Dataset& data);

/// Text as a field of a CSV line: in quotes where it needs them.
std::string csv_field(const std::string& text);

/// A header where the columns have names, the label last.
std::string to_csv(const Dataset& data);

}  // namespace sharelearn
