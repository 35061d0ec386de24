// A small pool of threads. Work is cut into numbered pieces whose borders never depend on the number of
// threads, and callers add the results of the pieces in order. So results have the same bits for any number
// of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sharelearn {

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
  void for_each(std::int64_t pieces, const std::function<void(std::int64_t piece, int worker)>& work);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace sharelearn
