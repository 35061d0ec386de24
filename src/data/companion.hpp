// The file of labels beside a file of features.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/read.hpp"

namespace sharelearn {

/// `text` with the last occurrence of `from` replaced; unchanged if there is none.
std::string replaced(const std::string& text, std::string_view from, std::string_view to);

/// The labels file given by the options. Otherwise the first existing file of `names_for(file name)`, plain
/// or with .gz, in the folder of `path`. Empty if there is none.
std::string companion_file(const std::string& path, const ReadOptions& options,
                           const std::function<std::vector<std::string>(const std::string&)>& names_for);

}  // namespace sharelearn
