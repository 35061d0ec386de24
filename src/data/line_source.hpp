// Lines of a file or of standard input, one at a time as they come; gzip is unpacked on the way, and a byte
// order mark at the start is left out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/monitor.hpp"

namespace sharelearn {

class LineSource {
 public:
  /// "-": standard input. Once `monitor` is cancelled the input counts as ended, even while it is waited for.
  /// Throws InputError if the file cannot be opened.
  explicit LineSource(const std::string& path, const Monitor& monitor = silent_monitor());
  ~LineSource();

  /// The next line without its end; false at the end of the input. The view holds until the next call. Throws
  /// InputError on damaged gzip or a line of more than 256 MB, Failure where reading fails.
  bool next(std::string_view& line);
  /// True if next() answers without waiting for input.
  bool has_line();
  /// Lines given so far.
  Index lines() const { return lines_; }
  /// The file's name, for messages.
  const std::string& name() const;

  /// What the input holds, before any line is taken; nothing is lost by looking. Decides as read_dataset()
  /// does, by the first line that holds something where an answer is waited for (`at_once`). Input that holds
  /// nothing passes for svmlight.
  Format format(bool at_once);
  /// The first line that holds something; empty where there is none. Nothing is lost by looking.
  std::string_view first_line();
  /// Reads a data set of any format, before any line is taken. The source is at its end then.
  Dataset read_all(const ReadOptions& options, ThreadPool& threads);

 private:
  struct Input;
  bool fill();
  void pass_mark();
  std::string_view ahead() const;

  std::unique_ptr<Input> input_;
  const Monitor& monitor_;
  std::string buffer_;
  std::size_t begin_ = 0;     ///< first byte not yet given
  std::size_t searched_ = 0;  ///< bytes before this hold no line end
  bool begun_ = false;        ///< something was read
  bool ended_ = false;
  Index lines_ = 0;
};

}  // namespace sharelearn
