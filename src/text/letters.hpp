// Characters of UTF-8 beyond ASCII, as far as words need them: which are letters, and their lower case. The
// tables hold Latin (with Vietnamese), Greek and Cyrillic; other scripts are letters without case.
#pragma once

#include <string>
#include <string_view>

namespace sharelearn::text {

struct Character {
  bool letter = false;
  std::string lower;  ///< in lower case, UTF-8
};

/// Takes the character with which `rest` begins, one beyond ASCII, off it. A byte that is no UTF-8 is a
/// letter that stays as it is (mail is not always UTF-8).
Character take_character(std::string_view& rest);

}  // namespace sharelearn::text
