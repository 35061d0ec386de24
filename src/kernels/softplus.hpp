// Logistic and exponential functions of arrays, with SIMD chosen at run time.
#pragma once

#include "sharelearn/data/matrix.hpp"

namespace sharelearn::kernels {

/// value[i] = ln(1 + exp(-t[i])) and probability[i] = 1 / (1 + exp(t[i])), without overflow; NaN of NaN.
/// Either output may be the input.
void softplus(const double* t, Index count, double* value, double* probability);

/// Largest exponent. A loss beyond it is hopeless anyway, and exp stays finite, even in sums of a few terms.
inline constexpr double kMostExponent = 700;

/// value[i] = exp(min(t[i], kMostExponent)); NaN of NaN. `value` may be the input.
void exponential(const double* t, Index count, double* value);

/// value[i] = q[i] ln(q[i]); 0 where q[i] is not positive. `value` may be the input.
void q_log_q(const double* q, Index count, double* value);

}  // namespace sharelearn::kernels
