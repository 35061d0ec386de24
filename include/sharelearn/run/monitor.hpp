// Progress and cancellation. The library never prints: it reports here, and asks here whether to continue.
#pragma once

#include <cstdint>
#include <string_view>

namespace sharelearn {

/// Receives progress and answers whether the work was cancelled. By default it does neither.
class Monitor {
 public:
  virtual ~Monitor() = default;

  /// `done` of `total` steps of `what` are finished; `note` is one short line for a person (an error, a
  /// score).
  virtual void progress(std::string_view what, std::int64_t done, std::int64_t total, std::string_view note) {
    (void)what, (void)done, (void)total, (void)note;
  }

  /// True once the user asked to stop. A learner then returns what it has so far.
  virtual bool cancelled() const { return false; }
};

/// A monitor that does nothing.
Monitor& silent_monitor();

}  // namespace sharelearn
