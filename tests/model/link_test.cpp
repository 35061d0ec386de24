#include "sharelearn/model/link.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

constexpr Link kAll[] = {Link::softmax, Link::softmax_of_twice, Link::margin_softmax, Link::logistic,
                         Link::logistic_of_twice};

Grid<double> row_of(std::initializer_list<double> scores) {
  Grid<double> grid(1, static_cast<Index>(scores.size()));
  Index c = 0;
  for (const double s : scores) grid(0, c++) = s;
  return grid;
}

TEST(Link, log_odds_come_back_from_probabilities) {
  for (const bool twice : {false, true}) {
    Grid<double> classes = row_of({0.3, -1.2, 2}), tasks = classes;
    to_probabilities(twice ? Link::softmax_of_twice : Link::softmax, classes);
    to_probabilities(twice ? Link::logistic_of_twice : Link::logistic, tasks);
    const double factor = twice ? 2 : 1;
    EXPECT_NEAR(std::log(classes(0, 2) / classes(0, 1)), factor * 3.2, 1e-12);
    EXPECT_NEAR(classes(0, 0) + classes(0, 1) + classes(0, 2), 1, 1e-15);
    EXPECT_NEAR(std::log(tasks(0, 1) / (1 - tasks(0, 1))), factor * -1.2, 1e-12);
  }
}

/// Expected loss of [ShareBoost11], ln sum_c exp(1[c != y] - s_y + s_c), for classes drawn by p.
double expected_loss(const Grid<double>& s, const Grid<double>& p) {
  double total = 0;
  for (Index y = 0; y < s.cols(); ++y) {
    double sum = 0;
    for (Index c = 0; c < s.cols(); ++c) sum += std::exp((c != y ? 1 : 0) - s(0, y) + s(0, c));
    total += p(0, y) * std::log(sum);
  }
  return total;
}

TEST(Link, scores_minimise_the_expected_margin_loss_of_their_probabilities) {
  Random random(1);
  for (int trial = 0; trial < 20; ++trial) {
    Grid<double> s = row_of({2 * random.normal(), 2 * random.normal(), random.normal(), random.normal()});
    Grid<double> p = s;
    to_probabilities(Link::margin_softmax, p);
    for (Index c = 0; c < s.cols(); ++c) {
      const double step = 1e-5, at = s(0, c);
      s(0, c) = at + step;
      const double above = expected_loss(s, p);
      s(0, c) = at - step;
      const double below = expected_loss(s, p);
      s(0, c) = at;
      EXPECT_NEAR((above - below) / (2 * step), 0, 1e-9);
    }
  }
}

TEST(Link, logarithms_are_those_of_the_probabilities_and_stay_finite) {
  for (const Link link : kAll) {
    Grid<double> p = row_of({0.5, -3, 1.25}), log_p = p, extreme = row_of({-2000, 0, 2000});
    to_probabilities(link, p);
    to_log_probabilities(link, log_p);
    to_log_probabilities(link, extreme);
    for (Index c = 0; c < 3; ++c) {
      EXPECT_NEAR(log_p(0, c), std::log(p(0, c)), 1e-12) << name_of(link);
      EXPECT_TRUE(std::isfinite(extreme(0, c))) << name_of(link);
    }
  }
}

TEST(Link, scores_without_probabilities_give_none) {
  for (const Link link : {Link::none, Link::identity}) {
    Grid<double> scores = row_of({1, 2});
    EXPECT_FALSE(gives_probabilities(link));
    EXPECT_THROW(to_probabilities(link, scores), InputError);
    EXPECT_THROW(to_log_probabilities(link, scores), InputError);
  }
}

/// Labels drawn from the softmax (classes) or the logistic function (tasks) of normal scores.
TEST(Link, a_temperature_is_found_from_labels_drawn_with_it) {
  constexpr Index kDrawn = 20000, kOutputs = 3;
  for (const double temperature : {0.3, 4.0}) {
    Random random(5);
    Grid<double> scores(kDrawn, kOutputs);
    std::vector<std::int32_t> truth;
    Tasks tasks;
    for (Index i = 0; i < kDrawn; ++i) {
      Grid<double> p(1, kOutputs);
      for (Index c = 0; c < kOutputs; ++c)
        p(0, c) = (scores(i, c) = 2 * random.normal() * temperature) / temperature;
      for (Index c = 0; c < kOutputs; ++c)
        tasks.sign.push_back(random.uniform() < 1 / (1 + std::exp(-p(0, c))) ? 1 : -1);
      to_probabilities(Link::softmax, p);
      const double u = random.uniform();
      truth.push_back(u < p(0, 0) ? 0 : u < p(0, 0) + p(0, 1) ? 1 : 2);
    }
    EXPECT_NEAR(fit_temperature(Link::softmax, scores, truth) / temperature, 1,
                0.05);  // some 4 standard errors
    EXPECT_NEAR(fit_temperature(Link::logistic, scores, tasks) / temperature, 1, 0.05);
    truth.assign(truth.size(), -1);
    truth[0] = 0;
    EXPECT_TRUE(std::isfinite(fit_temperature(Link::softmax, scores, truth)));
  }
}

}  // namespace
}  // namespace sharelearn
