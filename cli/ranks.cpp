#include "ranks.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <memory>

#include "command.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

#ifdef SHARELEARN_MPI
#include "mpi_collective.hpp"
#endif

namespace sharelearn::cli {
namespace {

#ifdef SHARELEARN_MPI
// The processes of a run are a fact of the process, as its standard streams are.
std::unique_ptr<MpiCollective> world;
int standard_error = STDERR_FILENO;

/// What all ranks would say, the first one says.
void be_silent() {
  standard_error = ::dup(STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_WRONLY);
  (void)::dup2(nothing, STDOUT_FILENO);
  (void)::dup2(nothing, STDERR_FILENO);
  (void)::close(nothing);
}
#endif

}  // namespace

#ifdef SHARELEARN_MPI
void join_ranks() {
  if (!MpiCollective::started()) return;
  world = std::make_unique<MpiCollective>();
  if (world->rank() > 0) be_silent();
}

void leave_ranks() {
  world.reset();
}

Collective& ranks() {
  return world ? *world : this_process();
}

void end_with(std::string_view message, int code) noexcept {
  if (world && world->rank() > 0) {
    // Bad input is seen by all ranks: then the first one has ended the run before this one speaks.
    constexpr unsigned seconds = 3;
    (void)::sleep(seconds);
    (void)::dup2(standard_error, STDERR_FILENO);
  }
  say(message);
  if (world && world->ranks() > 1) MpiCollective::abort(code);
}
#else
void join_ranks() {}
void leave_ranks() {}
Collective& ranks() {
  return this_process();
}
void end_with(std::string_view message, int) noexcept {
  say(message);
}
#endif

void share_rows(ThreadPool& threads) {
  if (ranks().ranks() > 1) threads.share_rows(&ranks());
}

void add_ranks(Index rows, nlohmann::json& report) {
  if (ranks().ranks() == 1) return;
  report["ranks"] = ranks().ranks();
  Index before = 0;
  for (const std::int64_t end : row_ends(rows, 1, ranks())) {
    report["rank_rows"].push_back(end - before);
    before = end;
  }
}

void refuse_ranks(std::string_view what) {
  if (ranks().ranks() > 1) throw InputError(fmt::format("{} in one process: start it without mpirun", what));
}

void refuse_standard_input(const std::string& path) {
  if (path == "-") refuse_ranks("standard input reaches one rank only; give a file, or read it");
}

}  // namespace sharelearn::cli
