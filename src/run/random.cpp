#include "sharelearn/run/random.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace sharelearn {
namespace {

std::uint64_t splitmix(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t rotate_left(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t x = seed;
  const std::uint64_t mixed = splitmix(x) ^ stream;
  x = mixed;
  for (auto& word : state_) word = splitmix(x);
}

std::uint64_t Random::next() {
  const std::uint64_t result = rotate_left(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::int64_t Random::below(std::int64_t bound) {
  const auto n = static_cast<std::uint64_t>(bound);
  const std::uint64_t rejected = (0 - n) % n;  // numbers below it would favour small results
  for (;;) {
    const std::uint64_t x = next();
    if (x >= rejected) return static_cast<std::int64_t>(x % n);
  }
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0, v = 0, s = 0;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = std::sqrt(-2 * std::log(s) / s);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

std::vector<std::int64_t> Random::sample(std::int64_t bound, std::int64_t count) {
  // Floyd's method: one draw per number, without a list of all numbers.
  std::unordered_set<std::int64_t> taken;
  std::vector<std::int64_t> result;
  for (std::int64_t j = bound - std::min(bound, count); j < bound; ++j) {
    const std::int64_t pick = below(j + 1);
    result.push_back(taken.insert(pick).second ? pick : (taken.insert(j), j));
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace sharelearn
