// Random numbers that are the same on every platform: xoshiro256++ seeded by splitmix64, with our own
// distributions (the standard library's differ between implementations).
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace sharelearn {

class Random {
 public:
  /// `stream` gives independent sequences for one seed (a fold, a tree, an image).
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in [0, bound), without bias; bound > 0.
  std::int64_t below(std::int64_t bound);
  /// Standard normal (polar method).
  double normal();
  bool coin() { return (next() >> 63) != 0; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }
  }

  /// `count` distinct numbers of [0, bound), ascending.
  std::vector<std::int64_t> sample(std::int64_t bound, std::int64_t count);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace sharelearn
