#include "sharelearn/state/support_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/support_rows.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

KernelKind kernel_from(std::string_view name) {
  if (name == "none") return KernelKind::none;
  if (name == "gaussian") return KernelKind::gaussian;
  if (name == "polynomial") return KernelKind::polynomial;
  throw InputError(fmt::format("kernel: expected none, gaussian or polynomial, got \"{}\"", name));
}

std::string_view name_of(KernelKind kind) {
  return kind == KernelKind::none ? "none" : kind == KernelKind::gaussian ? "gaussian" : "polynomial";
}

double Kernel::operator()(double measure) const {
  if (kind == KernelKind::polynomial) return std::pow(measure + offset, degree);
  const double exponent = -measure / (2 * sigma);
  // Below this the exponential is 0 in double precision; most supports are that far away.
  return exponent < -746 ? 0 : std::exp(exponent);
}

double Kernel::operator()(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  const std::size_t dims = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < dims; ++i) {
    const double left = i < a.size() ? a[i] : 0;
    const double right = i < b.size() ? b[i] : 0;
    sum += kind == KernelKind::polynomial ? left * right : (left - right) * (left - right);
  }
  return (*this)(sum);
}

template <class T>
void SupportStore<T>::set(Index slot, std::span<const double> vector) {
  if (slot == size_) {
    if (size_ % kLanes == 0) blocks_.emplace_back();
    ++size_;
  }
  Block& block = blocks_[static_cast<std::size_t>(slot / kLanes)];
  const Index lane = slot % kLanes;
  const auto dims = static_cast<Index>(vector.size());
  if (dims > block.dims) {
    block.values.resize(static_cast<std::size_t>(dims * kLanes), T{});
    block.dims = dims;
  }
  for (Index i = 0; i < block.dims; ++i) {
    block.values[static_cast<std::size_t>(i * kLanes + lane)] =
        i < dims ? static_cast<T>(vector[static_cast<std::size_t>(i)]) : T{};
  }
}

template <class T>
std::vector<double> SupportStore<T>::get(Index slot) const {
  const Block& block = blocks_[static_cast<std::size_t>(slot / kLanes)];
  std::vector<double> vector(static_cast<std::size_t>(block.dims));
  for (Index i = 0; i < block.dims; ++i) {
    vector[static_cast<std::size_t>(i)] =
        static_cast<double>(block.values[static_cast<std::size_t>(i * kLanes + slot % kLanes)]);
  }
  return vector;
}

template <class T>
void SupportStore<T>::evaluate(const Kernel& kernel, const std::vector<const double*>& z, Index dims,
                               std::vector<double>& out) const {
  const auto count = static_cast<Index>(z.size());
  out.resize(static_cast<std::size_t>(count * stride()));
  AlignedVector<double> measure(static_cast<std::size_t>(count * kLanes));
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (kernel.kind == KernelKind::polynomial) {
      kernels::block_dots(block.values.data(), block.dims, z.data(), count, measure.data());
    } else {
      kernels::block_distances(block.values.data(), block.dims, z.data(), count, dims, measure.data());
    }
    const Index first = static_cast<Index>(b) * kLanes;
    const Index used = std::min(kLanes, size_ - first);
    for (Index r = 0; r < count; ++r) {
      for (Index lane = 0; lane < used; ++lane) {
        out[static_cast<std::size_t>(r * stride() + first + lane)] =
            kernel(measure[static_cast<std::size_t>(r * kLanes + lane)]);
      }
    }
  }
}

template <class T>
Index SupportStore<T>::dims() const {
  Index longest = 0;
  for (const Block& block : blocks_) longest = std::max(longest, block.dims);
  return longest;
}

template <class T>
Index SupportStore<T>::bytes() const {
  Index total = 0;
  for (const Block& block : blocks_) total += static_cast<Index>(block.values.capacity() * sizeof(T));
  return total;
}

template <class T>
void SupportStore<T>::write(ByteWriter& out) const {
  out.index(size_);
  for (const Block& block : blocks_) {
    out.index(block.dims);
    if constexpr (std::is_same_v<T, float>) {
      out.floats(block.values);
    } else {
      out.doubles(block.values);
    }
  }
}

template <class T>
SupportStore<T> SupportStore<T>::read(ByteReader& in) {
  SupportStore store;
  store.size_ = in.index(0, std::numeric_limits<std::uint32_t>::max());
  for (Index b = 0; b * kLanes < store.size_; ++b) {
    Block block;
    block.dims = in.index(0, std::numeric_limits<std::uint32_t>::max());
    if constexpr (std::is_same_v<T, float>) {
      const std::vector<float> values = in.floats();
      block.values.assign(values.begin(), values.end());
    } else {
      const std::vector<double> values = in.doubles();
      block.values.assign(values.begin(), values.end());
    }
    if (static_cast<Index>(block.values.size()) != block.dims * kLanes) {
      in.damaged("a block of support vectors has the wrong size");
    }
    store.blocks_.push_back(std::move(block));
  }
  return store;
}

template class SupportStore<float>;
template class SupportStore<double>;

}  // namespace sharelearn
