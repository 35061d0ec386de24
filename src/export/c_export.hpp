// A linear model as a C99 header: float or fixed point, no heap, constant tables, <math.h> only where needed.
#pragma once

#include <filesystem>

#include "sharelearn/export/export.hpp"

namespace sharelearn {

Exported export_c(const LinearModel& model, const std::filesystem::path& path, const TestVector* vector,
                  Arithmetic arithmetic);

}  // namespace sharelearn
