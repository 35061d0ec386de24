// The ranks of a run: the processes that mpirun started, or this one alone. Each runs the whole command; the
// first one writes and prints, the others are silent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sharelearn/run/collective.hpp"
#include "sharelearn/run/rows.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn::cli {

/// Joins the ranks, if this program was started as several.
void join_ranks();
/// Waits for the other ranks, and leaves them.
void leave_ranks();

Collective& ranks();
inline bool is_first_rank() {
  return ranks().rank() == 0;
}
/// The threads of a command, which share rows with all ranks.
void share_rows(ThreadPool& threads);

/// Adds to a report how many ranks there are and the rows of each, of `rows` in all, if there are several.
void add_ranks(Index rows, nlohmann::json& report);

/// Throws InputError if there are several ranks; `what` is done in one process only.
void refuse_ranks(std::string_view what);
/// Data that every rank reads for itself.
void refuse_standard_input(const std::string& path);

/// Prints a message of an error that ends the run, and ends all ranks with this code if there are several.
void end_with(std::string_view message, int code) noexcept;

}  // namespace sharelearn::cli
