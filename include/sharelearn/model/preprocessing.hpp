// What a model does to raw data before its features see it: columns in its order, means for missing values,
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
  std::vector<std::string> names;  ///< of the raw columns, or empty
  std::vector<float> means;        ///< of the columns, for missing values (NaN); empty: none may be missing
  Scaling scaling;                 ///< applied by the features, a column at a time

  /// Columns the data must have; 0: any number. The scaling knows where the rows were sparse.
  Index width() const { return scaling.is_identity() ? columns : std::ssize(scaling.factor); }
  /// Brings the columns into the model's order, fills missing values, and gives sparse data as many columns
  /// as the model has: columns may be absent (they are zero) or in excess there. Sparse columns with names
  /// are left as they are: a vocabulary looks them up. Throws InputError where names do not match or values
  /// are missing that no mean is known for.
  void arrange(Dataset& data, ThreadPool& threads) const;
  /// The same of data that must not change: it is returned itself where nothing is to do, else a copy in
  /// `room`.
  const Dataset& prepare(const Dataset& data, std::optional<Dataset>& room, ThreadPool& threads) const;

 private:
  struct Changes;
  Changes changes_for(const Dataset& data) const;
  void apply(const Changes& changes, Dataset& data, ThreadPool& threads) const;
};

void write_scaling(ByteWriter& out, const Scaling& scaling);
/// `columns`: of the model; -1: any number.
Scaling read_scaling(ByteReader& in, Index columns);

}  // namespace sharelearn
