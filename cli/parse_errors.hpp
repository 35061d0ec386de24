// What the parser refuses, in words that say what to do.
#pragma once

#include <CLI/CLI.hpp>

namespace sharelearn::cli {

/// Prints help, version or what is wrong with the command line. Returns the exit code.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace sharelearn::cli
