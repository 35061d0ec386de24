// From scores to probabilities: which function of the scores the model's loss makes them.
#pragma once

#include <string_view>

#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

enum class Link {
  none,              ///< scores say nothing of probabilities
  identity,          ///< the score is the prediction itself (regression)
  softmax,           ///< p_c ~ exp(s_c): the logistic loss of classes
  softmax_of_twice,  ///< p_c ~ exp(2 s_c): an exponential loss, whose scores are half log-odds
  margin_softmax,    ///< q = softmax(s), p_c ~ q_c (e - (e - 1) q_c): [ShareBoost11]'s loss with its margin
  logistic,          ///< p = 1 / (1 + exp(-s)) of each task
  logistic_of_twice  ///< p = 1 / (1 + exp(-2 s)) of each task
};
std::string_view name_of(Link link);
/// False for `none` and `identity`.
bool gives_probabilities(Link link);

/// Turns scores, rows x outputs, into probabilities. Throws InputError where the link gives none.
void to_probabilities(Link link, Grid<double>& scores);
/// The same, as natural logarithms: exact where a probability is too small for a number.
void to_log_probabilities(Link link, Grid<double>& scores);

}  // namespace sharelearn
