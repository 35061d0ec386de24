// A range of rows of one column, zeros included.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Writes rows.size() values. Sparse: O(log nonzeros + nonzeros in the range).
void copy_rows(const Matrix& x, Index column, RowRange rows, float* out);

}  // namespace sharelearn
