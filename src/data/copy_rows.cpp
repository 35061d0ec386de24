#include "data/copy_rows.hpp"

#include <algorithm>

namespace sharelearn {

void copy_rows(const Matrix& x, Index column, RowRange rows, float* out) {
  if (!x.is_sparse()) {
    const float* from = x.dense().column(column);
    std::copy(from + rows.begin, from + rows.end, out);
    return;
  }
  std::fill(out, out + rows.size(), 0.0F);
  const auto row = x.sparse().column_rows(column);
  const auto value = x.sparse().column_values(column);
  auto at = std::lower_bound(row.begin(), row.end(), static_cast<std::uint32_t>(rows.begin)) - row.begin();
  for (; at < std::ssize(row) && row[static_cast<std::size_t>(at)] < rows.end; ++at) {
    out[row[static_cast<std::size_t>(at)] - rows.begin] = value[static_cast<std::size_t>(at)];
  }
}

}  // namespace sharelearn
