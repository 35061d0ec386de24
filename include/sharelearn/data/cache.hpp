// Writes the binary file of a data set ("cache"), which read_dataset() maps instead of reading it: training
// over it streams the columns from disk, and needs memory only for what it computes. The file is written in
// batches of rows, so that neither writing nor using it needs memory for the whole matrix.
#pragma once

#include <memory>
#include <string>

#include "sharelearn/data/read.hpp"

namespace sharelearn {

struct CacheSize {
  Index rows = 0, columns = 0, entries = 0, bytes = 0;
  bool sparse = false;
};

/// Writes a cache from batches of rows. The file appears when it is complete, and not at all if finish() is
/// not called.
class CacheWriter {
 public:
  /// Dense values kept in memory until they are written together; one checksum is for the part of a column
  /// among them.
  static constexpr Index kValuesAtOnce = Index{1} << 25;

  /// Throws InputError if the file cannot be written.
  CacheWriter(const std::string& path, ThreadPool& threads, Index values_at_once = kValuesAtOnce);
  ~CacheWriter();
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  /// The number of rows in all, if it is known before the first batch: without it, dense batches are kept in
  /// a temporary file of the same size until the end.
  void expect_rows(Index rows);
  /// More rows. All batches are dense, with the same columns; or all are sparse, where later ones may have
  /// more columns. Throws InputError otherwise.
  void add(const Matrix& rows);
  /// A batch with its labels, tasks and weights, for finish().
  void add(const Dataset& batch);
  Index rows() const;
  /// Completes the file. `about` has the labels, names and so on of all rows; its matrix is not looked at.
  void finish(const Dataset& about);
  /// The same with what the batches said.
  void finish();
  /// What was written, once it is finished.
  const CacheSize& size() const;

 private:
  struct GatheredLabels;
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes the data of a file (svmlight, CSV, IDX, NPY; "-" is standard input) as a cache, a batch of rows at
/// a time: it takes some hundred MB of memory for any size. Text is read twice (CSV), or put into a temporary
/// file beside the output (sparse text, pipes and gzip). Archives (NPZ) are read as a whole. Missing values
/// stay missing.
CacheSize write_cache(const std::string& input, const std::string& output, ReadOptions options,
                      ThreadPool& threads);

}  // namespace sharelearn
