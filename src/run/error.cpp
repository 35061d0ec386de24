#include "sharelearn/run/error.hpp"

#include <algorithm>

namespace sharelearn {

std::string render_options(std::string_view message,
                           const std::function<std::string(std::string_view name)>& spell) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  std::string text;
  while (!message.empty()) {
    const std::size_t begin = message.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : message.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    const std::string_view name = message.substr(begin + 1, end - begin - 1);
    text += message.substr(0, begin);
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_letter)) {
      text += spell(name);
      message.remove_prefix(end + 1);
    } else {
      text += '`';
      message.remove_prefix(begin + 1);
    }
  }
  return text.append(message);
}

}  // namespace sharelearn
