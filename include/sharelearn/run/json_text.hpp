// JSON as text. Names and paths come from the user and may not be valid UTF-8, which JSON requires.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sharelearn {

/// Bytes that are not valid UTF-8 become U+FFFD. `indent` -1: on one line.
std::string json_text(const nlohmann::json& value, int indent = -1);

/// Levels of nesting in a JSON text; brackets in strings do not count.
int depth_of(std::string_view text);

}  // namespace sharelearn
