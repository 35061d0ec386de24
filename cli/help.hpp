// The help of the program and of its commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sharelearn::cli {

/// Gives the app and its subcommands this program's help: one group after the other in the order of their
/// declaration, values as users write them, defaults in brackets.
void use_plain_help(CLI::App& app);

/// The subcommands with their summaries, one line each.
std::string list_of_subcommands(const CLI::App& app);

/// The options whose value is a file name get this type.
inline constexpr const char* kFile = "FILE";

}  // namespace sharelearn::cli
