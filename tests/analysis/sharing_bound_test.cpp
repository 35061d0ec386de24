#include "sharelearn/analysis/sharing_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/learn/sharing.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// The first synthetic set of the paper: the class is the binary number (x1 x2 x3 x4), the other columns are
/// noise.
struct First {
  Random random{4};
  std::vector<std::uint32_t> feature;
  std::vector<float> value;
  std::string label;
  First() {
    for (std::uint32_t i = 0; i < 64; ++i) feature.push_back(i);
    value.resize(64);
  }
  ExampleView next() {
    int number = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const bool one = random.coin();
      value[i] = one ? 1.0F : -1.0F;
      if (i < 4) number = number * 2 + (one ? 1 : 0);
    }
    label = std::to_string(number);
    return {feature, value};
  }
};

Competitor competitor_for(Hypotheses kind) {
  if (kind != Hypotheses::multi) return parse_competitor("* 1:0.5 2:0.5 3:0.5 4:0.5\n", "u");
  std::string text;
  for (int c = 0; c < 16; ++c) {
    text += std::to_string(c);
    for (int bit = 0; bit < 4; ++bit)
      text += std::string(" ") + std::to_string(bit + 1) + ((c >> (3 - bit) & 1) != 0 ? ":0.5" : ":-0.5");
    text += '\n';
  }
  return parse_competitor(text, "u");
}

TEST(SharingBound, has_the_papers_values_on_the_first_synthetic_set_and_holds) {
  struct Expected {
    Hypotheses kind;
    double bound;
  };
  for (const Expected& e : {Expected{Hypotheses::single, 256}, Expected{Hypotheses::multi, 4096},
                            Expected{Hypotheses::hybrid, 512}}) {
    SharingOptions options;
    options.prototype = Prototype::first;
    SharingLearner learner(std::make_shared<SharingState>(options, ClassSets(e.kind), FeatureNumbering()));
    BoundMeter meter(competitor_for(e.kind));
    First data;
    for (int t = 0; t < 3000; ++t) {
      const ExampleView x = data.next();
      meter.observe(learner.state(), x, learner.state().find_class(data.label));
      learner.learn(x, data.label);
    }
    const MistakeBound bound = meter.result(learner.state());
    EXPECT_DOUBLE_EQ(bound.loss, 0);
    EXPECT_DOUBLE_EQ(bound.radius, 16);
    EXPECT_DOUBLE_EQ(bound.bound, e.bound);
    EXPECT_LE(static_cast<double>(learner.state().mistakes), bound.bound);
  }
}

TEST(SharingBound, a_competitor_with_loss_pays_for_it) {
  SharingLearner learner(
      std::make_shared<SharingState>(SharingOptions{}, ClassSets(Hypotheses::multi), FeatureNumbering()));
  BoundMeter meter(parse_competitor("a 1:0.25\n", "u"));
  const std::vector<std::uint32_t> feature{0};
  const std::vector<float> value{2};
  for (const char* label : {"a", "b", "a", "b"}) {
    meter.observe(learner.state(), {feature, value}, learner.state().find_class(label));
    learner.learn({feature, value}, label);
  }
  // First occurrences cost nothing. Then a scores 0.5 and b 0: losses 0.5 and 1.5.
  const MistakeBound bound = meter.result(learner.state());
  EXPECT_DOUBLE_EQ(bound.loss, 2);
  EXPECT_DOUBLE_EQ(bound.complexity, 16 * 0.0625);
  EXPECT_DOUBLE_EQ(bound.bound, 2 + 1 + std::sqrt(2));
}

TEST(SharingBound, a_bad_competitor_is_refused_with_its_line) {
  EXPECT_THROW(parse_competitor("a 1:x\n", "u"), InputError);
}

TEST(SharingBound, the_index_of_a_competitors_weight_costs_no_memory) {
  const Competitor competitor = parse_competitor("* 1:4 2147483647:3\na 2000000000:2\n", "u");
  EXPECT_EQ(competitor.common[0].at.size(), 2);
  EXPECT_DOUBLE_EQ(competitor.squared_norm(Kernel()), 9 + 16 + 4);
}

