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
  EXPECT_EQ(competitor.common.size(), 2);
  EXPECT_DOUBLE_EQ(competitor.squared_norm(), 9 + 16 + 4);
}

}  // namespace
}  // namespace sharelearn
