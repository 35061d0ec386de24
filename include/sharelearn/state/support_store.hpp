// Support vectors of a kernel, kept compactly: interleaved in blocks of 8, so that one vector operation works
// on several of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

enum class KernelKind { none, gaussian, polynomial };
KernelKind kernel_from(std::string_view name);
std::string_view name_of(KernelKind kind);

struct Kernel {
  KernelKind kind = KernelKind::none;
  double sigma = 1;   ///< gaussian: exp(-|a - b|^2 / (2 sigma))
  double degree = 2;  ///< polynomial: (<a, b> + offset)^degree
  double offset = 1;

  bool operator==(const Kernel&) const = default;
  /// The kernel of a squared distance (gaussian) or of an inner product (polynomial).
  double operator()(double measure) const;
  double operator()(std::span<const double> a, std::span<const double> b) const;
};

/// T is float where the vectors are examples as read, double where they are centred by a class's mean.
template <class T>
class SupportStore {
 public:
  Index size() const { return size_; }
  /// Writes a vector; slot == size() appends one. Vectors may get longer, missing coordinates are 0.
  void set(Index slot, std::span<const double> vector);
  std::vector<double> get(Index slot) const;
  /// out[r * stride() + slot] = kernel(z[r], vector of the slot). All z have `dims` coordinates, at least as
  /// many as any stored vector. Costs size() * dims a z.
  void evaluate(const Kernel& kernel, const std::vector<const double*>& z, Index dims,
                std::vector<double>& out) const;
  /// size() rounded up to whole blocks.
  Index stride() const { return static_cast<Index>(blocks_.size()) * kLanes; }
  /// Coordinates of the longest vector.
  Index dims() const;
  Index bytes() const;

  void write(ByteWriter& out) const;
  static SupportStore read(ByteReader& in);

 private:
  static constexpr Index kLanes = 8;
  struct Block {
    Index dims = 0;
    AlignedVector<T> values;  ///< values[i * kLanes + lane]
  };
  Index size_ = 0;
  std::vector<Block> blocks_;
};

extern template class SupportStore<float>;
extern template class SupportStore<double>;

}  // namespace sharelearn
