// Ranks by MPI: the processes that mpirun starts.
#pragma once

#include "sharelearn/run/collective.hpp"

namespace sharelearn {

class MpiCollective final : public Collective {
 public:
  /// Whether this process was started by mpirun, srun or the like.
  static bool started() noexcept;

  /// Begins MPI; one object per process, for its whole life.
  MpiCollective();
  ~MpiCollective() override;
  MpiCollective(const MpiCollective&) = delete;
  MpiCollective& operator=(const MpiCollective&) = delete;

  int ranks() const override { return ranks_; }
  int rank() const override { return rank_; }
  void gather(std::span<std::byte> all, std::span<const std::int64_t> ends) override;
  void exchange(std::span<const std::byte> send, std::span<const std::int64_t> sent,
                std::span<std::byte> receive, std::span<const std::int64_t> received) override;
  /// Ends all ranks at once, with this exit code.
  [[noreturn]] static void abort(int code) noexcept;

 private:
  int ranks_ = 1, rank_ = 0;
};

}  // namespace sharelearn
