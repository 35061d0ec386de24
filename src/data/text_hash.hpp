// Hash of text, for maps that are searched with string_view.
#pragma once

#include <functional>
#include <string_view>

namespace sharelearn::text {

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

}  // namespace sharelearn::text
