#include "sharelearn/pool/feature.hpp"

#include <map>
#include <mutex>

namespace sharelearn {

struct ScaledColumns::Cache {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<const void>> kept;
};

ScaledColumns::ScaledColumns(const Matrix& raw, const Scaling& scaling)
    : raw_(raw), scaling_(scaling), cache_(std::make_unique<Cache>()) {}

ScaledColumns::~ScaledColumns() = default;

void ScaledColumns::column(Index j, float* out) const {
  raw_.copy_column(j, out);
  scaling_.apply_column(j, out, raw_.rows());
}

const Matrix& ScaledColumns::matrix() const {
  if (scaling_.is_identity()) return raw_;
  return *shared<Matrix>(this, [&] {
    ThreadPool alone(1);
    Matrix scaled(raw_);
    scaling_.apply(scaled, alone);
    return scaled;
  });
}

std::shared_ptr<const void> ScaledColumns::kept(
    const void* key, const std::function<std::shared_ptr<const void>()>& make) const {
  const std::lock_guard lock(cache_->mutex);
  std::shared_ptr<const void>& entry = cache_->kept[key];
  if (!entry) entry = make();
  return entry;
}

}  // namespace sharelearn
