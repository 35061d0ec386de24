#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/nearest.cpp"
#include "kernels/nearest.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sharelearn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;
using Ints = hn::RebindToSigned<Floats>;

/// The best value of one point so far in each lane, with the panel it came from.
struct Best {
  hn::Vec<Floats> value;
  hn::Vec<Ints> centre;
};

/// Dot products of POINTS points with 2 vectors of centres; keeps the better of old and new.
template <int POINTS>
HWY_INLINE void panel_step(const float* HWY_RESTRICT points, Index dims, const float* HWY_RESTRICT weights,
                           const float* HWY_RESTRICT half_norm, Index first, Best* HWY_RESTRICT best) {
  const Floats d;
  const Ints di;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<Floats> low[POINTS], high[POINTS];
  for (int p = 0; p < POINTS; ++p) {
    low[p] = hn::Neg(hn::LoadU(d, half_norm));
    high[p] = hn::Neg(hn::LoadU(d, half_norm + lanes));
  }
  for (Index t = 0; t < dims; ++t) {
    const auto w_low = hn::LoadU(d, weights + t * kCentrePanel);
    const auto w_high = hn::LoadU(d, weights + t * kCentrePanel + lanes);
    for (int p = 0; p < POINTS; ++p) {
      const auto x = hn::Set(d, points[p * dims + t]);
      low[p] = hn::MulAdd(x, w_low, low[p]);
      high[p] = hn::MulAdd(x, w_high, high[p]);
    }
  }
  const auto id = hn::Iota(di, static_cast<std::int32_t>(first));
  const auto next = hn::Add(id, hn::Set(di, static_cast<std::int32_t>(lanes)));
  for (int p = 0; p < POINTS; ++p) {
    auto better = hn::Gt(low[p], best[p].value);
    best[p].value = hn::IfThenElse(better, low[p], best[p].value);
    best[p].centre = hn::IfThenElse(hn::RebindMask(di, better), id, best[p].centre);
    better = hn::Gt(high[p], best[p].value);
    best[p].value = hn::IfThenElse(better, high[p], best[p].value);
    best[p].centre = hn::IfThenElse(hn::RebindMask(di, better), next, best[p].centre);
  }
}

template <int POINTS>
HWY_INLINE void nearest_of(const float* points, const PackedCentres& centres, std::int32_t* nearest,
                           float* out) {
  const Floats d;
  const Ints di;
  const auto step = 2 * static_cast<Index>(hn::Lanes(d));
  Best best[POINTS];
  for (auto& b : best) b = {hn::Set(d, -3.0e38f), hn::Zero(di)};
  for (Index c = 0; c < centres.panels * kCentrePanel; c += step) {
    const Index panel = c / kCentrePanel, lane = c % kCentrePanel;
    panel_step<POINTS>(points, centres.dims,
                       centres.weights.data() + panel * centres.dims * kCentrePanel + lane,
                       centres.half_norm.data() + c, c, best);
  }
  for (int p = 0; p < POINTS; ++p) {
    HWY_ALIGN float value[8];
    HWY_ALIGN std::int32_t centre[8];
    hn::Store(best[p].value, d, value);
    hn::Store(best[p].centre, di, centre);
    std::size_t winner = 0;
    for (std::size_t lane = 1; lane < hn::Lanes(d); ++lane) {
      const bool better =
          value[lane] > value[winner] || (value[lane] == value[winner] && centre[lane] < centre[winner]);
      if (better) winner = lane;
    }
    nearest[p] = centre[winner];
    out[p] = value[winner];
  }
}

void nearest_centres(const float* points, Index rows, const PackedCentres& centres, std::int32_t* nearest,
                     float* best) {
  constexpr int kPoints = 5;
  Index i = 0;
  for (; i + kPoints <= rows; i += kPoints) {
    nearest_of<kPoints>(points + i * centres.dims, centres, nearest + i, best + i);
  }
  for (; i < rows; ++i) nearest_of<1>(points + i * centres.dims, centres, nearest + i, best + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace sharelearn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sharelearn::kernels {

HWY_EXPORT(nearest_centres);

PackedCentres pack_centres(const Grid<float>& centres) {
  PackedCentres packed;
  packed.dims = centres.rows();
  packed.panels = (centres.cols() + kCentrePanel - 1) / kCentrePanel;
  const Index padded = packed.panels * kCentrePanel;
  packed.weights.assign(static_cast<std::size_t>(padded * packed.dims), 0.0f);
  packed.half_norm.assign(static_cast<std::size_t>(padded), 1.0e38f);
  for (Index c = 0; c < centres.cols(); ++c) {
    double norm = 0;
    float* out = packed.weights.data() + c / kCentrePanel * packed.dims * kCentrePanel + c % kCentrePanel;
    for (Index t = 0; t < packed.dims; ++t) {
      const float value = centres(t, c);
      out[t * kCentrePanel] = value;
      norm += static_cast<double>(value) * static_cast<double>(value);
    }
    packed.half_norm[static_cast<std::size_t>(c)] = static_cast<float>(0.5 * norm);
  }
  return packed;
}

void nearest_centres(const float* points, Index rows, const PackedCentres& centres, std::int32_t* nearest,
                     float* best) {
  HWY_DYNAMIC_DISPATCH(nearest_centres)(points, rows, centres, nearest, best);
}

}  // namespace sharelearn::kernels
#endif
