// Checks of the numbers that options take: finite, in a range, and a refusal that says what was expected.
#pragma once

#include <CLI/CLI.hpp>

namespace sharelearn::cli {

CLI::Validator positive();
CLI::Validator non_negative();
/// Both ends are allowed.
CLI::Validator between(double low, double high);
/// Above `low`, at most `high`.
CLI::Validator above(double low, double high);

}  // namespace sharelearn::cli
