// Text from users as literals and names of other languages.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sharelearn {

/// A string literal of Python, JavaScript and, for ASCII text without control characters, C: printable ASCII
/// without quotes and backslashes stands for itself, \n, \" and \\ are escaped, any other byte is \u00XX.
std::string string_literal(std::string_view text);
/// The same for C: other bytes are three octal digits, which cannot swallow what follows.
std::string c_string_literal(std::string_view text);
void replace_all(std::string& in, std::string_view what, std::string_view by);
/// The file's name without extension as an identifier: letters, digits and underscores.
std::string identifier_of(const std::filesystem::path& path);

}  // namespace sharelearn
