#include "run/ranks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sharelearn {
namespace {

std::size_t to_size(Index i) {
  return static_cast<std::size_t>(i);
}

/// Up to this many bytes of partial sums go to every rank, who adds them itself: one step of communication
/// instead of two.
constexpr std::size_t kSmall = std::size_t{1} << 15;

/// Adds nodes of a tree that come in ascending order and cover all of its leaves.
class NodeStack {
 public:
  explicit NodeStack(Index width) : width_(to_size(width)) {}
  void push(Index leaves, const double* sums) {
    parts_.push_back({leaves, {sums, sums + width_}});
    while (parts_.size() > 1 && parts_[parts_.size() - 2].leaves == parts_.back().leaves) merge();
  }
  void finish(double* out) {
    while (parts_.size() > 1) merge();
    if (!parts_.empty()) std::ranges::copy(parts_.front().sums, out);
    parts_.clear();
  }

 private:
  struct Part {
    Index leaves;
    std::vector<double> sums;
  };
  void merge() {
    Part& left = parts_[parts_.size() - 2];
    const Part& right = parts_.back();
    left.leaves += right.leaves;
    for (std::size_t i = 0; i < width_; ++i) left.sums[i] += right.sums[i];
    parts_.pop_back();
  }
  std::size_t width_;
  std::vector<Part> parts_;
};

/// The nodes of every rank.
std::vector<std::vector<RowRange>> all_nodes(const RowTree& tree, int ranks) {
  std::vector<std::vector<RowRange>> nodes;
  for (int r = 0; r < ranks; ++r) nodes.push_back(nodes_of(tree, r, ranks));
  return nodes;
}

/// Every rank gets all partial sums.
void join_small(const std::vector<std::vector<RowRange>>& nodes, std::span<const double> partial,
                std::span<double> out, Collective& ranks) {
  const std::size_t width = out.size();
  std::vector<std::int64_t> ends;
  std::size_t count = 0, before = 0;
  for (int r = 0; r < ranks.ranks(); ++r) {
    if (r == ranks.rank()) before = count;
    count += nodes[to_size(r)].size();
    ends.push_back(static_cast<std::int64_t>(count * width * sizeof(double)));
  }
  std::vector<double> all(count * width);
  std::ranges::copy(partial, all.begin() + static_cast<std::ptrdiff_t>(before * width));
  ranks.gather(std::as_writable_bytes(std::span(all)), ends);
  NodeStack stack(std::ssize(out));
  const double* at = all.data();
  for (const auto& of_rank : nodes) {
    for (const RowRange& node : of_rank) {
      stack.push(node.size(), at);
      at += width;
    }
  }
  stack.finish(out.data());
}

/// Every rank adds a part of the numbers, and all get the totals.
void join_large(const std::vector<std::vector<RowRange>>& nodes, std::span<const double> partial,
                std::span<double> out, Collective& ranks) {
  const int count = ranks.ranks();
  const Index width = std::ssize(out);
  const auto own_nodes = nodes[to_size(ranks.rank())].size();
  const RowRange mine = own_part(width, ranks);
  std::vector<double> send(partial.size());
  std::vector<std::int64_t> sent, received, ends;
  std::int64_t bytes_sent = 0, bytes_received = 0;
  double* to = send.data();
  for (int r = 0; r < count; ++r) {
    const RowRange part = part_of(width, r, count);
    for (std::size_t n = 0; n < own_nodes; ++n)
      to = std::copy_n(partial.data() + static_cast<Index>(n) * width + part.begin, part.size(), to);
    bytes_sent += std::ssize(nodes[to_size(ranks.rank())]) * part.size() * Index{sizeof(double)};
    bytes_received += std::ssize(nodes[to_size(r)]) * mine.size() * Index{sizeof(double)};
    sent.push_back(bytes_sent);
    received.push_back(bytes_received);
    ends.push_back(part.end * Index{sizeof(double)});
  }
  std::vector<double> receive(to_size(bytes_received) / sizeof(double));
  ranks.exchange(std::as_bytes(std::span(send)), sent, std::as_writable_bytes(std::span(receive)), received);
  NodeStack stack(mine.size());
  const double* at = receive.data();
  for (const auto& of_rank : nodes) {
    for (const RowRange& node : of_rank) {
      stack.push(node.size(), at);
      at += mine.size();
    }
  }
  stack.finish(out.data() + mine.begin);
  ranks.gather(std::as_writable_bytes(out), ends);
}

}  // namespace

