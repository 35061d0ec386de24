// Characters of UTF-8 beyond ASCII, as far as the word splitter needs them: which are letters, and their
// lower case. The tables cover Latin (with Vietnamese), Greek and Cyrillic; characters of other scripts are
// letters without case.
#pragma once

#include <string>
#include <string_view>

namespace sharelearn::text {

struct Character {
  bool letter = false;
  std::string lower;  ///< in lower case, UTF-8
};

/// Removes and returns the first character of `rest`, which must be beyond ASCII. A byte that is not valid
/// UTF-8 counts as a letter and is kept as it is (mail is not always UTF-8).
Character take_character(std::string_view& rest);

}  // namespace sharelearn::text
