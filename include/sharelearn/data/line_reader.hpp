// Reads one svmlight line at a time, for learners on a stream. Feature ids are numbers from 1 or, if the
// caller asks for it, names (`word:3`, or `word` alone for `word:1`). Faults of a line are returned as data,
// so that a stream can skip the line and go on.
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
  std::vector<std::string> names = {};  ///< features of a model, which are columns 0, 1, ...
  bool new_names = true;                ///< false: features with other names are skipped
  /// If set, gives the column of a name (-1: skip it) instead of the reader's own list of names.
  std::function<Index(std::string_view)> column_of = {};
  bool add_repeated = false;  ///< add up values of names with the same column (hashes may collide) instead of
                              ///< refusing the line
};

/// One example. The views are valid until the next call of read().
struct LineExample {
  bool blank = false;      ///< the line is empty or only a comment: no example
  std::string_view label;  ///< as written; canonical_label() makes "+1" and "1.0" the same. Empty: none
  std::string_view task;   ///< `qid:`; empty: none
  SparseRow features;      ///< columns from 0, ascending; no zeros
};

/// Why a line is not an example.
struct LineProblem {
  Index column = 0;  ///< position of the fault in the line, from 1; 0: the line is fine
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

  /// Names seen so far, by column (FeatureIds::names).
  const std::vector<std::string>& names() const;
  /// Columns seen so far.
  Index columns() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All remaining lines as sparse rows. If features are identified by name, the columns have these names.
/// Throws InputError with the position of the first bad line.
Dataset read_lines(LineSource& source, LineReaderOptions options);

/// The form in which labels are compared: numbers lose '+' and leading and trailing zeros ("+1", "01" and
/// "1.0" are "1"), and so does each entry of a list `1,3`. Other text is unchanged.
std::string canonical_label(std::string_view text);

}  // namespace sharelearn
