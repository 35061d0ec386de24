// Preprocessing of raw data before features are computed: order of the columns, values for missing ones,
// columns that tell which values were missing, transform of counts, scaling. It is fitted on the training
// data and belongs to the model.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/threads.hpp"
#include "sharelearn/transform/counts.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

struct Preprocessing {
  Index columns = 0;               ///< columns that features read; 0: any number (a growing vocabulary)
  std::vector<std::string> names;  ///< their names, or empty
  /// Means (or medians) of the columns, which replace missing values (NaN); empty: no value may be missing.
  std::vector<float> means;
  std::vector<Category> categories;  ///< which columns are the levels of a column of text
  /// Columns of the data that have a further column each, behind all others: 1 where a value is missing.
  std::vector<Index> indicators;
  CountTransform transform;
  Scaling scaling;  ///< applied by the features, column by column

  /// Number of columns that features read; 0: any number. For sparse rows only the scaling knows the number.
  Index width() const { return scaling.is_identity() ? columns : std::ssize(scaling.factor); }
  /// Columns the data must have, and their names: all but the indicators.
  Index data_columns() const { return std::max<Index>(0, width() - std::ssize(indicators)); }
  std::vector<std::string> data_names() const;
  /// Per column of the data, whether features read it, from the same per column that features read. Empty:
  /// all are read.
  std::vector<char> needed_in_data(const std::vector<char>& needed) const;
  /// Brings the columns into the model's order, fills missing values, and transforms. Sparse data also gets
  /// as many columns as the model has: missing columns are zero, surplus columns are dropped. Sparse columns
  /// with names are left as they are, because the model looks them up in its vocabulary. Dense data without
  /// names may have only the columns that are read. `needed` tells which columns features read (empty: all);
  /// of the others nothing is asked. Throws InputError if the names do not match, or if values are missing
  /// and no mean is known for them.
  void arrange(Dataset& data, ThreadPool& threads, const std::vector<char>& needed = {}) const;
  /// The same for data that must not change: returns `data` itself if nothing has to be done, else a copy in
  /// `room`.
  const Dataset& prepare(const Dataset& data, std::optional<Dataset>& room, ThreadPool& threads,
                         const std::vector<char>& needed = {}) const;

 private:
  struct Changes;
  Changes changes_for(const Dataset& data, const std::vector<char>& needed) const;
  void apply(const Changes& changes, Dataset& data, ThreadPool& threads,
             const std::vector<char>& needed) const;
};

void write_scaling(ByteWriter& out, const Scaling& scaling);
/// `columns`: number of columns of the model; -1: any number.
Scaling read_scaling(ByteReader& in, Index columns);

}  // namespace sharelearn
