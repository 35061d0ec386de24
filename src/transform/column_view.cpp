#include "sharelearn/transform/column_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

struct ColumnView::Cache {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<const void>> kept;
};

ColumnView::ColumnView(const Matrix& raw) : ColumnView(raw, Scaling{}) {}

ColumnView::ColumnView(const Matrix& raw, Scaling scaling)
    : raw_(&raw),
      scaling_(std::make_shared<const Scaling>(std::move(scaling))),
      cache_(std::make_shared<Cache>()) {
  if (is_scaled() && std::ssize(scaling_->factor) != raw.cols()) {
    throw InputError(fmt::format("the data has {} columns, but the scaling was fitted on {}", raw.cols(),
                                 scaling_->factor.size()));
  }
}

void ColumnView::column(Index j, RowRange rows, float* out) const {
  raw_->copy_column(j, rows, out);
  scaling_->apply_column(j, out, rows.size());
}

void ColumnView::gather(RowRange rows, float* out) const {
  // Columns at a time: their rows and the cache lines of the output stay in the first-level cache.
  constexpr Index kStrip = 16;
  std::vector<float> strip(static_cast<std::size_t>(kStrip * rows.size()));
  for (Index first = 0; first < cols(); first += kStrip) {
    const Index count = std::min(kStrip, cols() - first);
    for (Index a = 0; a < count; ++a) column(first + a, rows, strip.data() + a * rows.size());
    for (Index i = 0; i < rows.size(); ++i) {
      for (Index a = 0; a < count; ++a)
        out[i * cols() + first + a] = strip[static_cast<std::size_t>(a * rows.size() + i)];
    }
  }
}

bool ColumnView::is_constant(Index j) const {
  const bool sparse = raw_->is_sparse();
  const auto values = sparse ? raw_->sparse().column_values(j) : raw_->dense().column_span(j);
  // A sparse column with fewer entries than rows also has zeros.
  const bool has_zeros = std::ssize(values) < rows();
  const float first = values.empty() || has_zeros ? 0.0F : scaling_->apply(values.front(), j);
  return std::all_of(values.begin(), values.end(), [&](float v) { return scaling_->apply(v, j) == first; });
}

std::shared_ptr<const void> ColumnView::kept(const void* key,
                                             const std::function<std::shared_ptr<const void>()>& make) const {
  const std::lock_guard lock(cache_->mutex);
  std::shared_ptr<const void>& entry = cache_->kept[key];
  if (!entry) entry = make();
  return entry;
}

}  // namespace sharelearn
