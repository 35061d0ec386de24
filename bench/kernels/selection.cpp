// The selection pass over dense columns, compared with the limits of the machine, which are measured in the
// same run: the speed at which one core reads memory, and its peak rate of float32 multiply-adds. A pass over
// m x d floats with k outputs must at least read 4 m d bytes and do m d k multiply-adds; the larger of the
// two times is the lower bound.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "selection.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace limits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float read_all(const float* p, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, p + i));
    b = hn::Add(b, hn::LoadU(d, p + i + lanes));
    c = hn::Add(c, hn::LoadU(d, p + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, p + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// Twelve independent chains are enough to hide the latency. They start from different numbers, so that the
/// compiler cannot replace them by one chain. Returns the number of multiply-adds done.
double multiply_add(std::size_t rounds, float* out) {
  const hn::ScalableTag<float> d;
  constexpr int chains = 12;
  const auto x = hn::Set(d, 0.999F), y = hn::Set(d, 0.001F);
  hn::Vec<decltype(d)> chain[chains];
  for (int c = 0; c < chains; ++c) chain[c] = hn::Set(d, static_cast<float>(c));
  for (std::size_t i = 0; i < rounds; ++i) {
    for (int c = 0; c < chains; ++c) chain[c] = hn::MulAdd(chain[c], x, y);
  }
  auto total = hn::Zero(d);
  for (int c = 0; c < chains; ++c) total = hn::Add(total, chain[c]);
  *out = hn::GetLane(hn::SumOfLanes(d, total));
  return static_cast<double>(rounds) * chains * static_cast<double>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace limits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/core.h>
#include <time.h>

#include <algorithm>

#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"

namespace limits {
HWY_EXPORT(read_all);
HWY_EXPORT(multiply_add);
}  // namespace limits

namespace {

using namespace sharelearn;

/// CPU seconds of this thread: other programs on the machine do not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Work>
double best_of(int repeats, const Work& work) {
  double best = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

Grid<float> random_grid(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Grid<float> x(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) x(i, j) = static_cast<float>(random.uniform(-1, 1));
  }
  return x;
}

}  // namespace

int main() {
  const Index rows = 60000, columns = 784;
  DenseMatrix dense = random_grid(rows, columns, 1);
  volatile float sink = 0;
  const auto count = static_cast<std::size_t>(dense.stride() * columns);
  const double bandwidth = static_cast<double>(count * sizeof(float)) / best_of(7, [&] {
                             sink = HWY_DYNAMIC_DISPATCH(limits::read_all)(dense.data(), count);
                           });
  double done = 0;
  const double adding_time = best_of(7, [&] {
    float out = 0;
    done = HWY_DYNAMIC_DISPATCH(limits::multiply_add)(3000000, &out);
    sink = out;
  });
  const double peak = done / adding_time;
  fmt::print("one core: {:.1f} GB/s read, {:.1f} G multiply-adds/s (float32)\n", bandwidth / 1e9, peak / 1e9);
  fmt::print("selection over {} x {} floats\n{:>8} {:>10} {:>10} {:>9} {:>9}\n", rows, columns, "outputs",
             "seconds", "bound", "binds", "reached");
  const Matrix x(std::move(dense));
  const ColumnPool pool(x);
  ThreadPool one(1);
  for (const Index k : {1, 2, 3, 6, 10, 26}) {
    const Grid<float> residual = random_grid(rows, k, 2);
    double total = 0;
    const double seconds = best_of(7, [&] {
      pool.correlate(residual, one, [&](const CandidateBlock& block, int) { total += block.sums[0]; });
    });
    sink = static_cast<float>(total);
    const double reading = 4.0 * static_cast<double>(rows * columns) / bandwidth;
    const double adding = static_cast<double>(rows * columns * k) / peak;
    const double bound = std::max(reading, adding);
    fmt::print("{:>8} {:>10.4f} {:>10.4f} {:>9} {:>8.0f}%\n", k, seconds, bound,
               reading > adding ? "reading" : "adding", 100 * bound / seconds);
  }
}
#endif
