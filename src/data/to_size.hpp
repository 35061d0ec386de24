// An Index as a position in a container: the standard library uses unsigned sizes.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

inline std::size_t to_size(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace sharelearn
