#include "kernels/entry_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/entry_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
//
#include "kernels/fixed_width.hpp"

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = Register<float>;
using Vector = hn::Vec<Floats>;

/// Sum of the lanes of a logical vector, by halves.
HWY_INLINE float sum_of(const Vector (&parts)[kPasses<float>]) {
  Vector sums[kPasses<float>];
  for (Index p = 0; p < kPasses<float>; ++p) sums[p] = parts[p];
  for (Index half = kPasses<float> / 2; half > 0; half /= 2) {
    for (Index p = 0; p < half; ++p) sums[p] = hn::Add(sums[p], sums[p + half]);
  }
  return sum_register(Floats(), sums[0]);
}

/// Products of one row with the weights of `Entries` outputs.
template <int Entries>
HWY_INLINE void row_products(const float* x, Index columns, const std::uint32_t* output, const float* weights,
                             float* products) {
  const Floats f;
  Vector sum[Entries][kPasses<float>];
  for (auto& of_entry : sum) {
    for (Vector& part : of_entry) part = hn::Zero(f);
  }
  const float* from[Entries];
  for (int e = 0; e < Entries; ++e) from[e] = weights + static_cast<Index>(output[e]) * columns;
  for (Index j = 0; j < columns; j += kWidth<float>) {
    for (Index p = 0; p < kPasses<float>; ++p) {
      const Index at = j + p * kLanes<float>;
      const Vector value = hn::LoadU(f, x + at);
      for (int e = 0; e < Entries; ++e) {
        sum[e][p] = hn::MulAdd(value, hn::LoadU(f, from[e] + at), sum[e][p]);
      }
    }
  }
  for (int e = 0; e < Entries; ++e) products[e] = sum_of(sum[e]);
}

void EntryProducts(const EntryRows& rows, const float* weights, float* products) {
  for (Index r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.columns;
    std::uint32_t e = rows.first[r];
    const std::uint32_t end = rows.first[r + 1];
    for (; e + 4 <= end; e += 4) row_products<4>(x, rows.columns, rows.output + e, weights, products + e);
    if (end - e == 3) row_products<3>(x, rows.columns, rows.output + e, weights, products + e);
    if (end - e == 2) row_products<2>(x, rows.columns, rows.output + e, weights, products + e);
    if (end - e == 1) row_products<1>(x, rows.columns, rows.output + e, weights, products + e);
  }
}

/// Columns [0, Registers * lanes) of the entries [0, count), which have one output.
template <int Registers>
HWY_INLINE void add_run(const float* x, Index stride, const EntryPlace* places, Index count,
                        const float* values, float* sums) {
  const Floats f;
  Vector sum[Registers];
  for (int a = 0; a < Registers; ++a) sum[a] = hn::LoadU(f, sums + a * kLanes<float>);
  for (Index p = 0; p < count; ++p) {
    const float* row = x + static_cast<Index>(places[p].row) * stride;
    const Vector value = hn::Set(f, values[places[p].entry]);
    for (int a = 0; a < Registers; ++a) {
      sum[a] = hn::MulAdd(value, hn::LoadU(f, row + a * kLanes<float>), sum[a]);
    }
  }
  for (int a = 0; a < Registers; ++a) hn::StoreU(sum[a], f, sums + a * kLanes<float>);
}

/// `registers` at once, at most Most.
template <int Most>
HWY_INLINE void add_registers(Index registers, const float* x, Index stride, const EntryPlace* places,
                              Index count, const float* values, float* sums) {
  if (registers >= Most) return add_run<Most>(x, stride, places, count, values, sums);
  if constexpr (Most > 1) add_registers<Most - 1>(registers, x, stride, places, count, values, sums);
}

void AddEntries(const EntryRows& rows, const EntryPlace* places, Index count, const float* values,
                float* sums) {
  constexpr int most = 8;
  for (Index j = 0; j < rows.columns; j += most * kLanes<float>) {
    const Index registers = (rows.columns - j) / kLanes<float>;
    for (Index begin = 0, end; begin < count; begin = end) {
      const std::uint32_t output = rows.output[places[begin].entry];
      for (end = begin + 1; end < count && rows.output[places[end].entry] == output;) ++end;
      add_registers<most>(registers, rows.x + j, rows.columns, places + begin, end - begin, values,
                          sums + static_cast<Index>(output) * rows.columns + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(EntryProducts);
HWY_EXPORT(AddEntries);

void entry_products(const EntryRows& rows, const float* weights, float* products) {
  HWY_DYNAMIC_DISPATCH(EntryProducts)(rows, weights, products);
}

void add_entries(const EntryRows& rows, const EntryPlace* places, Index count, const float* values,
                 float* sums) {
  HWY_DYNAMIC_DISPATCH(AddEntries)(rows, places, count, values, sums);
}

}  // namespace sharelearn::kernels
#endif
