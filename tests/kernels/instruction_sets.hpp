// Runs the same computation with each instruction set; all results must have the same bits.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/instructions.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

/// Memory with a guard page at its end, so that any access beyond it is a fault. It has no particular
/// alignment.
template <class T>
class Guarded {
 public:
  explicit Guarded(Index count) : count_(count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + page - 1) / page * page;
    length_ = bytes + page;
    memory_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<char*>(memory_) + bytes, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(static_cast<char*>(memory_) + bytes) - count;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(memory_, length_); }
  T* data() { return data_; }
  T& operator[](Index i) { return data_[i]; }
  Index size() const { return count_; }
  /// Uniform in [-1, 1].
  Guarded& fill(Random& random) {
    for (Index i = 0; i < count_; ++i) data_[i] = static_cast<T>(random.uniform(-1, 1));
    return *this;
  }
  std::vector<double> values() const { return {data_, data_ + count_}; }

 private:
  Index count_;
  std::size_t length_;
  void* memory_;
  T* data_;
};

/// False, with a message why, if the processor lacks the instructions.
inline bool limited_to(const std::string& name, std::string& why) {
  try {
    limit_instructions(name);
    return true;
  } catch (const InputError& error) {
    why = error.what();
    return false;
  }
}

class InstructionSets : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    for (const char* name : {"avx2", "avx512"}) {
      if (!limited_to(name, why)) GTEST_SKIP() << why;
    }
  }
  void TearDown() override { limit_instructions("best"); }

  /// `work` must give the same bits with both instruction sets. Returns its result.
  static std::vector<double> same_bits(const std::function<std::vector<double>()>& work) {
    limit_instructions("avx2");
    const std::vector<double> narrow = work();
    limit_instructions("avx512");
    std::vector<double> wide = work();
    const bool same = narrow.size() == wide.size() &&
                      std::memcmp(narrow.data(), wide.data(), narrow.size() * sizeof(double)) == 0;
    EXPECT_TRUE(same);
    return wide;
  }
};

}  // namespace sharelearn
