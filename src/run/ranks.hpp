// What ranks (run/collective.hpp) share, beside the sums of run/rows.hpp: which rows are a rank's own, and
// pieces of work that ranks divide.
//
// Where rows are shared, for_each_row_block() and sum_over_rows() go over this rank's own rows, and the rows
// of others in what they wrote are not known until complete() (data/complete.hpp) has been called. Under
// Alone they go over all rows, and every rank does the same.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "sharelearn/run/collective.hpp"
#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// Part `rank` of `count` things that ranks divide evenly: [begin, end).
inline RowRange part_of(Index count, int rank, int ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}
inline RowRange own_part(Index count, const Collective& ranks) {
  return part_of(count, ranks.rank(), ranks.ranks());
}

inline bool is_shared(const ThreadPool& threads) {
  return threads.ranks().ranks() > 1;
}

/// The leaves of a tree that a rank adds up, and their rows.
RowRange leaves_of(const RowTree& tree, int rank, int ranks);
RowRange own_rows(Index rows, const Collective& ranks);

/// While it lives, the threads share no rows: every rank does all of the work.
class Alone {
 public:
  explicit Alone(ThreadPool& threads) : threads_(threads), before_(threads.share_rows(nullptr)) {}
  ~Alone() { threads_.share_rows(before_); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  ThreadPool& threads_;
  Collective* before_;
};

/// Adds the sums of all ranks in the order of the tree. partial: the sums of the nodes that this rank owns
/// wholly, one after the other (own_nodes()); out: the total.
void join_nodes(const RowTree& tree, std::span<const double> partial, std::span<double> out,
                Collective& ranks);
/// The largest nodes of the tree that lie within the leaves of a rank, ascending, as ranges of leaves.
std::vector<RowRange> nodes_of(const RowTree& tree, int rank, int ranks);

/// sum_over_leaves() of `pieces` sums of `width` numbers each, one piece after the other in `out`; threads
/// divide the pieces, ranks the leaves. `add` may be called for the leaves of a piece in any thread, but in
/// ascending order.
void sum_pieces(const RowTree& tree, Index pieces, Index width, std::span<double> out, ThreadPool& threads,
                const std::function<void(Index piece, RowRange leaf, std::span<double> sums)>& add);

/// sum_over_rows() in this thread, of what ranks share: add(block, sums).
void sum_blocks(Index rows, std::span<double> out, ThreadPool& threads,
                const std::function<void(RowRange block, std::span<double> sums)>& add);

/// Whether it holds for any rank.
bool any_rank(bool here, ThreadPool& threads);

/// Ends of the ranks' rows, with `each` bytes per row: what Collective::gather() takes.
std::vector<std::int64_t> row_ends(Index rows, Index each, const Collective& ranks);

/// The values of all ranks, in the order of ranks. Plain numbers only.
template <class T>
std::vector<T> gather_all(std::span<const T> own, Collective& ranks) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks.ranks())), ends(sizes);
  for (std::size_t r = 0; r < ends.size(); ++r)
    ends[r] = static_cast<std::int64_t>((r + 1) * sizeof(sizes[0]));
  sizes[static_cast<std::size_t>(ranks.rank())] = static_cast<std::int64_t>(own.size_bytes());
  ranks.gather(std::as_writable_bytes(std::span(sizes)), ends);
  std::int64_t bytes = 0, before = 0;
  for (std::size_t r = 0; r < ends.size(); ++r) {
    if (static_cast<int>(r) == ranks.rank()) before = bytes;
    ends[r] = bytes += sizes[r];
  }
  std::vector<T> all(static_cast<std::size_t>(bytes) / sizeof(T));
  if (!own.empty())
    std::memcpy(all.data() + static_cast<std::size_t>(before) / sizeof(T), own.data(), own.size_bytes());
  ranks.gather(std::as_writable_bytes(std::span(all)), ends);
  return all;
}

/// Calls work(piece, worker) for this rank's part of the pieces.
inline void for_each_own(Index pieces, ThreadPool& threads,
                         const std::function<void(Index piece, int worker)>& work) {
  const RowRange own = own_part(pieces, threads.ranks());
  threads.for_each(own.size(), [&](Index piece, int worker) { work(own.begin + piece, worker); });
}

/// Calls work(piece, worker) for this rank's part of the pieces. What a piece computes is at
/// values[piece * width] and the `width` numbers behind it, which all ranks have in the end.
template <class T>
void share_pieces(Index pieces, Index width, std::span<T> values, ThreadPool& threads,
                  const std::function<void(Index piece, int worker)>& work) {
  Collective& ranks = threads.ranks();
  for_each_own(pieces, threads, work);
  if (ranks.ranks() == 1) return;
  std::vector<std::int64_t> ends;
  for (int r = 0; r < ranks.ranks(); ++r)
    ends.push_back(part_of(pieces, r, ranks.ranks()).end * width * static_cast<Index>(sizeof(T)));
  ranks.gather(std::as_writable_bytes(values), ends);
}

}  // namespace sharelearn
