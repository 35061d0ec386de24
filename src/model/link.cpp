#include "sharelearn/model/link.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::array<std::string_view, 7> kNames{
    "none", "identity", "softmax", "softmax_of_twice", "margin_softmax", "logistic", "logistic_of_twice"};

bool is_twice(Link link) {
  return link == Link::softmax_of_twice || link == Link::logistic_of_twice;
}

bool is_of_tasks(Link link) {
  return link == Link::logistic || link == Link::logistic_of_twice;
}

/// Turns half log-odds into log-odds, the scale of a logistic loss.
void double_scores(Grid<double>& scores) {
  for (Index c = 0; c < scores.cols(); ++c) {
    for (double& score : scores.column_span(c)) score *= 2;
  }
}

double highest_of(const Grid<double>& scores, Index row) {
  double highest = scores(row, 0);
  for (Index c = 1; c < scores.cols(); ++c) highest = std::max(highest, scores(row, c));
  return highest;
}

void softmax_row(Grid<double>& scores, Index row) {
  const double highest = highest_of(scores, row);
  double sum = 0;
  for (Index c = 0; c < scores.cols(); ++c) sum += scores(row, c) = std::exp(scores(row, c) - highest);
  for (Index c = 0; c < scores.cols(); ++c) scores(row, c) /= sum;
}

void log_softmax_row(Grid<double>& scores, Index row) {
  const double highest = highest_of(scores, row);
  double sum = 0;
  for (Index c = 0; c < scores.cols(); ++c) sum += std::exp(scores(row, c) - highest);
  for (Index c = 0; c < scores.cols(); ++c) scores(row, c) -= highest + std::log(sum);
}

/// e - (e - 1) q.
double margin_factor(double q) {
  return std::numbers::e - (std::numbers::e - 1) * q;
}

void margin_row(Grid<double>& scores, Index row) {
  softmax_row(scores, row);
  double sum = 0;
  for (Index c = 0; c < scores.cols(); ++c) sum += scores(row, c) *= margin_factor(scores(row, c));
  for (Index c = 0; c < scores.cols(); ++c) scores(row, c) /= sum;
}

void log_margin_row(Grid<double>& scores, Index row) {
  log_softmax_row(scores, row);
  double sum = 0;
  for (Index c = 0; c < scores.cols(); ++c) {
    const double q = std::exp(scores(row, c));
    sum += q * margin_factor(q);
    scores(row, c) += std::log(margin_factor(q));
  }
  for (Index c = 0; c < scores.cols(); ++c) scores(row, c) -= std::log(sum);
}

/// Log of the logistic function, without overflow.
double log_logistic(double score) {
  return score < 0 ? score - std::log1p(std::exp(score)) : -std::log1p(std::exp(-score));
}

void require_probabilities(Link link) {
  if (!gives_probabilities(link)) throw InputError("the model's scores have no link to probabilities");
}

constexpr double kMostTemperature = 1e4;

/// The t in [1 / kMostTemperature, kMostTemperature] with the least log_loss(1 / t), which is convex in 1 /
/// t.
template <class LogLoss>
double least_temperature(const LogLoss& log_loss) {
  const double golden = std::numbers::phi - 1;
  double low = -std::log(kMostTemperature), high = -low;
  const auto at = [&](double log_of_t) { return log_loss(std::exp(-log_of_t)); };
  double a = high - golden * (high - low), b = low + golden * (high - low), at_a = at(a), at_b = at(b);
  while (high - low > 1e-6) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      at_a = at(a = high - golden * (high - low));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      at_b = at(b = low + golden * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace

double fit_temperature(const Grid<double>& scores, std::span<const std::int32_t> truth,
                       std::span<const double> weights) {
  return least_temperature([&](double factor) {
    double sum = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (truth[row] < 0) continue;
      const double highest = highest_of(scores, i);
      double terms = 0;
      for (Index c = 0; c < scores.cols(); ++c) terms += std::exp(factor * (scores(i, c) - highest));
      const double loss = std::log(terms) + factor * (highest - scores(i, truth[row]));
      sum += (weights.empty() ? 1 : weights[row]) * loss;
    }
    return sum;
  });
}

double fit_temperature(const Grid<double>& scores, const Tasks& tasks, std::span<const double> weights) {
  return least_temperature([&](double factor) {
    double sum = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (Index c = 0; c < scores.cols(); ++c) {
        const double sign =
            tasks.sign[row * static_cast<std::size_t>(scores.cols()) + static_cast<std::size_t>(c)];
        if (sign != 0)
          sum -= (weights.empty() ? 1 : weights[row]) * log_logistic(sign * factor * scores(i, c));
      }
    }
    return sum;
  });
}

std::string_view name_of(Link link) {
  return kNames[static_cast<std::size_t>(link)];
}

bool gives_probabilities(Link link) {
  return link != Link::none && link != Link::identity;
}

void to_probabilities(Link link, Grid<double>& scores) {
  require_probabilities(link);
  if (is_twice(link)) double_scores(scores);
  if (is_of_tasks(link)) {
    for (Index c = 0; c < scores.cols(); ++c) {
      for (double& score : scores.column_span(c)) score = 1 / (1 + std::exp(-score));
    }
    return;
  }
  const auto convert = link == Link::margin_softmax ? margin_row : softmax_row;
  for (Index i = 0; i < scores.rows(); ++i) convert(scores, i);
}

void to_log_probabilities(Link link, Grid<double>& scores) {
  require_probabilities(link);
  if (is_twice(link)) double_scores(scores);
  if (is_of_tasks(link)) {
    for (Index c = 0; c < scores.cols(); ++c) {
      for (double& score : scores.column_span(c)) score = log_logistic(score);
    }
    return;
  }
  const auto convert = link == Link::margin_softmax ? log_margin_row : log_softmax_row;
  for (Index i = 0; i < scores.rows(); ++i) convert(scores, i);
}

}  // namespace sharelearn
