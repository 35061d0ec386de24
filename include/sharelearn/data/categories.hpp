// Columns of text as columns of numbers: one column of zeros and ones per level, named `city=Paris`.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// A column with more levels than this is refused: it is hardly a category, and each level takes a column.
inline constexpr Index kMostCategoryLevels = 256;

/// A column of text beside the numbers of a data set.
struct TextColumn {
  std::string name;
  Index place = 0;     ///< number of numeric columns before it
  LabelColumn values;  ///< the level of each row; -1: missing
};

/// Puts the columns of text, which are ordered by `place`, among the numeric columns of `data`, and lists
/// them in data.categories. Levels ascend as classes do. A missing value is NaN in all columns of its
/// category. Throws InputError for more than kMostCategoryLevels levels, or where names of columns would be
/// equal.
void add_categories(Dataset& data, const std::vector<TextColumn>& columns);

/// Writes the columns of a category whose levels are known into `x`: a row of another level is all zeros, a
/// row without a value all NaN.
void write_levels(const LabelColumn& values, const Category& category, DenseMatrix& x);

/// A column of text of a table in memory as the readers of files take it: numbers in canonical form, and
/// texts such as "" and "NA" are missing values.
LabelColumn text_as_read(const LabelColumn& raw);

/// Names of the columns of a category: `name=level`.
std::vector<std::string> level_names(const Category& category);

}  // namespace sharelearn
