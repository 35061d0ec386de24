// Threads, progress monitor, seed and checkpoint of a run, passed to every learner.
#pragma once

#include <cstdint>

#include "sharelearn/run/monitor.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

class Checkpoint;

struct Context {
  ThreadPool& threads;
  Monitor& monitor = silent_monitor();
  std::uint64_t seed = 1;
  Checkpoint* checkpoint = nullptr;  ///< null: none is kept

  /// Whether the user asked to stop. Whoever learns it here returns what there is so far: from then on the
  /// threads do not throw Cancelled.
  bool cancelled() const {
    if (!monitor.cancelled()) return false;
    keep_results();
    return true;
  }
  /// What was learned must not be lost any more: from now on the threads do not throw Cancelled.
  void keep_results() const { threads.watch(nullptr); }
};

/// While it lives, the threads of a context throw Cancelled once its monitor is cancelled, or do not.
class Watch {
 public:
  explicit Watch(const Context& context, bool on = true)
      : threads_(context.threads), before_(context.threads.watch(on ? &context.monitor : nullptr)) {}
  ~Watch() { threads_.watch(before_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  ThreadPool& threads_;
  const Monitor* before_;
};

}  // namespace sharelearn
