// Inner loops of the online learner `sharing`: one feature's row of per-class numbers is added to the scores.
//
// All arrays over classes hold `classes` doubles, a multiple of kClassLanes, 64-byte aligned. Every sum over
// features runs in the given order, with one multiplication and one addition at a time (never fused), so that
// a score has the same bits on every machine and in a plain scalar loop.
#pragma once

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/state/feature_map.hpp"

namespace sharelearn::kernels {

/// Arrays over classes are padded to a multiple of this.
inline constexpr Index kClassLanes = 8;

inline Index padded_classes(Index classes) {
  return (classes + kClassLanes - 1) / kClassLanes * kClassLanes;
}

/// Number of examples of each class, and its correctly rounded reciprocal (padding: 1).
struct ClassCounts {
  const double* count = nullptr;
  const double* inverse = nullptr;
};

/// scores[c] += coefficient[j] * rows[j][c], for j = 0, 1, ...
void add_rows(double* scores, Index classes, const double* const* rows, const double* coefficient,
              Index rows_count);

/// scores[c] += weight[j] * phi(x[j], rows[j][c] / count[c]), for j = 0, 1, ...
void add_mapped(const FeatureMap& map, double* scores, Index classes, const double* const* rows,
                const double* x, const double* weight, Index rows_count, ClassCounts counts);

/// scores[c] += weight[c] * phi(x, row[c] / count[c]), with one weight per class.
void add_mapped_each(const FeatureMap& map, double* scores, Index classes, const double* row, double x,
                     const double* weight, ClassCounts counts);

}  // namespace sharelearn::kernels
