#include "sharelearn/pool/feature.hpp"

namespace sharelearn {

void ScaledColumns::column(Index j, float* out) const {
  raw_.copy_column(j, out);
  scaling_.apply_column(j, out, raw_.rows());
}

}  // namespace sharelearn
