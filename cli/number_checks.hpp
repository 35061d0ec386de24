// Checks of the numbers that options take: finite, in a range, and a refusal that says what was expected.
#pragma once

#include <CLI/CLI.hpp>

namespace sharelearn::cli {

CLI::Validator positive();
CLI::Validator non_negative();
/// A whole number that 64 bits hold, with or without a sign; the parser itself would read 010 as eight and
/// cut off what is too large.
CLI::Validator whole(bool is_signed);
/// Both ends are allowed.
CLI::Validator between(double low, double high);
/// Above `low`, at most `high`.
CLI::Validator above(double low, double high);

}  // namespace sharelearn::cli
