// From scores to probabilities: the link function that belongs to the model's loss.
#pragma once

#include <span>
#include <string_view>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

enum class Link {
  none,              ///< scores give no probabilities
  identity,          ///< the score is the prediction itself (regression)
  softmax,           ///< p_c ~ exp(s_c): the logistic loss of classes
  softmax_of_twice,  ///< p_c ~ exp(2 s_c): an exponential loss, whose scores are half log-odds
  margin_softmax,    ///< q = softmax(s), p_c ~ q_c (e - (e - 1) q_c): [ShareBoost11]'s loss with its margin
  logistic,          ///< p = 1 / (1 + exp(-s)) for each task
  logistic_of_twice  ///< p = 1 / (1 + exp(-2 s)) for each task
};
std::string_view name_of(Link link);
/// False for `none` and `identity`.
bool gives_probabilities(Link link);

/// Turns scores, rows x outputs, into probabilities. Throws InputError if the link gives none.
void to_probabilities(Link link, Grid<double>& scores);
/// The same as natural logarithms. Exact even for probabilities too small for a double.
void to_log_probabilities(Link link, Grid<double>& scores);

/// The temperature T > 0 for which the probabilities of scores / T have the least log loss: a link for scores
/// whose loss says nothing about their scale. `truth`: class of each row, -1: unknown, not used.
double fit_temperature(const Grid<double>& scores, std::span<const std::int32_t> truth,
                       std::span<const double> weights = {});
/// The same for tasks.
double fit_temperature(const Grid<double>& scores, const Tasks& tasks, std::span<const double> weights = {});

}  // namespace sharelearn
