// JSON as text. Names and paths are the user's and may be no UTF-8, which JSON cannot hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sharelearn {

/// Bytes that are no UTF-8 become U+FFFD. `indent` -1: on one line.
std::string json_text(const nlohmann::json& value, int indent = -1);

}  // namespace sharelearn
