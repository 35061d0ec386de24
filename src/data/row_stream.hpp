// Rows for a model as they arrive on a stream: CSV or svmlight, a few lines at a time. A row is given as soon
// as its line is complete; rows that are waiting already are given together.
#pragma once

#include <string>

#include "data/line_source.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

class RowStream {
 public:
  /// `options` as for read_dataset(); the format is decided by the first line with content. Throws InputError
  /// if the input is not made of lines.
  RowStream(LineSource& source, ReadOptions options, ThreadPool& threads);

  /// Waits for the next rows; false at the end of the input. Throws InputError with the position of a fault.
  bool next(Dataset& rows);

 private:
  bool take_lines(std::string& text);
  void settle(const std::string& first);
  Dataset read(const std::string& text) const;

  LineSource& source_;
  ReadOptions options_;
  ThreadPool& threads_;
  bool settled_ = false;
  std::string header_;    ///< of CSV, with its line end; empty: none
  Index first_line_ = 1;  ///< number of the first line of the text being read
};

}  // namespace sharelearn
