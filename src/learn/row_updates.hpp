// The row updates of [DuchiSinger09]: exact minimisers of its bounds for one row of W (one feature's k
// weights).
//
// AdaBoost (sections 2-4), with mu+ and mu- the importance-weighted correlations of eq. (3) and Lemma 4.1 and
// a the feature's budget:
//   l1       min_delta  a mu+ e^(-delta/a) + a mu- e^(delta/a) + lambda |delta + w|          eq. (4)
//   l1linf   min_d  a sum_r (mu+_r e^(-d_r) + mu-_r e^(d_r)) + lambda |w + a d|_inf   eqs. (8), (9), Fig. 1
// GradBoost (section 5), with gradient g and the quadratic bound's curvature h = bound * sum_i weight_i x_i^2
// (1/a_j of the paper times 1/4 or 1/2):
//   min_u  g . (u - w) + h |u - w|^2 / 2 + lambda value(u)      eqs. (11), (14), and Theorem 1 for l1linf
//
// Everything is computed in logarithms: mu e^(w/a) overflows long before the update does.
#pragma once

#include <span>

#include "sharelearn/penalty/penalty.hpp"

namespace sharelearn {

/// Eq. (4) with its symmetric and degenerate cases: the new weight w + delta. lambda may be 0 if both mu > 0.
double adaboost_l1(double mu_plus, double mu_minus, double w, double a, double lambda);

/// Eq. (9) by the sorting algorithm of Fig. 1, O(k log k): replaces `row` by the new weights.
void adaboost_l1linf(std::span<const double> mu_plus, std::span<const double> mu_minus, std::span<double> row,
                     double a, double lambda);

/// Eqs. (11) and (14) and their analogues: replaces `row` by the minimiser of the quadratic bound.
void gradboost_row(const Penalty& penalty, std::span<const double> gradient, double curvature, double lambda,
                   std::span<double> row);

}  // namespace sharelearn
