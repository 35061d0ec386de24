// Reading data sets: svmlight, CSV, IDX, NPY/NPZ; plain or gzip; a file or standard input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

enum class Format { automatic, svmlight, csv, idx, npy };
/// keep: they stay NaN, for fill_missing() (missing.hpp) to fill.
enum class Missing { error, mean, zero, keep };

struct ReadOptions {
  Format format = Format::automatic;
  /// CSV: name or number from 0, NPY: number; empty: the last. "none", of IDX too: no label
  std::string label_column = {};
  std::string weight_column = {};                ///< CSV: name or number; empty: no weights
  std::string task_column = {};                  ///< CSV: name or number; empty: no tasks
  std::vector<std::string> ignore_columns = {};  ///< CSV: names or numbers
  std::string labels_file = {};  ///< IDX/NPY: where the labels are; empty: found beside the images
  Missing missing = Missing::error;
  Index columns = 0;                           ///< svmlight: at least this many columns (those of a model)
  std::vector<std::string> column_names = {};  ///< CSV: a first line of just these names is a header
  bool labels_required = true;                 ///< predict reads data without labels
  Index max_bytes = Index{1} << 40;            ///< cap on what a gzip file may expand to
};

/// Reads all of `path` ("-": standard input). Throws InputError with file, line, column and what was
/// expected.
Dataset read_dataset(const std::string& path, const ReadOptions& options, ThreadPool& threads);

/// Throws InputError if an option is given that data of the format, which is known, cannot honour: labels,
/// weights, tasks and ignored columns where it has no such thing. `name` is the data's, for the message.
void check_options(const ReadOptions& options, Format format, const std::string& name);

/// The whole of a file or standard input, unpacked where it is gzip. Throws InputError.
std::vector<char> read_bytes(const std::string& path, Index max_bytes);

}  // namespace sharelearn
