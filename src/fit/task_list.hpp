#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sharelearn {

/// The tasks of a list such as `1,3`, in canonical form.
std::vector<std::string> tasks_in(std::string_view label);

}  // namespace sharelearn