TEST(SharingBound, lines_of_one_set_add_up_with_their_factors) {
  const Competitor competitor = parse_competitor("[-0.5] a 1:2\na 2:3\n[x] 1:1\n", "u");
  EXPECT_EQ(competitor.own.at("a").size(), 2);
  EXPECT_EQ(competitor.own.at("[x]").size(), 1);  // a class may be named so
  EXPECT_DOUBLE_EQ(competitor.squared_norm(Kernel()), 1 + 9 + 1);
  const double near = std::exp(-(4.0 + 9) / 2);  // of the points (2, 0) and (0, 3)
  EXPECT_NEAR(competitor.squared_norm({KernelKind::gaussian}), 0.25 + 1 - near + 1, 1e-15);
}

/// Runs a stream of the first synthetic set and returns its bound; the bound must hold.
MistakeBound bound_of(const SharingOptions& options, Hypotheses kind, const Competitor& competitor) {
  SharingLearner learner(std::make_shared<SharingState>(options, ClassSets(kind), FeatureNumbering()));
  BoundMeter meter(competitor);
  First data;
  for (int t = 0; t < 300; ++t) {
    const ExampleView x = data.next();
    meter.observe(learner.state(), x, learner.state().find_class(data.label));
    learner.learn(x, data.label);
  }
  const MistakeBound bound = meter.result(learner.state());
  EXPECT_LE(static_cast<double>(learner.state().mistakes), bound.bound);
  return bound;
}

TEST(SharingBound, a_linear_kernel_has_the_bound_of_no_kernel) {
  SharingOptions plain, kernel;
  kernel.kernel = {KernelKind::polynomial, 1, 1, 0};  // <a, b>
  const Competitor competitor = competitor_for(Hypotheses::multi);
  const MistakeBound a = bound_of(plain, Hypotheses::multi, competitor);
  const MistakeBound b = bound_of(kernel, Hypotheses::multi, competitor);
  EXPECT_DOUBLE_EQ(a.bound, b.bound);
  EXPECT_DOUBLE_EQ(a.radius, b.radius);
}

// The sums of Theorem 1 for one trial, by hand: two classes, one column, sets of all and own ones.
TEST(SharingBound, scores_a_kernels_shared_sets_on_the_difference_from_the_mean) {
  SharingOptions options;
  options.kernel = {KernelKind::gaussian, 2};
  SharingLearner learner(
      std::make_shared<SharingState>(options, ClassSets(Hypotheses::hybrid), FeatureNumbering()));
  BoundMeter meter(parse_competitor("[2] * 1:1\n[3] a 1:4\n", "u"));
  const std::vector<std::uint32_t> feature{0};
  for (const auto& [label, value] :
       std::vector<std::pair<const char*, float>>{{"a", 2}, {"b", 5}, {"a", 3}}) {
    const std::vector<float> x{value};
    meter.observe(learner.state(), {feature, x}, learner.state().find_class(label));
    learner.learn({feature, x}, label);
  }
  const auto k = [](double a, double b) { return std::exp(-(a - b) * (a - b) / 4); };
  const double a = 3 * k(4, 3) + 2 * k(1, 3 - 2), b = 2 * k(1, 3 - 5);
  const MistakeBound bound = meter.result(learner.state());
  EXPECT_NEAR(bound.loss, std::max(0.0, 1 - a + b), 1e-12);
  EXPECT_DOUBLE_EQ(bound.radius, 2);
  EXPECT_EQ(bound.sets, 2);
  EXPECT_DOUBLE_EQ(bound.complexity, 2 * 4 * (4 + 9));
}

TEST(SharingBound, holds_with_gaussian_and_polynomial_kernels) {
  for (const Kernel& kernel : {Kernel{KernelKind::gaussian, 20}, Kernel{KernelKind::polynomial, 1, 2, 1}}) {
    for (const Hypotheses kind : {Hypotheses::multi, Hypotheses::single, Hypotheses::hybrid}) {
      SharingOptions options;
      options.kernel = kernel;
      bound_of(options, kind, competitor_for(kind));
    }
  }
}

}  // namespace
}  // namespace sharelearn
