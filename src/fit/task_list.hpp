#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sharelearn {

/// The tasks of a list `1,3`, as labels are compared.
std::vector<std::string> tasks_in(std::string_view label);

}  // namespace sharelearn
