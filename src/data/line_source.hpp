// Lines of a file or of standard input, one at a time as they arrive. gzip is unpacked on the way; a byte
// order mark at the start is skipped.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/monitor.hpp"

namespace sharelearn {

class LineSource {
 public:
  /// "-": standard input. Once `monitor` is cancelled the input counts as ended, even while a read is
  /// waiting. Throws InputError if the file cannot be opened.
  explicit LineSource(const std::string& path, const Monitor& monitor = silent_monitor());
  ~LineSource();

  /// The next line without its line end; false at the end of the input. The view is valid until the next
  /// call. Throws InputError for damaged gzip or a line of more than 256 MB, and Failure if reading fails.
  bool next(std::string_view& line);
  /// True if next() returns without waiting for input.
  bool has_line();
  /// Number of lines given so far.
  Index lines() const { return lines_; }
  /// The file's name, for messages.
  const std::string& name() const;

  /// Format of the input. Call it before any line is taken; it takes no lines. It decides as read_dataset()
  /// does, but with `at_once`, where someone waits for an answer, by the first line with content. Input
  /// without content counts as svmlight.
  Format format(bool at_once);
  /// The first line with content; empty if there is none. It takes no lines.
  std::string_view first_line();
  /// Reads a data set of any format. Call it before any line is taken; afterwards the source is at its end.
  Dataset read_all(const ReadOptions& options, ThreadPool& threads);

 private:
  struct Input;
  bool fill();
  void pass_mark();
  std::string_view ahead() const;

  std::unique_ptr<Input> input_;
  const Monitor& monitor_;
  std::string buffer_;
  std::size_t begin_ = 0;     ///< first byte not given out yet
  std::size_t searched_ = 0;  ///< there is no line end between begin_ and this position
  bool begun_ = false;        ///< something was read
  bool ended_ = false;
  Index lines_ = 0;
};

}  // namespace sharelearn