RowRange leaves_of(const RowTree& tree, int rank, int ranks) {
  return part_of(tree.leaves(), rank, ranks);
}

RowRange own_rows(Index rows, const Collective& ranks) {
  if (ranks.ranks() == 1) return {0, rows};
  const RowTree tree(rows);
  const RowRange leaves = leaves_of(tree, ranks.rank(), ranks.ranks());
  const auto begin_of = [&](Index leaf) { return leaf == tree.leaves() ? rows : tree.leaf(leaf).begin; };
  return {begin_of(leaves.begin), begin_of(leaves.end)};
}

void sum_blocks(Index rows, std::span<double> out, ThreadPool& threads,
                const std::function<void(RowRange, std::span<double>)>& add) {
  sum_pieces(RowTree(rows), 1, std::ssize(out), out, threads,
             [&](Index, RowRange leaf, std::span<double> sums) {
               for (Index begin = leaf.begin; begin < leaf.end; begin += kBlockRows)
                 add({begin, std::min(begin + kBlockRows, leaf.end)}, sums);
             });
}

bool any_rank(bool here, ThreadPool& threads) {
  if (!is_shared(threads)) return here;
  const char own = here ? 1 : 0;
  return std::ranges::max(gather_all(std::span(&own, 1), threads.ranks())) != 0;
}

std::vector<std::int64_t> row_ends(Index rows, Index each, const Collective& ranks) {
  const RowTree tree(rows);
  std::vector<std::int64_t> ends;
  for (int r = 0; r < ranks.ranks(); ++r) {
    const RowRange leaves = leaves_of(tree, r, ranks.ranks());
    const Index end = leaves.end == tree.leaves() ? rows : tree.leaf(leaves.end).begin;
    ends.push_back(end * each);
  }
  return ends;
}

std::vector<RowRange> nodes_of(const RowTree& tree, int rank, int ranks) {
  const RowRange own = leaves_of(tree, rank, ranks);
  std::vector<RowRange> nodes;
  for (Index at = own.begin; at < own.end;) {
    Index size = 1;
    // Twice as large, as long as the node begins here and ends within, or where the tree does.
    while (at % (2 * size) == 0 && at + size < tree.leaves() &&
           std::min(at + 2 * size, tree.leaves()) <= own.end)
      size *= 2;
    const Index end = std::min(at + size, tree.leaves());
    nodes.push_back({at, end});
    at = end;
  }
  return nodes;
}

void join_nodes(const RowTree& tree, std::span<const double> partial, std::span<double> out,
                Collective& ranks) {
  if (tree.leaves() == 0) {
    std::ranges::fill(out, 0.0);
    return;
  }
  const auto nodes = all_nodes(tree, ranks.ranks());
  const std::size_t most = std::bit_width(to_size(tree.leaves()));
  if (out.size_bytes() * most <= kSmall) return join_small(nodes, partial, out, ranks);
  join_large(nodes, partial, out, ranks);
}

void sum_pieces(const RowTree& tree, Index pieces, Index width, std::span<double> out, ThreadPool& threads,
                const std::function<void(Index, RowRange, std::span<double>)>& add) {
  Collective& ranks = threads.ranks();
  const std::vector<RowRange> nodes = nodes_of(tree, ranks.rank(), ranks.ranks());
  std::vector<double> partial(is_shared(threads) ? nodes.size() * out.size() : 0);
  threads.for_each(pieces, [&](Index piece, int) {
    TreeSum sum(to_size(width));
    const auto own = out.subspan(to_size(piece * width), to_size(width));
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (Index leaf = nodes[n].begin; leaf < nodes[n].end; ++leaf) {
        add(piece, tree.leaf(leaf), sum.leaf());
        sum.close_leaf();
      }
      sum.finish(own);
      if (!partial.empty()) std::ranges::copy(own, partial.data() + n * out.size() + to_size(piece * width));
    }
    if (nodes.empty()) std::ranges::fill(own, 0.0);
  });
  if (is_shared(threads)) join_nodes(tree, partial, out, ranks);
}

}  // namespace sharelearn
