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

}  // namespace

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
