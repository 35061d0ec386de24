// Shared by the experiments of [Fink06]: a stream in memory and one run over it.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "sharelearn/analysis/sharing_bound.hpp"
#include "sharelearn/learn/sharing.hpp"

namespace sharelearn::reproduce {

/// Examples in the order in which they are presented.
struct SharingData {
  RowMatrix rows;
  std::vector<std::string> label;
  Index size() const { return rows.rows; }
};

/// Examples of a data set, in the given order (empty: as they are).
SharingData sharing_data(const Dataset& data, const std::vector<Index>& order = {});
/// A random order of so many rows.
std::vector<Index> shuffled(Index rows, std::uint64_t seed);
/// The rows with one label each, in their order.
Dataset single_labels(const Dataset& data);
/// The synthetic sets of sections 2 and 3: `which` is 1, 2 or 3.
SharingData sharing_synthetic(int which, Index rows, std::uint64_t seed);

struct SharingOutcome {
  Index mistakes = 0;
  Index classes = 0;
  std::vector<double> curve;  ///< cumulative mistakes after each example
  MistakeBound bound;         ///< set if a competitor was given
  double percent() const;
};

SharingOutcome run_sharing(const SharingData& data, const SharingOptions& options, Hypotheses hypotheses,
                           const Competitor* competitor = nullptr);

}  // namespace sharelearn::reproduce
