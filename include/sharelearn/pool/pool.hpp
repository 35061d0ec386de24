// A pool of candidate features, usually far too many to store.
//
// A pool answers two questions and never hands over a matrix of its candidates:
//   1. correlate: for EVERY candidate x_j, the k sums  g_jc = sum_i x_ij r_ic  against a residual matrix r
//      (the gradient of the loss by that candidate's weights), streamed in blocks;
//   2. values: the column of one chosen candidate; and feature: the object that computes it on any data.
//
// Life of a pool: (1) build it over the training data; (2) in each round correlate it (usually through
// rank(), in ranking.hpp) and take the best candidates; (3) call values() and feature() for the chosen ones;
// (4) if the pool grows, report each choice with chosen(). A pool does not depend on losses or penalties.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/pool/feature.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// Gradients of candidates [first, first + count): sums[(a * width + w) * outputs + c] belongs to column w of
/// candidate first + a and output c. A candidate that must never be chosen (a constant) has all sums zero.
struct CandidateBlock {
  Index block = 0;  ///< number of the block, ascending with first
  Index first = 0;
  Index count = 0;
  const double* sums = nullptr;
};

/// Called once per block, possibly from several threads at once, in any order of blocks.
using BlockVisitor = std::function<void(const CandidateBlock&, int worker)>;

/// Values that the pool stores anyway, given without a copy: a dense column (padded with zeros to 64 bytes),
/// or the nonzero entries of a sparse column. Neither is set where the pool computes its values, for example
/// from scaled dense columns.
struct StoredColumn {
  const float* dense = nullptr;
  std::span<const std::uint32_t> rows = {};
  std::span<const float> values = {};
  bool sparse = false;
};

/// A row-major matrix whose columns all candidates of a pool share: a candidate equals these columns on some
/// rows and is zero on all other rows. The pointer is null where candidates are not of this kind.
struct SharedRows {
  const float* data = nullptr;
  Index stride = 0;  ///< floats from one row to the next
};

class Pool {
 public:
  virtual ~Pool() = default;
  virtual std::string_view name() const = 0;
  virtual Index rows() const = 0;
  /// Number of candidates. A candidate may be a group of width() columns that enter together.
  virtual Index candidates() const = 0;
  virtual Index width() const { return 1; }
  /// Number of blocks in which correlate() visits the candidates. It does not depend on the number of
  /// threads.
  virtual Index blocks() const = 0;
  /// Streams the sums of all candidates. residual: rows x outputs.
  virtual void correlate(const Grid<float>& residual, ThreadPool& threads,
                         const BlockVisitor& visit) const = 0;
  /// Streams the sums of some blocks, in ascending order. Pools with independent blocks compute only these
  /// blocks.
  virtual void correlate_some(const Grid<float>& residual, std::span<const Index> blocks, ThreadPool& threads,
                              const BlockVisitor& visit) const;
  /// Writes the candidate's width() columns of values into `out` from column `first_column` on.
  virtual void values(Index candidate, Grid<float>& out, Index first_column) const = 0;
  /// The candidate's column where the pool stores it.
  virtual StoredColumn stored(Index candidate) const {
    (void)candidate;
    return {};
  }
  /// The width() columns that all candidates share, and the rows of one candidate, ascending. Together they
  /// say the same as values(), with much less memory.
  virtual SharedRows shared_rows() const { return {}; }
  virtual std::vector<std::uint32_t> rows_inside(Index candidate) const {
    (void)candidate;
    return {};
  }
  virtual FeaturePtr feature(Index candidate) const = 0;
  /// The learner reports a chosen candidate here. Pools that derive candidates from chosen ones grow.
  virtual void chosen(Index candidate) { (void)candidate; }
};

}  // namespace sharelearn
