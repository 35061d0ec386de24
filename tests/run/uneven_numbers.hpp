#pragma once

#include <cmath>
#include <vector>

#include "sharelearn/run/random.hpp"
#include "sharelearn/run/rows.hpp"

namespace sharelearn {

/// Numbers whose sum depends on the order of additions.
inline std::vector<double> uneven_numbers(Index count) {
  Random random(7);
  std::vector<double> numbers;
  for (Index i = 0; i < count; ++i)
    numbers.push_back(random.normal() * std::pow(10.0, random.uniform(-8, 8)));
  return numbers;
}

}  // namespace sharelearn
