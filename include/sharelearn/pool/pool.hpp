// A pool of candidate features, usually far too many to store.
//
// A pool answers two questions and never hands over a matrix of its candidates:
//   1. correlate: for EVERY candidate x_j, the k sums  g_jc = sum_i x_ij r_ic  against a residual matrix r
//      (the gradient of the loss by that candidate's weights), streamed in blocks;
//   2. values: the column of one chosen candidate; and feature: the means to compute it anywhere.
//
// Life of a pool: (1) build it over the training data; (2) each round correlate it (usually through rank(),
// in ranking.hpp) and take the best; (3) ask values() and feature() of the chosen; (4) tell it what was
// chosen with chosen(), if it grows. A pool knows nothing of losses and penalties.
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

/// Called once a block, possibly from several threads at once, in any order of blocks.
using BlockVisitor = std::function<void(const CandidateBlock&, int worker)>;

/// Values a pool stores anyway, seen without a copy: a dense column (padded with zeros to 64 bytes), or the
/// nonzero entries of a sparse one; neither where the pool computes its values, as from scaled dense columns.
struct StoredColumn {
  const float* dense = nullptr;
  std::span<const std::uint32_t> rows = {};
  std::span<const float> values = {};
  bool sparse = false;
};

/// A matrix by rows whose columns all candidates of a pool share: a candidate is these columns on some rows
/// and zero on the others. Null where the pool's candidates are not of that kind.
struct SharedRows {
  const float* data = nullptr;
  Index stride = 0;  ///< floats from one row to the next
};

class Pool {
 public:
  virtual ~Pool() = default;
  virtual std::string_view name() const = 0;
  virtual Index rows() const = 0;
  /// Number of candidates; a candidate may be a group of width() columns that enter together.
  virtual Index candidates() const = 0;
  virtual Index width() const { return 1; }
  /// Number of blocks in which correlate() visits the candidates. Does not depend on the threads.
  virtual Index blocks() const = 0;
  /// Streams the sums of all candidates. residual: rows x outputs.
  virtual void correlate(const Grid<float>& residual, ThreadPool& threads,
                         const BlockVisitor& visit) const = 0;
  /// Streams the sums of some blocks, ascending. Pools whose blocks are independent compute only these.
  virtual void correlate_some(const Grid<float>& residual, std::span<const Index> blocks, ThreadPool& threads,
                              const BlockVisitor& visit) const;
  /// Writes the candidate's width() columns of values into `out` from column `first_column` on.
  virtual void values(Index candidate, Grid<float>& out, Index first_column) const = 0;
  /// The candidate's column where the pool stores it.
  virtual StoredColumn stored(Index candidate) const {
    (void)candidate;
    return {};
  }
  /// The width() columns that all candidates share, and the rows of one candidate, ascending: what values()
  /// would write, for a small part of the memory.
  virtual SharedRows shared_rows() const { return {}; }
  virtual std::vector<std::uint32_t> rows_inside(Index candidate) const {
    (void)candidate;
    return {};
  }
  virtual FeaturePtr feature(Index candidate) const = 0;
  /// A learner tells what it chose; pools that induce candidates from chosen ones grow here.
  virtual void chosen(Index candidate) { (void)candidate; }
};

}  // namespace sharelearn
