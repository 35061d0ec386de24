// The softmax loss and its Hessian, many rows at once, and the vector steps between them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h: these are compiled once per target too.
#include "kernels/exp_log.hpp"
#include "kernels/fixed_width.hpp"
//
#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = Register<double>;
using V = hn::Vec<D>;

/// Rows taken together: one cache line of each class. With columns a power of two apart, the lines of the
/// classes evict each other from the first-level cache. So each line is read and written once, and the work
/// is done in `terms`.
constexpr Index kTogether = kWidth<double>;

/// Rows that are taken together: their labels, weights and scores.
struct Rows {
  Block<double> scores;
  const std::int32_t* label;
  const double* weight;
};

/// Adds the rows' weighted loss to `loss`; writes the exponentials to `terms` and their sums to `sums`.
HWY_INLINE void exponentials(const Rows& rows, double margin, double* HWY_RESTRICT terms,
                             double* HWY_RESTRICT sums, V (&loss)[kPasses<double>]) {
  const D d;
  constexpr Index lanes = kLanes<double>, vectors = kPasses<double>;
  const Block<double>& scores = rows.scores;
  alignas(64) double own[kTogether];
  for (Index i = 0; i < kTogether; ++i) own[i] = scores.data[rows.label[i] * scores.stride + i];
  V highest[vectors], sum[vectors], y[vectors], flaw[vectors];
  for (Index v = 0; v < vectors; ++v) {
    highest[v] = hn::Set(d, -1e300);
    sum[v] = flaw[v] = hn::Zero(d);
    y[v] = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int32_t, D>(), rows.label + v * lanes));
  }
  for (Index c = 0; c < scores.columns; ++c) {
    for (Index v = 0; v < vectors; ++v) {
      const auto s = hn::LoadU(d, scores.data + c * scores.stride + v * lanes);
      highest[v] = hn::Max(highest[v], s);
      // Max ignores a NaN: it must not count as a score far below the others.
      flaw[v] = hn::MulAdd(s, hn::Zero(d), flaw[v]);
      hn::Store(s, d, terms + c * kTogether + v * lanes);
    }
  }
  const auto margins = hn::Set(d, margin);
  auto class_number = hn::Zero(d);
  for (Index c = 0; c < scores.columns; ++c) {
    for (Index v = 0; v < vectors; ++v) {
      double* at = terms + c * kTogether + v * lanes;
      const auto off = hn::Add(highest[v], hn::IfThenElseZero(hn::Eq(y[v], class_number), margins));
      // exp(-700) is 0 beside a sum of at least exp(-margin).
      const auto e = exp_within(d, hn::Max(hn::Sub(hn::Load(d, at), off), hn::Set(d, -700.0)));
      sum[v] = hn::Add(sum[v], e);
      hn::Store(e, d, at);
    }
    class_number = hn::Add(class_number, hn::Set(d, 1.0));
  }
  for (Index v = 0; v < vectors; ++v) {
    const auto above = hn::Sub(highest[v], hn::Load(d, own + v * lanes));
    const auto of_rows = hn::Add(hn::Add(log_normal(d, sum[v]), above), hn::Add(margins, flaw[v]));
    loss[v] = hn::MulAdd(hn::LoadU(d, rows.weight + v * lanes), of_rows, loss[v]);
    hn::Store(hn::Add(sum[v], flaw[v]), d, sums + v * lanes);
  }
}

/// Adds the loss of kTogether rows to `loss` and writes their residual if it is asked for.
HWY_INLINE void rows_together(const Rows& rows, double margin, double* HWY_RESTRICT terms,
                              V (&loss)[kPasses<double>], double* HWY_RESTRICT residual,
                              Index residual_stride) {
  const D d;
  constexpr Index lanes = kLanes<double>;
  alignas(64) double sums[kTogether];
  exponentials(rows, margin, terms, sums, loss);
  if (residual == nullptr) return;
  for (Index v = 0; v < kTogether; v += lanes) {
    hn::Store(hn::Div(hn::LoadU(d, rows.weight + v), hn::Load(d, sums + v)), d, sums + v);
  }
  for (Index c = 0; c < rows.scores.columns; ++c) {
    for (Index v = 0; v < kTogether; v += lanes) {
      const auto e = hn::Load(d, terms + c * kTogether + v);
      hn::StoreU(hn::Mul(e, hn::Load(d, sums + v)), d, residual + c * residual_stride + v);
    }
  }
  for (Index r = 0; r < kTogether; ++r) residual[rows.label[r] * residual_stride + r] -= rows.weight[r];
}

/// The last rows, fewer than kTogether, copied and filled up with rows of weight zero.
HWY_INLINE void last_rows(const Rows& rows, Index count, double margin, double* terms,
                          V (&loss)[kPasses<double>], double* residual, Index residual_stride) {
  const Index columns = rows.scores.columns;
  const auto copy = hwy::AllocateAligned<double>(static_cast<std::size_t>(2 * columns * kTogether));
  double* own_residual = copy.get() + columns * kTogether;
  std::int32_t label[kTogether] = {};
  double weight[kTogether] = {};
  std::copy_n(rows.label, count, label);
  std::copy_n(rows.weight, count, weight);
  std::fill_n(copy.get(), columns * kTogether, 0.0);
  for (Index c = 0; c < columns; ++c) {
    std::copy_n(rows.scores.data + c * rows.scores.stride, count, copy.get() + c * kTogether);
  }
  rows_together({{copy.get(), kTogether, columns}, label, weight}, margin, terms, loss,
                residual == nullptr ? nullptr : own_residual, kTogether);
  if (residual == nullptr) return;
  for (Index c = 0; c < columns; ++c) {
    std::copy_n(own_residual + c * kTogether, count, residual + c * residual_stride);
  }
}

