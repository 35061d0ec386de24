// One svmlight line at a time, for learners that see a stream. Feature ids are numbers from 1 or, where the
// caller wants them, names (`word:3`, and `word` alone for `word:1`). What is wrong with a line comes back as
// data, so that a stream can skip it and go on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

class LineSource;

enum class FeatureIds { numbers, names };

struct LineReaderOptions {
  FeatureIds ids = FeatureIds::numbers;
  bool label_required = true;
  std::vector<std::string> names = {};  ///< features known already (of a model): columns 0, 1, ...
  bool new_names = true;                ///< false: features with other names are passed over
  /// Where set, gives the column of a name (-1: pass it over) instead of the reader's own list of names.
  std::function<Index(std::string_view)> column_of = {};
  bool add_repeated = false;  ///< names of one column (hashed ones may meet) add up instead of being refused
};

/// One example. The views hold until the next call of read().
struct LineExample {
  bool blank = false;      ///< the line holds nothing or a comment only: no example
  std::string_view label;  ///< as written; canonical_label() makes "+1" and "1.0" the same. Empty: none
  std::string_view task;   ///< `qid:`; empty: none
  SparseRow features;      ///< columns from 0, ascending; no zeros
};

/// Why a line is no example.
struct LineProblem {
  Index column = 0;  ///< character of the line, from 1; 0: the line is fine
  std::string message;
  explicit operator bool() const { return column > 0; }
};

class LineReader {
 public:
  explicit LineReader(LineReaderOptions options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// Reads one line, with or without its line end, into `example` (whose memory is reused).
  LineProblem read(std::string_view line, LineExample& example);

  /// Names met so far, by column (FeatureIds::names).
  const std::vector<std::string>& names() const;
  /// Columns met so far.
  Index columns() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All lines that are left, as sparse rows; columns have the names of the features where they are told apart
/// by name. Throws InputError with the place of the first bad line.
Dataset read_lines(LineSource& source, LineReaderOptions options);

/// The form in which labels are compared: numbers lose '+', leading and trailing zeros ("+1", "01" and "1.0"
/// are "1"), each entry of a list `1,3` as well; other text stays as it is.
std::string canonical_label(std::string_view text);

}  // namespace sharelearn
