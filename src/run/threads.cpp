#include "sharelearn/run/threads.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sharelearn/run/collective.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/monitor.hpp"

namespace sharelearn {
namespace {

/// Many steps take less time than the system needs to wake a thread: who waits looks for some 10 to 50
/// microseconds before it sleeps.
constexpr int kLooks = 1000;

template <class Done>
void look_until(Done done, int looks) {
  for (; looks > 0 && !done(); --looks) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace

struct ThreadPool::Shared {
  using Work = std::function<void(std::int64_t, int)>;

  std::mutex mutex;
  std::condition_variable wake;  // a new job, or the end
  std::condition_variable done;  // the last worker left the job
  const Work* work = nullptr;
  std::int64_t pieces = 0;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::uint64_t> job{0};
  std::atomic<int> busy{0};
  int looks = 0;  // none where there are more threads than cores
  bool stopping = false;
  std::int64_t failed_piece = 0;
  std::exception_ptr failure;
  int threads = 1;
  std::vector<std::jthread> workers;
  const Monitor* watched = nullptr;
  Collective* ranks = nullptr;
  bool ever_shared = false;

  /// Throws once: who catches it returns what there is, by further work that must not be interrupted again.
  void throw_if_cancelled() {
    if (watched == nullptr || ever_shared || !watched->cancelled()) return;
    watched = nullptr;
    throw Cancelled();
  }

  /// The caller's part of the work.
  void run_pieces() {
    try {
      for (;;) {
        throw_if_cancelled();
        if (!run_piece(0)) return;
      }
    } catch (const Cancelled&) {
      const std::lock_guard lock(mutex);
      next.store(pieces, std::memory_order_relaxed);
      failure = std::current_exception();
      failed_piece = -1;
    }
  }

  /// Runs the next piece; false if there is none.
  bool run_piece(int worker) {
    const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces) return false;
    try {
      (*work)(piece, worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure || piece < failed_piece) {
        failure = std::current_exception();
        failed_piece = piece;
      }
    }
    return true;
  }

  void serve(int worker) {
    for (std::uint64_t seen = 0;;) {
      look_until([&] { return job != seen; }, looks);
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || job != seen; });
        if (stopping) return;
        seen = job;
      }
      while (run_piece(worker)) {
      }
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : shared_(std::make_unique<Shared>()) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (threads <= 0) threads = cores;
  if (threads <= cores) shared_->looks = kLooks;
  shared_->workers.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (; shared_->threads < threads; ++shared_->threads) {
      shared_->workers.emplace_back(
          [shared = shared_.get(), worker = shared_->threads] { shared->serve(worker); });
    }
  } catch (const std::system_error&) {  // a limit of processes or of memory: go on with the threads there are
  } catch (const std::bad_alloc&) {
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->wake.notify_all();
  shared_->workers.clear();
}

int ThreadPool::size() const {
  return shared_->threads;
}

const Monitor* ThreadPool::watch(const Monitor* monitor) {
  return std::exchange(shared_->watched, monitor);
}

void ThreadPool::throw_if_cancelled() {
  shared_->throw_if_cancelled();
}

Collective& ThreadPool::ranks() const {
  return shared_->ranks == nullptr ? this_process() : *shared_->ranks;
}

Collective* ThreadPool::share_rows(Collective* ranks) {
  shared_->ever_shared = shared_->ever_shared || ranks != nullptr;
  return std::exchange(shared_->ranks, ranks);
}

void ThreadPool::for_each(std::int64_t pieces, const std::function<void(std::int64_t, int)>& work) {
  if (pieces <= 0) return;
  Shared& shared = *shared_;
  if (shared.threads == 1 || pieces == 1) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      shared.throw_if_cancelled();
      work(piece, 0);
    }
    return;
  }
  {
    const std::lock_guard lock(shared.mutex);
    shared.work = &work;
    shared.pieces = pieces;
    shared.next.store(0, std::memory_order_relaxed);
    shared.failure = nullptr;
    shared.busy = shared.threads - 1;
    ++shared.job;
  }
  shared.wake.notify_all();
  shared.run_pieces();
  look_until([&] { return shared.busy == 0; }, shared.looks);
  std::unique_lock lock(shared.mutex);
  shared.done.wait(lock, [&] { return shared.busy == 0; });
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace sharelearn
