// From scores to probabilities: the link function that belongs to the model's loss.
#pragma once

#include <span>
#include <string_view>
#include <vector>

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

/// What held-out rows showed of the probability of the most probable class: where it was from[i], to[i] of
/// the rows had that class, less what keeping the first place adds on average. Linear in between, constant
/// beyond the ends; empty: nothing is changed.
struct ConfidenceMap {
  std::vector<double> from;  ///< strictly ascending, in [0, 1]
  std::vector<double> to;    ///< ascending, in (0, 1)
  bool operator==(const ConfidenceMap&) const = default;
};

/// Gives the most probable class of each row the probability that the map has for it. The others keep their
/// proportions, and the order of the classes stays: the map never takes the first place away.
void map_confidence(const ConfidenceMap& map, Grid<double>& log_probabilities);

/// The map of these rows: isotonic regression over up to 15 groups of rows of equal weight and at least 50
/// rows. Empty if there are too few rows. `truth`: class of each row, -1: unknown, counted as wrong.
ConfidenceMap fit_confidence(const Grid<double>& log_probabilities, std::span<const std::int32_t> truth,
                             std::span<const double> weights = {});

/// The temperature T > 0 for which the link's probabilities of scores / T have the least log loss. `truth`:
/// class of each row, -1: unknown, not used.
double fit_temperature(Link link, const Grid<double>& scores, std::span<const std::int32_t> truth,
                       std::span<const double> weights = {});
/// The same for tasks.
double fit_temperature(Link link, const Grid<double>& scores, const Tasks& tasks,
                       std::span<const double> weights = {});

}  // namespace sharelearn
