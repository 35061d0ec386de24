// Ranks within one process, one thread each: the Collective of the tests.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "sharelearn/run/collective.hpp"

namespace sharelearn {

class ThreadRanks {
 public:
  /// Calls work(rank) in a thread of its own for each rank, and waits for all.
  static void run(int count, const std::function<void(Collective& rank)>& work) {
    ThreadRanks shared(count);
    std::vector<std::jthread> threads;
    for (int r = 0; r < count; ++r) {
      threads.emplace_back([&shared, &work, r] {
        Rank rank(shared, r);
        work(rank);
      });
    }
  }

 private:
  explicit ThreadRanks(int count) : count_(count), meet_(count), parts_(static_cast<std::size_t>(count)) {}

  struct Part {
    const std::byte* bytes;
    std::vector<std::int64_t> ends;
  };

  class Rank final : public Collective {
   public:
    Rank(ThreadRanks& shared, int rank) : shared_(shared), rank_(rank) {}
    int ranks() const override { return shared_.count_; }
    int rank() const override { return rank_; }

    void gather(std::span<std::byte> all, std::span<const std::int64_t> ends) override {
      show(all.data(), ends);
      std::vector<std::byte> whole(all.begin(), all.end());  // nobody writes while others read
      for (int from = 0; from < ranks(); ++from) {
        const auto [begin, end] = bounds(ends, from);
        std::memcpy(whole.data() + begin, shared_.part(from).bytes + begin, end - begin);
      }
      shared_.meet_.arrive_and_wait();
      std::ranges::copy(whole, all.begin());
      shared_.meet_.arrive_and_wait();
    }

    void exchange(std::span<const std::byte> send, std::span<const std::int64_t> sent,
                  std::span<std::byte> receive, std::span<const std::int64_t> received) override {
      show(send.data(), sent);
      for (int from = 0; from < ranks(); ++from) {
        const auto [begin, end] = bounds(shared_.part(from).ends, rank_);
        const auto [at, to] = bounds(received, from);
        if (to - at != end - begin) std::abort();  // the ranks do not agree on what is sent
        std::memcpy(receive.data() + at, shared_.part(from).bytes + begin, end - begin);
      }
      shared_.meet_.arrive_and_wait();
    }

   private:
    struct Bounds {
      std::size_t begin, end;
    };
    static Bounds bounds(std::span<const std::int64_t> ends, int rank) {
      const auto r = static_cast<std::size_t>(rank);
      return {static_cast<std::size_t>(r == 0 ? 0 : ends[r - 1]), static_cast<std::size_t>(ends[r])};
    }
    void show(const std::byte* bytes, std::span<const std::int64_t> ends) {
      shared_.part(rank_) = {bytes, {ends.begin(), ends.end()}};
      shared_.meet_.arrive_and_wait();
    }
    ThreadRanks& shared_;
    int rank_;
  };

  Part& part(int rank) { return parts_[static_cast<std::size_t>(rank)]; }
  int count_;
  std::barrier<> meet_;
  std::vector<Part> parts_;
};

}  // namespace sharelearn
