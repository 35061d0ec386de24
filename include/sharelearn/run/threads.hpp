// A small pool of threads. Work is cut into numbered pieces whose borders never depend on the number of
// threads, and callers add the results of the pieces in order. So results have the same bits for any number
// of threads. A pool also knows the ranks that share its rows (run/collective.hpp); by default there are
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sharelearn {

class Collective;
class Monitor;

class ThreadPool {
 public:
  /// `threads` = 0 takes the machine's number of cores. Where the system refuses more threads, the pool works
  /// with those it got; results do not depend on their number.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  /// Calls work(piece, worker) once for each piece in [0, pieces), worker in [0, size()). Pieces start in
  /// ascending order. Returns when all are done; rethrows the exception of the lowest failing piece.
  /// Not reentrant: work must not call for_each of the same pool.
  /// Throws Cancelled, once, if the monitor that is watched is cancelled before the last piece has begun.
  void for_each(std::int64_t pieces, const std::function<void(std::int64_t piece, int worker)>& work);

  /// From now on for_each() ends early when this monitor is cancelled; null: it never does. The monitor is
  /// asked in the caller's thread only. Returns the monitor watched before.
  const Monitor* watch(const Monitor* monitor);
  /// Throws as for_each() does: for long work in the caller's own thread.
  void throw_if_cancelled();

  /// Who shares the rows of all sums; this process alone unless share_rows() said otherwise.
  Collective& ranks() const;
  /// From now on rows are shared with these ranks; null: with nobody. While they are shared, cancelling does
  /// not end for_each() early: ranks must agree on where they stop. Returns the ranks before.
  Collective* share_rows(Collective* ranks);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace sharelearn
