#include "data/complete.hpp"

#include <algorithm>

#include "data/to_size.hpp"
#include "run/ranks.hpp"

namespace sharelearn {
namespace {

/// Bytes of an array that are gathered at a time.
constexpr Index kBufferBytes = Index{64} << 20;

}  // namespace

template <class T>
void complete(Grid<T>& values, ThreadPool& threads) {
  Collective& ranks = threads.ranks();
  if (ranks.ranks() == 1) return;
  const Index rows = values.rows(), step = std::max<Index>(kBufferBytes / (rows * Index{sizeof(T)} + 1), 1);
  std::vector<T> buffer;
  for (Index first = 0; first < values.cols(); first += step) {
    const Index count = std::min(step, values.cols() - first);
    const std::vector<std::int64_t> ends = row_ends(rows, count * Index{sizeof(T)}, ranks);
    buffer.resize(to_size(rows * count));
    const auto pass = [&](int rank, const auto& copy) {
      const Index each = count * Index{sizeof(T)};
      const Index begin = rank == 0 ? 0 : ends[to_size(rank - 1)] / each, end = ends[to_size(rank)] / each;
      T* at = buffer.data() + begin * count;
      for (Index c = 0; c < count && end > begin; ++c, at += end - begin)
        copy(values.column(first + c) + begin, at, end - begin);
    };
    pass(ranks.rank(), [](T* own, T* at, Index n) { std::copy_n(own, n, at); });
    ranks.gather(std::as_writable_bytes(std::span(buffer)), ends);
    for (int r = 0; r < ranks.ranks(); ++r) {
      if (r != ranks.rank()) pass(r, [](T* to, T* at, Index n) { std::copy_n(at, n, to); });
    }
  }
}

void complete(std::vector<double>& values, ThreadPool& threads) {
  Collective& ranks = threads.ranks();
  if (ranks.ranks() == 1) return;
  ranks.gather(std::as_writable_bytes(std::span(values)),
               row_ends(std::ssize(values), Index{sizeof(double)}, ranks));
}

const Grid<double>& completed(const Grid<double>& values, Grid<double>& store, ThreadPool& threads) {
  if (!is_shared(threads)) return values;
  store = values;
  complete(store, threads);
  return store;
}

template void complete(Grid<double>&, ThreadPool&);
template void complete(Grid<float>&, ThreadPool&);

}  // namespace sharelearn
