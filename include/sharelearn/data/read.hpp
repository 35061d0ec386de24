// Reading data sets: svmlight, CSV, IDX, NPY/NPZ; plain or gzip; a file or standard input. Or the binary file
// that write_cache() makes of one (cache.hpp), whose values stay on disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

enum class Format { automatic, svmlight, csv, idx, npy, cache };
/// keep: missing values stay NaN until fill_missing() (missing.hpp) fills them.
enum class Missing { error, mean, zero, keep };

struct ReadOptions {
  Format format = Format::automatic;
  /// CSV: name or number from 0; NPY: number; empty: the last column. "none" (also for IDX): no labels.
  std::string label_column = {};
  std::string weight_column = {};                ///< CSV: name or number; empty: no weights
  std::string task_column = {};                  ///< CSV: name or number; empty: no tasks
  std::string group_column = {};                 ///< CSV: name or number; empty: no groups
  std::string fold_column = {};                  ///< CSV: name or number; empty: no folds
  std::vector<std::string> ignore_columns = {};  ///< CSV: names or numbers
  /// CSV: names or numbers of columns whose values are names, even where they look like numbers. Columns of
  /// text are categories without being listed here.
  std::vector<std::string> category_columns = {};
  bool zero_based = false;       ///< svmlight: indices count from 0
  std::string labels_file = {};  ///< IDX/NPY: file of the labels; empty: searched for beside the data file
  Missing missing = Missing::error;
  Index columns = 0;  ///< svmlight: at least this many columns (those of a model)
  /// CSV: a first line that holds exactly these names is a header.
  std::vector<std::string> column_names = {};
  /// CSV: the data gets exactly `columns` columns, in the order of `column_names`. They are found by name, or
  /// by position where the file or the list has no names. Columns that are not needed may be left out.
  bool match = false;
  std::string whose = "the model";        ///< with `match`: whose columns they are, for messages
  std::vector<char> needed = {};          ///< with `match`: per column, whether a model reads it; empty: all
  std::vector<Category> categories = {};  ///< with `match`: columns of text and their levels
  LabelPlace label_place = {};            ///< with `match`: where the labels were in the training data
  bool labels_required = true;            ///< false: data may have no labels (predict)
  Index max_bytes = Index{1} << 40;       ///< limit on the unpacked size of a gzip file
};

/// Reads all of `path` ("-": standard input). Throws InputError with file, line, column and what was
/// expected.
Dataset read_dataset(const std::string& path, const ReadOptions& options, ThreadPool& threads);

/// Throws InputError if an option is given that the (known) format does not support: labels, weights, tasks
/// or ignored columns where the format has none. `name` is the name of the data, for the message.
void check_options(const ReadOptions& options, Format format, const std::string& name);

/// The whole content of a file or of standard input, unpacked if it is gzip. Throws InputError.
std::vector<char> read_bytes(const std::string& path, Index max_bytes);

}  // namespace sharelearn
