// The version; CMake reads it from here.
#pragma once

#include <string_view>

namespace sharelearn {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace sharelearn
