#include "export/literals.hpp"

#include <fmt/format.h>

namespace sharelearn {
namespace {

bool is_plain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

}  // namespace

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    if (is_plain(c)) {
      out += each;
    } else if (each == '"' || each == '\\') {
      out += {'\\', each};
    } else {
      out += fmt::format("\\u{:04x}", c);
    }
  }
  return out + '"';
}

std::string c_string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    // ?? would begin a trigraph, and N the placeholder NAME of the exporter.
    out += is_plain(c) && each != '?' && each != 'N' ? std::string(1, each) : fmt::format("\\{:03o}", c);
  }
  return out + '"';
}

void replace_all(std::string& in, std::string_view what, std::string_view by) {
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size())) {
    in.replace(at, what.size(), by);
  }
}

std::string identifier_of(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  for (char& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!fits) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "m" + name;
  return name;
}

}  // namespace sharelearn
