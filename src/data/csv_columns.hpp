// Which columns of a CSV file are categories, and which are those of a model.
#pragma once

#include "data/csv_layout.hpp"

namespace sharelearn::csv {

/// Makes a category of each feature that holds only text in the first rows, and takes back a header that is a
/// row of such a file: one of its fields occurs below it. Throws InputError where the text is a date.
void find_categories(Layout& layout, const TextChunk& chunk, bool named, const ByteSource& source);

/// Gives roles and targets to the columns that a model knows (ReadOptions::match): by name where the file and
/// the model have names, else by position. Throws InputError where a column that the model reads is missing.
void match_known(Layout& layout, const FirstLines& lines, bool named, const ReadOptions& options,
                 const ByteSource& source);

}  // namespace sharelearn::csv
