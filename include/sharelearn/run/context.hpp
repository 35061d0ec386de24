// Threads, progress monitor and seed of a run, passed to every learner.
#pragma once

#include <cstdint>

#include "sharelearn/run/monitor.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

struct Context {
  ThreadPool& threads;
  Monitor& monitor = silent_monitor();
  std::uint64_t seed = 1;
};

}  // namespace sharelearn
