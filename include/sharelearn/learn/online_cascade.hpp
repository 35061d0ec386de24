// The regularisation cascade, online: Algorithm 2 of [ZweigWeinshall13] (dual averaging of Xiao 2010, with
// the closed form of the sparse-group step). At step t, for l = 1..L,
//
//   U_t^l     a subgradient of loss_t at What_{t-1}^l + W_t^{l-1}
//   Ubar_t^l  = (t - 1)/t Ubar_{t-1}^l + 1/t U_t^l
//   What_t^l  = argmin <Ubar_t^l, W> + psi^l(W) + ridge |W|^2 + gamma / (2 sqrt(t)) |W|^2
//   W_t^l     = W_t^{l-1} + What_t^l
//
// Updates are lazy: a step reads and writes the rows of the example's nonzeros only, nnz x k numbers per
// level. state/online_cascade.hpp says how What follows from what is kept.
#pragma once

#include <cstdint>
#include <span>

#include "sharelearn/state/online_cascade.hpp"

namespace sharelearn {

/// One example of a step. In class and shared-task learning a step has one; with own rows, one per task.
struct OnlineExample {
  std::span<const std::uint32_t> column;  ///< ascending
  std::span<const float> value;
  Index output = 0;                        ///< class, or with own rows the task
  std::span<const std::int8_t> sign = {};  ///< of every task, or with own rows of `output` alone
};

/// Predicts each example with W_{t-1}^L, counts mistakes, then learns from all of them as one step.
void online_step(OnlineCascade& cascade, std::span<const OnlineExample> examples);

}  // namespace sharelearn
