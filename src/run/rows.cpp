#include "sharelearn/run/rows.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "run/ranks.hpp"

namespace sharelearn {
namespace {

template <class T>
void add_to(std::vector<T>& left, const std::vector<T>& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
}

/// Partial sums of leaves that several threads finish in any order. The thread that finishes the second of
/// two partners adds them, the left one first, and moves up the tree with the sum.
class SharedTree {
 public:
  explicit SharedTree(Index leaves) : leaves_(leaves) {}

  std::vector<double> zeroed(std::size_t width) {
    std::vector<double> sums;
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        sums = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    sums.assign(width, 0.0);
    return sums;
  }

  void close(Index leaf, std::vector<double> sums) {
    Index place = leaf;
    for (Index count = leaves_; count > 1; count = (count + 1) / 2, place /= 2) {
      const bool is_left = place % 2 == 0;
      if (is_left && place + 1 == count) continue;  // no partner
      std::vector<double> partner;
      {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
          return w.count == count && w.place == (place ^ 1);
        });
        if (found == waiting_.end()) {
          waiting_.push_back({count, place, std::move(sums)});
          return;
        }
        partner = std::move(found->sums);
        *found = std::move(waiting_.back());
        waiting_.pop_back();
      }
      if (!is_left) std::swap(sums, partner);
      add_to(sums, partner);
      const std::lock_guard lock(mutex_);
      spare_.push_back(std::move(partner));
    }
    total_ = std::move(sums);
  }

  const std::vector<double>& total() const { return total_; }

 private:
  struct Waiting {
    Index count, place;  ///< number of nodes of its level, and its position among them
    std::vector<double> sums;
  };
  Index leaves_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;
  std::vector<std::vector<double>> spare_;
  std::vector<double> total_;
};

}  // namespace

RowTree::RowTree(Index rows) : rows_(rows) {
  const Index blocks = blocks_of(rows);
  Index run = 1;
  while (run * kMostLeaves < blocks) run *= 2;
  leaf_rows_ = run * kBlockRows;
  leaves_ = (rows + leaf_rows_ - 1) / leaf_rows_;
}

RowRange RowTree::leaf(Index number) const {
  const Index begin = number * leaf_rows_;
  return {begin, std::min(begin + leaf_rows_, rows_)};
}

template <class T>
void BasicTreeSum<T>::close_leaf() {
  std::vector<T> next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next.assign(width_, T{});
  push(std::exchange(open_, std::move(next)));
}

template <class T>
void BasicTreeSum<T>::close_empty_leaf() {
  push({});
}

template <class T>
void BasicTreeSum<T>::push(std::vector<T> sums) {
  parts_.push_back({1, std::move(sums)});
  while (parts_.size() > 1 && parts_[parts_.size() - 2].leaves == parts_.back().leaves) merge_last_two();
}

template <class T>
void BasicTreeSum<T>::merge_last_two() {
  Part right = std::move(parts_.back());
  parts_.pop_back();
  Part& left = parts_.back();
  left.leaves += right.leaves;
  if (right.sums.empty()) return;
  if (left.sums.empty()) {
    left.sums = std::move(right.sums);
    return;
  }
  add_to(left.sums, right.sums);
  spare_.push_back(std::move(right.sums));
}

template <class T>
void BasicTreeSum<T>::finish(std::span<T> out) {
  while (parts_.size() > 1) merge_last_two();
  if (parts_.empty() || parts_.front().sums.empty()) {
    parts_.clear();
    std::fill(out.begin(), out.end(), T{});
    return;
  }
  std::copy(parts_.front().sums.begin(), parts_.front().sums.end(), out.begin());
  spare_.push_back(std::move(parts_.front().sums));
  parts_.clear();
}

template class BasicTreeSum<double>;
template class BasicTreeSum<float>;

std::vector<double> combine_leaves(std::vector<std::vector<double>> parts) {
  if (parts.empty()) return {};
  SharedTree tree(std::ssize(parts));
  for (std::size_t leaf = 0; leaf < parts.size(); ++leaf) {
    tree.close(static_cast<Index>(leaf), std::move(parts[leaf]));
  }
  return tree.total();
}

void for_each_row_block(Index rows, ThreadPool& threads, const std::function<void(RowRange, int)>& work,
                        Index block_rows) {
  const RowRange own = own_rows(rows, threads.ranks());
  threads.for_each((own.size() + block_rows - 1) / block_rows, [&](Index block, int worker) {
    const Index begin = own.begin + block * block_rows;
    work({begin, std::min(begin + block_rows, own.end)}, worker);
  });
}

void sum_over_leaves(Index rows, ThreadPool& threads, std::span<double> out,
                     const std::function<void(RowRange, std::span<double>, int)>& add) {
  const RowTree cut(rows);
  if (cut.leaves() == 0) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  Collective& ranks = threads.ranks();
  const std::vector<RowRange> nodes = nodes_of(cut, ranks.rank(), ranks.ranks());
  std::deque<SharedTree> trees;
  std::vector<std::size_t> tree_of;
  for (const RowRange& node : nodes) {
    tree_of.resize(tree_of.size() + static_cast<std::size_t>(node.size()), trees.size());
    trees.emplace_back(node.size());
  }
  threads.for_each(std::ssize(tree_of), [&](Index which, int worker) {
    const std::size_t node = tree_of[static_cast<std::size_t>(which)];
    SharedTree& tree = trees[node];
    const Index leaf = nodes.front().begin + which;
    std::vector<double> sums = tree.zeroed(out.size());
    add(cut.leaf(leaf), sums, worker);
    tree.close(leaf - nodes[node].begin, std::move(sums));
  });
  if (ranks.ranks() == 1) {
    std::ranges::copy(trees.front().total(), out.begin());
    return;
  }
  std::vector<double> partial;
  for (const SharedTree& tree : trees)
    partial.insert(partial.end(), tree.total().begin(), tree.total().end());
  join_nodes(cut, partial, out, ranks);
}

void sum_over_rows(Index rows, ThreadPool& threads, std::span<double> out,
                   const std::function<void(RowRange, std::span<double>, int)>& add) {
  sum_over_leaves(rows, threads, out, [&](RowRange leaf, std::span<double> sums, int worker) {
    for (Index begin = leaf.begin; begin < leaf.end; begin += kBlockRows) {
      add({begin, std::min(begin + kBlockRows, leaf.end)}, sums, worker);
    }
  });
}

double sum_over_rows(Index rows, ThreadPool& threads, const std::function<double(RowRange, int)>& value) {
  double sum = 0;
  sum_over_rows(rows, threads, {&sum, 1},
                [&](RowRange block, std::span<double> sums, int worker) { sums[0] += value(block, worker); });
  return sum;
}

double max_over_rows(Index rows, ThreadPool& threads, double least,
                     const std::function<double(RowRange, int)>& value) {
  std::vector<double> largest(static_cast<std::size_t>(threads.size()), least);
  for_each_row_block(rows, threads, [&](RowRange block, int worker) {
    double& own = largest[static_cast<std::size_t>(worker)];
    own = std::max(own, value(block, worker));
  });
  const double own = *std::max_element(largest.begin(), largest.end());
  if (!is_shared(threads)) return own;
  return std::ranges::max(gather_all(std::span(&own, 1), threads.ranks()));
}

}  // namespace sharelearn
