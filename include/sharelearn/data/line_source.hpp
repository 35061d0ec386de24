// Lines of a file or of standard input, one at a time as they come; gzip is unpacked on the way.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

class LineSource {
 public:
  /// "-": standard input. Throws InputError if the file cannot be opened.
  explicit LineSource(const std::string& path);
  ~LineSource();

  /// The next line without its end; false at the end of the input. The view holds until the next call. Throws
  /// InputError on damaged gzip or a line of more than 256 MB, Failure where reading fails.
  bool next(std::string_view& line);
  /// True if next() answers without waiting for input.
  bool has_line();
  /// Lines given so far.
  Index lines() const { return lines_; }

 private:
  struct Input;
  bool fill();

  std::unique_ptr<Input> input_;
  std::string buffer_;
  std::size_t begin_ = 0;     ///< first byte not yet given
  std::size_t searched_ = 0;  ///< bytes before this hold no line end
  bool ended_ = false;
  Index lines_ = 0;
};

}  // namespace sharelearn
