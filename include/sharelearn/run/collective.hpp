// Ranks: processes that share the rows of one data set. Every rank runs the same program on the same options
// and takes the same decisions. All of them know all rows by number; sums over rows (run/rows.hpp) and what
// is computed per row are divided: a rank computes its own rows, and partial sums meet in the tree of a
// single process, so that results have the same bits for any number of ranks.
//
// Everything goes by two operations, which all ranks call in the same order, from one thread each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sharelearn {

class Collective {
 public:
  virtual ~Collective() = default;
  virtual int ranks() const = 0;
  virtual int rank() const = 0;

  /// Every rank has written its part of `all`, ends[rank - 1] (or 0) to ends[rank], and then has all parts.
  /// Throws Failure if another rank cannot be reached.
  virtual void gather(std::span<std::byte> all, std::span<const std::int64_t> ends) = 0;

  /// Sends a part to each rank and receives one of each: sent[to - 1] (or 0) to sent[to], and likewise
  /// received. The parts of a rank for itself are among them.
  virtual void exchange(std::span<const std::byte> send, std::span<const std::int64_t> sent,
                        std::span<std::byte> receive, std::span<const std::int64_t> received) = 0;
};

/// The one rank of a process that shares nothing.
Collective& this_process();

}  // namespace sharelearn