double softmax_loss(Block<double> scores, const std::int32_t* HWY_RESTRICT label,
                    const double* HWY_RESTRICT weight, double margin, Index rows,
                    double* HWY_RESTRICT residual, Index residual_stride) {
  const auto terms = hwy::AllocateAligned<double>(static_cast<std::size_t>(scores.columns * kTogether));
  V loss[kPasses<double>];
  for (V& part : loss) part = hn::Zero(D());
  Index i = 0;
  const auto at = [&] {
    return Rows{{scores.data + i, scores.stride, scores.columns}, label + i, weight + i};
  };
  for (; i + kTogether <= rows; i += kTogether) {
    rows_together(at(), margin, terms.get(), loss, residual == nullptr ? nullptr : residual + i,
                  residual_stride);
  }
  if (i < rows) {
    last_rows(at(), rows - i, margin, terms.get(), loss, residual == nullptr ? nullptr : residual + i,
              residual_stride);
  }
  return sum_lanes(loss);
}

/// One register of rows; without kAll only `count` of them exist.
template <bool kAll>
HWY_INLINE void hessian_rows(Block<double> rho, const double* weight, double* u, Index u_stride,
                             Index count) {
  const D d;
  const auto load = [&](const double* p)
                        HWY_ATTR { return kAll ? hn::LoadU(d, p) : load_first(d, p, count); };
  auto mean = hn::Zero(d);
  for (Index c = 0; c < rho.columns; ++c) {
    mean = hn::MulAdd(load(rho.data + c * rho.stride), load(u + c * u_stride), mean);
  }
  const auto w = load(weight);
  for (Index c = 0; c < rho.columns; ++c) {
    double* at = u + c * u_stride;
    const auto scaled = hn::Mul(w, load(rho.data + c * rho.stride));
    const auto value = hn::Mul(scaled, hn::Sub(load(at), mean));
    if constexpr (kAll) {
      hn::StoreU(value, d, at);
    } else {
      store_first(value, d, at, count);
    }
  }
}

void softmax_hessian(Block<double> rho, const double* HWY_RESTRICT weight, Index rows, double* HWY_RESTRICT u,
                     Index u_stride) {
  constexpr Index lanes = kLanes<double>;
  Index i = 0;
  for (; i + lanes <= rows; i += lanes) {
    hessian_rows<true>({rho.data + i, rho.stride, rho.columns}, weight + i, u + i, u_stride, lanes);
  }
  if (i < rows) {
    hessian_rows<false>({rho.data + i, rho.stride, rho.columns}, weight + i, u + i, u_stride, rows - i);
  }
}

/// The sum of what `add` adds over [0, count). Two logical vectors take turns, so that an addition need not
/// wait for the previous one.
template <class Add>
HWY_INLINE double sum_of(Index count, const Add& add) {
  constexpr Index lanes = kLanes<double>, width = kWidth<double>, parts = kPasses<double>;
  V even[parts], odd[parts];
  for (Index p = 0; p < parts; ++p) even[p] = odd[p] = hn::Zero(D());
  Index i = 0;
  for (; i + 2 * width <= count; i += 2 * width) {
    for (Index p = 0; p < parts; ++p) {
      even[p] = add.whole(i + p * lanes, even[p]);
      odd[p] = add.whole(i + width + p * lanes, odd[p]);
    }
  }
  if (i < count) {
    for (Index p = 0; p < parts; ++p) {
      even[p] = add.first(i + p * lanes, count - i - p * lanes, even[p]);
      odd[p] = add.first(i + width + p * lanes, count - i - width - p * lanes, odd[p]);
    }
  }
  for (Index p = 0; p < parts; ++p) even[p] = hn::Add(even[p], odd[p]);
  return sum_lanes(even);
}

struct ValueTerms {
  const double* values;
  HWY_INLINE V whole(Index i, V sum) const { return hn::Add(sum, hn::LoadU(D(), values + i)); }
  HWY_INLINE V first(Index i, Index count, V sum) const {
    return hn::Add(sum, load_first(D(), values + i, count));
  }
};

struct ProductTerms {
  const double *a, *b;
  HWY_INLINE V whole(Index i, V sum) const {
    return hn::MulAdd(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i), sum);
  }
  HWY_INLINE V first(Index i, Index count, V sum) const {
    return hn::MulAdd(load_first(D(), a + i, count), load_first(D(), b + i, count), sum);
  }
};

double sum(const double* values, Index count) {
  return sum_of(count, ValueTerms{values});
}

double dot(const double* a, const double* b, Index count) {
  return sum_of(count, ProductTerms{a, b});
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {
HWY_EXPORT(softmax_loss);
HWY_EXPORT(softmax_hessian);
HWY_EXPORT(sum);
HWY_EXPORT(dot);

double softmax_loss(Block<double> scores, const std::int32_t* label, const double* weight, double margin,
                    Index rows, double* residual, Index residual_stride) {
  return HWY_DYNAMIC_DISPATCH(softmax_loss)(scores, label, weight, margin, rows, residual, residual_stride);
}

void softmax_hessian(Block<double> rho, const double* weight, Index rows, double* u, Index u_stride) {
  HWY_DYNAMIC_DISPATCH(softmax_hessian)(rho, weight, rows, u, u_stride);
}
double sum(const double* values, Index count) {
  return HWY_DYNAMIC_DISPATCH(sum)(values, count);
}
double dot(const double* a, const double* b, Index count) {
  return HWY_DYNAMIC_DISPATCH(dot)(a, b, count);
}
}  // namespace sharelearn::kernels
#endif
