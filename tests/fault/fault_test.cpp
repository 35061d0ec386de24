// A starved machine: allocations, writes and threads that fail, each at every n-th call. Whatever fails,
// there is an exception, nothing leaks (under LeakSanitizer) and no file is touched.
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string_view>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/fit/online_cascade.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/model/model.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace {

/// Calls until the one that fails; far away: none fails.
constexpr long kNever = LONG_MAX / 2;
std::atomic<long> allocations_left{kNever}, writes_left{kNever}, threads_left{kNever};

bool fails(std::atomic<long>& left) {
  return left.fetch_sub(1, std::memory_order_relaxed) == 1;
}

/// The JSON library survives no failed allocation of its own: its destructor allocates, which ends the
/// program, and a value that could not be made is destroyed all the same. The failure then comes outside of
/// it.
bool in_json_library() {
  std::array<void*, 16> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::any_of(frames.begin(), frames.begin() + count, [](void* frame) {
    Dl_info info{};
    return ::dladdr(frame, &info) != 0 && info.dli_sname != nullptr &&
           std::string_view(info.dli_sname).find("nlohmann") != std::string_view::npos;
  });
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (fails(allocations_left)) {
    if (!in_json_library()) throw std::bad_alloc();
    allocations_left = 1;
  }
  void* p = nullptr;
  if (::posix_memalign(&p, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) != 0) {
    throw std::bad_alloc();
  }
  return p;
}

}  // namespace

// Not inlined: the compiler would take new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

extern "C" ssize_t write(int file, const void* bytes, std::size_t count) {
  if (fails(writes_left)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_write, file, bytes, count);
}

extern "C" int fsync(int file) {
  if (fails(writes_left)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return fails(threads_left) ? EAGAIN : create(thread, attributes, run, argument);
}

namespace sharelearn {
namespace {

/// Runs `work` with its first, second, ... call failing, until it succeeds. Returns the number of failures.
/// `after` checks the state after each of them. Calls beyond `dense` are sampled ever more widely.
long fail_each_call(
    std::atomic<long>& left, const std::function<void()>& work, const std::function<void()>& after = [] {},
    long dense = 400) {
  long failures = 0;
  for (long n = 1;; n += n < dense ? 1 : n / 40) {
    bool failed = false;
    left = n;
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const Error&) {
      failed = true;
    }
    const bool reached = left.exchange(kNever) <= 0;
    after();
    if (!reached) {
      EXPECT_FALSE(failed);
      return failures;
    }
    failures += failed ? 1 : 0;
  }
}

const test::TemporaryFolder& folder() {
  static const test::TemporaryFolder made;
  return made;
}

Dataset small_rows(bool tasks) {
  const std::string text = tasks ? "1 qid:a 1:1 2:2\n-1 qid:a 1:-1\n1 qid:b 2:1\n-1 qid:b 1:2 2:-1\n"
                                 : "a 1:1 2:2\nb 1:-1\nc 2:-3\na 1:2 2:1\nb 1:-2 2:1\nc 2:-1\n";
  ThreadPool threads(1);
  return read_dataset(folder().file(tasks ? "tasks.svm" : "classes.svm", text), {}, threads);
}

Fitted fit_small(Method& method, const Dataset& rows, ThreadPool& threads) {
  FieldTable table = method.fields();
  const auto set = [&](const char* name, const char* value) {
    const Field* field = table.find(name);
    if (field != nullptr && !field->is_set()) field->set_text(value);
  };
  set("features", "2");
  set("rounds", "2");
  set("path", "2");
  set("levels", "2");
  if (table.find("levels") != nullptr) set("phi", "0.5,0.1");
  if (table.find("loss") != nullptr && method.name() == "treelasso") set("lambda", "0.1");
  return method.fit({rows}, {threads}, {});
}

TEST(Allocation, failing_at_any_call_of_a_fit_is_an_error) {
  for (const auto& method : batch_methods()) {
    const std::string name(method->name());
    const Dataset rows = small_rows(name == "treelasso");
    ThreadPool threads(1);
    ASSERT_NO_THROW(fit_small(*method, rows, threads)) << name;
    EXPECT_GT(fail_each_call(allocations_left, [&] { fit_small(*method, rows, threads); }), 20) << name;
  }
}

TEST(Allocation, failing_in_a_worker_of_a_fit_is_an_error) {
  ThreadPool threads(2);
  for (const auto& method : batch_methods()) {
    const Dataset rows = small_rows(method->name() == "treelasso");
    fail_each_call(
        allocations_left, [&] { fit_small(*method, rows, threads); }, [] {}, 40);
  }
}

OnlineSharing small_stream() {
  OnlineSharing online = OnlineSharing::begin({.hypotheses = "hybrid"});
  for (const char* line : {"a 1:1 2:2", "b 1:-1", "a 2:1", "b 1:3", "c 1:1 3:1"}) online.learn(line);
  return online;
}

std::vector<ModelPtr> a_model_of_each_kind() {
  ThreadPool threads(1);
  const Dataset rows = small_rows(false);
  return {fit_small(*batch_methods().front(), rows, threads).model,
          fit({rows}, OnlineCascadeFit{.phi = {{0.1, 0.1}}}, {threads}).model,
          small_stream().finish(nullptr, threads).model};
}

TEST(Allocation, failing_in_a_stream_is_an_error) {
  EXPECT_GT(fail_each_call(allocations_left, [] { (void)small_stream().model().payload(); }), 20);
}

TEST(Allocation, failing_while_a_model_is_loaded_or_predicts_is_an_error) {
  const Dataset rows = small_rows(false);
  ThreadPool threads(1);
  for (const ModelPtr& model : a_model_of_each_kind()) {
    const std::string path = folder().path("model.shl");
    save_model(*model, path);
    EXPECT_GT(fail_each_call(
                  allocations_left, [&] { load_model(path); }, [] {}, 4000),
              10);
    EXPECT_GT(fail_each_call(
                  allocations_left, [&] { model->predict(rows, threads); }, [] {}, 4000),
              5);
    EXPECT_GT(fail_each_call(allocations_left, [&] { model->describe(); }), 5);
  }
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Saving, leaves_the_old_file_whatever_fails) {
  const std::string path = folder().path("kept.shl");
  for (const ModelPtr& model : a_model_of_each_kind()) {
    save_model(*model, path);
    const std::string whole = content(path);
    for (std::atomic<long>* left : {&allocations_left, &writes_left}) {
      write_file(path, "old");
      long failures = 0;
      const auto check = [&] {
        const std::string now = content(path);
        EXPECT_TRUE(now == "old" || now == whole);
        failures += now == "old" ? 1 : 0;
        write_file(path, "old");
      };
      fail_each_call(
          *left, [&] { save_model(*model, path); }, check);
      EXPECT_GT(failures, 1);
    }
  }
  // No temporary file is left behind.
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".sharelearn")) << entry.path();
  }
}

TEST(Threads, that_cannot_be_created_are_done_without) {
  const Dataset rows = small_rows(false);
  const auto method = std::move(batch_methods().front());
  ThreadPool alone(1);
  const std::string expected = fit_small(*method, rows, alone).model->payload();
  for (long n = 1; n <= 4; ++n) {
    threads_left = n;
    ThreadPool threads(4);
    threads_left = kNever;
    EXPECT_EQ(threads.size(), std::min<long>(n, 4));
    EXPECT_EQ(fit_small(*method, rows, threads).model->payload(), expected);
  }
}

}  // namespace
}  // namespace sharelearn
