// Preprocessing of raw data before features are computed: order of the columns, means for missing values,
// scaling. It is fitted on the training data and belongs to the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/threads.hpp"
#include "sharelearn/transform/scaling.hpp"

namespace sharelearn {

struct Preprocessing {
  Index columns = 0;               ///< raw columns; 0: any number (a growing vocabulary)
  std::vector<std::string> names;  ///< names of the raw columns, or empty
  /// Column means, which replace missing values (NaN); empty: no value may be missing.
  std::vector<float> means;
  Scaling scaling;  ///< applied by the features, column by column

  /// Number of columns the data must have; 0: any number. For sparse rows only the scaling knows the number.
  Index width() const { return scaling.is_identity() ? columns : std::ssize(scaling.factor); }
  /// Brings the columns into the model's order and fills missing values. Sparse data also gets as many
  /// columns as the model has: missing columns are zero, surplus columns are dropped. Sparse columns with
  /// names are left as they are, because the model looks them up in its vocabulary. Throws InputError if the
  /// names do not match, or if values are missing and no mean is known for them.
  void arrange(Dataset& data, ThreadPool& threads) const;
  /// The same for data that must not change: returns `data` itself if nothing has to be done, else a copy in
  /// `room`.
  const Dataset& prepare(const Dataset& data, std::optional<Dataset>& room, ThreadPool& threads) const;

 private:
  struct Changes;
  Changes changes_for(const Dataset& data) const;
  void apply(const Changes& changes, Dataset& data, ThreadPool& threads) const;
};

void write_scaling(ByteWriter& out, const Scaling& scaling);
/// `columns`: number of columns of the model; -1: any number.
Scaling read_scaling(ByteReader& in, Index columns);

}  // namespace sharelearn
