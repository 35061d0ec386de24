// The page without data, made of src/report/page.html by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace sharelearn {

/// Holds the mark {{data}} once, inside a script element that is not executed.
std::string_view page_html();

}  // namespace sharelearn
