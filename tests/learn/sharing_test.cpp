#include "sharelearn/learn/sharing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learn/sharing_reference.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using sharing_reference::Config;
using sharing_reference::Reference;
using sharing_reference::Vector;

struct Stream {
  std::vector<Vector> x;
  std::vector<std::string> y;
};

/// Classes around centres; `kind` 0: signs, 1: binary sparse, 2: real numbers.
Stream make_stream(std::uint64_t seed, int kind, Index examples, Index dims, Index classes) {
  Random random(seed);
  Stream s;
  for (Index t = 0; t < examples; ++t) {
    // Later classes appear later.
    const Index known = std::min<Index>(classes, 2 + t * classes / examples * 2);
    const Index y = random.below(known);
    Vector x(static_cast<std::size_t>(dims));
    for (Index i = 0; i < dims; ++i) {
      const bool bit = ((y * 2654435761U) >> (i % 16) & 1) != 0;
      const bool noisy = random.uniform() < 0.25 ? !bit : bit;
      double v = kind == 0   ? (noisy ? 1 : -1)
                 : kind == 1 ? (noisy && random.uniform() < 0.5 ? 1 : 0)
                             : (noisy ? 1 : 0) + 0.3 * random.normal();
      x[static_cast<std::size_t>(i)] = static_cast<double>(static_cast<float>(v));
    }
    s.x.push_back(x);
    s.y.push_back(fmt::format("c{}", y));
  }
  return s;
}

/// Sparse rows, zeros left out.
struct Row {
  std::vector<std::uint32_t> feature;
  std::vector<float> value;
  explicit Row(const Vector& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      feature.push_back(static_cast<std::uint32_t>(i));
      value.push_back(static_cast<float>(x[i]));
    }
  }
  ExampleView view() const { return {feature, value}; }
};

/// A learner whose state is that of a model.
SharingLearner make_learner(const SharingOptions& options, ClassSets sets) {
  return SharingLearner(std::make_shared<SharingModel>(options, std::move(sets), FeatureNumbering()));
}

/// The model whose state the learner changes.
SharingModel& model_of(SharingLearner& learner) {
  return static_cast<SharingModel&>(learner.state());
}

std::string predicted_name(const SharingLearner& learner, const SharingTrial& trial) {
  return trial.predicted < 0 ? "" : learner.state().classes[static_cast<std::size_t>(trial.predicted)];
}

void expect_same_run(const Config& config, const SharingOptions& options, const ClassSets& sets,
                     const Stream& s) {
  Reference reference(config);
  SharingLearner learner = make_learner(options, sets);
  for (std::size_t t = 0; t < s.x.size(); ++t) {
    const std::string expected = reference.trial(s.x[t], s.y[t]);
    const Row row(s.x[t]);
    const SharingTrial trial = learner.learn(row.view(), s.y[t]);
    ASSERT_EQ(predicted_name(learner, trial), expected) << "trial " << t;
  }
  EXPECT_EQ(learner.state().mistakes, reference.mistakes);
  EXPECT_EQ(learner.state().first_occurrences, reference.first_occurrences);
}

struct Case {
  const char* hypotheses;
  const char* map;
  const char* kernel;
  int data;
};

Config config_of(const Case& c) {
  Config config;
  const std::string h = c.hypotheses;
  config.multi = h != "single";
  if (h != "multi") config.sets.push_back({});
  config.map = c.map;
  config.kernel = c.kernel;
  config.sigma = 1.5;
  return config;
}

SharingOptions options_of(const Case& c) {
  SharingOptions options;
  options.map.kind = map_from(c.map);
  options.kernel.kind = kernel_from(c.kernel);
  options.kernel.sigma = 1.5;
  return options;
}

class SharingRuns : public testing::TestWithParam<Case> {};

TEST_P(SharingRuns, predict_what_the_plain_algorithm_predicts_on_every_trial) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Stream s = make_stream(seed, GetParam().data, 400, 24, 30);
    expect_same_run(config_of(GetParam()), options_of(GetParam()),
                    ClassSets(hypotheses_from(GetParam().hypotheses)), s);
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, SharingRuns,
    testing::Values(Case{"multi", "product", "none", 0}, Case{"single", "product", "none", 2},
                    Case{"hybrid", "product", "none", 2}, Case{"multi", "product", "none", 1},
                    Case{"single", "frequency", "none", 1}, Case{"hybrid", "frequency", "none", 1},
                    Case{"single", "difference", "none", 2}, Case{"hybrid", "difference", "none", 2},
                    Case{"multi", "product", "gaussian", 2}, Case{"single", "product", "gaussian", 2},
                    Case{"hybrid", "product", "gaussian", 2}, Case{"multi", "product", "polynomial", 2},
                    Case{"hybrid", "product", "polynomial", 2}),
    [](const testing::TestParamInfo<Case>& of) {
      return std::string(of.param.hypotheses) + "_" + of.param.map + "_" + of.param.kernel + "_" +
             std::to_string(of.param.data);
    });

TEST(Sharing, follows_the_plain_algorithm_with_sets_from_a_file) {
  const std::string text =
      "# two overlapping groups, one class of its own, the rest on their own\n"
      "a: c0 c1 c2 c3\nb: c2 c3 c4\nown: c4\n";
  Config config;
  config.sets = {{{"c0", "c1", "c2", "c3"}}, {{"c2", "c3", "c4"}}, {{"c4"}, true}};
  config.rest_own = true;
  for (const char* kernel : {"none", "gaussian"}) {
    config.kernel = kernel;
    config.sigma = 1.5;
    SharingOptions options;
    options.kernel.kind = kernel_from(kernel);
    options.kernel.sigma = 1.5;
    expect_same_run(config, options, ClassSets::parse(text, "sets"), make_stream(5, 2, 500, 24, 12));
  }
}

SharingOptions adaptive_options(const char* map = "product") {
  SharingOptions options;
  options.map.kind = map_from(map);
  options.update = UpdateRule::adagrad;
  options.aggressiveness = 0.5;
  return options;
}

TEST(Sharing, adaptive_steps_follow_their_definition) {
  for (const Case& c : {Case{"multi", "product", "none", 1}, Case{"single", "product", "none", 2},
                        Case{"hybrid", "product", "none", 2}, Case{"hybrid", "frequency", "none", 1},
                        Case{"hybrid", "difference", "none", 2}}) {
    Config config = config_of(c);
    config.adagrad = 0.5;
    for (const std::uint64_t seed : {1, 2, 3}) {
      expect_same_run(config, adaptive_options(c.map), ClassSets(hypotheses_from(c.hypotheses)),
                      make_stream(seed, c.data, 400, 24, 30));
    }
  }
  Config sets;
  sets.sets = {{{"c0", "c1", "c2", "c3"}}, {{"c2", "c3", "c4"}}};
  sets.rest_own = true;
  sets.adagrad = 0.5;
  expect_same_run(sets, adaptive_options(), ClassSets::parse("a: c0 c1 c2 c3\nb: c2 c3 c4\n", "sets"),
                  make_stream(5, 2, 500, 24, 12));
}

TEST(Sharing, adaptive_steps_of_own_sets_do_not_depend_on_the_units_of_features) {
  const Stream s = make_stream(3, 2, 300, 12, 6);
  SharingLearner plain = make_learner(adaptive_options(), ClassSets(Hypotheses::multi));
  SharingLearner scaled = make_learner(adaptive_options(), ClassSets(Hypotheses::multi));
  for (std::size_t t = 0; t < s.x.size(); ++t) {
    Vector x = s.x[t];
    const Index expected = plain.learn(Row(x).view(), s.y[t]).predicted;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i) - 6);
    EXPECT_EQ(scaled.learn(Row(x).view(), s.y[t]).predicted, expected);
  }
}

TEST(Sharing, uses_the_first_example_where_the_prototype_says_so) {
  Config config;
  config.sets.push_back({});
  config.first = true;
  SharingOptions options;
  options.prototype = Prototype::first;
  expect_same_run(config, options, ClassSets(Hypotheses::single), make_stream(7, 0, 800, 24, 16));
}

TEST(Sharing, a_tie_goes_to_the_class_that_appeared_first) {
  SharingLearner learner = make_learner({}, ClassSets(Hypotheses::multi));
  const Row row({1, 1});
  EXPECT_EQ(learner.learn(row.view(), "late").predicted, -1);
  EXPECT_EQ(learner.learn(row.view(), "later").predicted, 0);
  // Both scores are 0: the first class wins, which is a mistake for the second.
  const SharingTrial trial = learner.learn(row.view(), "later");
  EXPECT_EQ(trial.predicted, 0);
  EXPECT_TRUE(trial.mistake);
  EXPECT_EQ(learner.predict(row.view()), 1);
}

TEST(Sharing, a_first_occurrence_is_not_a_mistake_and_changes_no_weight) {
  SharingLearner learner = make_learner({}, ClassSets(Hypotheses::hybrid));
  for (const char* name : {"a", "b", "c"}) {
    const SharingTrial trial = learner.learn(Row({1, 2, 3}).view(), name);
    EXPECT_TRUE(trial.first_occurrence);
    EXPECT_FALSE(trial.mistake);
  }
  EXPECT_EQ(learner.state().mistakes, 0);
  EXPECT_EQ(learner.state().updates, 0);
  EXPECT_EQ(learner.state().first_occurrences, 3);
}

TEST(Sharing, averaged_scores_are_the_mean_over_time_of_the_scores) {
  for (const char* kind : {"multi", "single", "hybrid"}) {
    for (const char* kernel : {"none", "gaussian"}) {
      SharingOptions options;
      options.average = true;
      options.prototype = Prototype::first;  // keeps phi constant
      options.kernel.kind = kernel_from(kernel);
      SharingLearner learner = make_learner(options, ClassSets(hypotheses_from(kind)));
      const Stream s = make_stream(11, 2, 60, 6, 3);
      const Row probe(s.x[0]);
      for (const char* name : {"c0", "c1", "c2"}) learner.learn(probe.view(), name);
      SharingScorer scorer;
      std::vector<double> mean(3, 0);
      const auto collect = [&] {
        const auto scores = scorer(learner.state(), probe.view());
        for (std::size_t r = 0; r < 3; ++r) mean[r] += scores[r];
      };
      for (int t = 0; t < 3; ++t) collect();
      for (std::size_t t = 0; t < s.x.size(); ++t) {
        learner.learn(Row(s.x[t]).view(), s.y[t]);
        collect();
      }
      const auto averaged = scorer(learner.state(), probe.view(), true);
      for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_NEAR(averaged[r], mean[r] / static_cast<double>(s.x.size() + 3), 1e-9) << kind << kernel;
      }
    }
  }
}

TEST(Sharing, a_passive_aggressive_step_makes_the_margin_exactly_one) {
  for (const char* kind : {"multi", "single", "hybrid"}) {
    for (const char* kernel : {"none", "gaussian", "polynomial"}) {
      SharingOptions options;
      options.update = UpdateRule::passive_aggressive;
      options.aggressiveness = 1e9;
      options.kernel.kind = kernel_from(kernel);
      options.prototype = Prototype::first;
      SharingLearner learner = make_learner(options, ClassSets(hypotheses_from(kind)));
      const Stream s = make_stream(13, 2, 200, 8, 4);
      SharingScorer scorer;
      for (std::size_t t = 0; t < s.x.size(); ++t) {
        const Row row(s.x[t]);
        const Index before = learner.state().updates;
        const SharingTrial trial = learner.learn(row.view(), s.y[t]);
        if (learner.state().updates == before) continue;
        const auto scores = scorer(learner.state(), row.view());
        double rival = -1e300;
        for (Index r = 0; r < static_cast<Index>(scores.size()); ++r) {
          if (r != trial.actual) rival = std::max(rival, scores[static_cast<std::size_t>(r)]);
        }
        // The beaten rival is now behind by a margin of 1. Another rival may have come closer (groups of
        // three or more).
        EXPECT_LE(scores[static_cast<std::size_t>(trial.actual)] - rival, 1 + 1e-6) << kind << kernel;
      }
      EXPECT_GT(learner.state().updates, learner.state().mistakes);
    }
  }
}

TEST(Sharing, a_budget_keeps_the_newest_mistakes) {
  SharingOptions options;
  options.kernel.kind = KernelKind::gaussian;
  options.budget = 10;
  SharingLearner learner = make_learner(options, ClassSets(Hypotheses::hybrid));
  const Stream s = make_stream(17, 2, 500, 12, 8);
  std::vector<double> births;
  for (std::size_t t = 0; t < s.x.size(); ++t) {
    if (learner.learn(Row(s.x[t]).view(), s.y[t]).mistake) births.push_back(static_cast<double>(t));
  }
  ASSERT_GT(births.size(), 20U);
  std::vector<double> kept;
  for (const auto& support : learner.state().supports) kept.push_back(support.born);
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, std::vector<double>(births.end() - 10, births.end()));
}

TEST(Sharing, a_class_that_comes_late_is_predicted_from_its_second_example_on) {
  for (const char* kind : {"multi", "single", "hybrid"}) {
    SharingLearner learner = make_learner({}, ClassSets(hypotheses_from(kind)));
    Random random(3);
    Vector x(40);
    for (int t = 0; t < 10000; ++t) {
      const auto y = static_cast<std::size_t>(random.below(4));
      std::fill(x.begin(), x.end(), 0);
      for (std::size_t i = 0; i < 5; ++i) x[y * 5 + i] = 1;
      learner.learn(Row(x).view(), std::to_string(y));
    }
    std::fill(x.begin(), x.end(), 0);
    for (std::size_t i = 0; i < 5; ++i) x[30 + i] = 1;
    EXPECT_TRUE(learner.learn(Row(x).view(), "new").first_occurrence);
    learner.learn(Row(x).view(), "new");
    EXPECT_EQ(learner.predict(Row(x).view()), 4) << kind;
  }
}

TEST(Sharing, ten_thousand_classes_work) {
  SharingLearner learner = make_learner({}, ClassSets(Hypotheses::hybrid));
  Index late_mistakes = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (std::uint32_t c = 0; c < 10000; ++c) {
      const std::vector<std::uint32_t> feature{c, 10000 + c / 7, 20000 + c % 11};
      const std::vector<float> value{2, 1, 1};
      const SharingTrial trial = learner.learn({feature, value}, std::to_string(c));
      if (pass == 2) late_mistakes += trial.mistake;
    }
  }
  EXPECT_EQ(learner.state().first_occurrences, 10000);
  EXPECT_LT(late_mistakes, 2500);
  EXPECT_LT(learner.state().weights.own.bytes() + learner.state().sums.bytes(), 40 << 20);
}

void expect_resumes(const SharingOptions& options, const Case& c) {
  SharingLearner whole = make_learner(options, ClassSets(hypotheses_from(c.hypotheses)));
  SharingLearner resumed = make_learner(options, ClassSets(hypotheses_from(c.hypotheses)));
  const Stream s = make_stream(23, c.data, 600, 24, 40);
  for (std::size_t t = 0; t < s.x.size(); ++t) {
    if (t % 97 == 50) {
      const ModelPtr copy = SharingModel::read(model_of(resumed).payload(), "memory");
      resumed = SharingLearner(std::dynamic_pointer_cast<SharingModel>(copy));
    }
    const Row row(s.x[t]);
    ASSERT_EQ(whole.learn(row.view(), s.y[t]).predicted, resumed.learn(row.view(), s.y[t]).predicted);
  }
  EXPECT_EQ(model_of(whole).payload(), model_of(resumed).payload());
}

TEST(Sharing, a_model_read_back_goes_on_exactly_as_the_one_that_was_never_saved) {
  for (const Case& c : {Case{"multi", "product", "none", 1}, Case{"hybrid", "frequency", "none", 1},
                        Case{"hybrid", "difference", "none", 2}, Case{"hybrid", "product", "gaussian", 2}}) {
    SharingOptions options = options_of(c);
    options.average = true;
    options.budget = 25;
    expect_resumes(options, c);
    if (std::string_view(c.kernel) == "none") expect_resumes(adaptive_options(c.map), c);
  }
}

TEST(Sharing, a_model_without_classes_goes_on_but_does_not_predict) {
  const SharingModel empty(SharingOptions{}, ClassSets(Hypotheses::hybrid), FeatureNumbering());
  const ModelPtr read = SharingModel::read(empty.payload(), "memory");
  Dataset data;
  data.x = DenseMatrix(2, 3);
  ThreadPool threads(1);
  EXPECT_THROW(read->scores(data, threads), InputError);
  SharingLearner learner(std::dynamic_pointer_cast<SharingModel>(read));
  learner.learn(Row({1, 0, 1}).view(), "a");
  EXPECT_EQ(read->scores(data, threads).cols(), 1);
}

TEST(Sharing, scores_that_outgrow_the_numbers_are_refused) {
  SharingOptions options = options_of({"multi", "product", "polynomial", 2});
  options.kernel.degree = 400;
  SharingLearner learner = make_learner(options, ClassSets(Hypotheses::multi));
  for (const char* label : {"a", "b", "b"}) learner.learn(Row({30, 0}).view(), label);
  EXPECT_THROW(learner.learn(Row({30, 1}).view(), "a"), InputError);
  EXPECT_THROW(learner.predict(Row({30, 1}).view()), InputError);
  Dataset data;
  data.x = DenseMatrix(1, 2);
  data.x.owned_dense()(0, 0) = 30;
  ThreadPool threads(1);
  EXPECT_THROW(model_of(learner).scores(data, threads), InputError);
}

TEST(Sharing, a_model_of_dense_rows_knows_their_columns) {
  SharingLearner learner = make_learner(SharingOptions{}, ClassSets(Hypotheses::multi));
  learner.learn(Row({1, 0, 1}).view(), "a");
  const std::string sparse = model_of(learner).payload();
  model_of(learner).preprocessing.columns = 3;
  EXPECT_EQ(model_of(learner).payload().size(),
            sparse.size() + sizeof(Index));  // older files end before this field
  const ModelPtr model = SharingModel::read(model_of(learner).payload(), "memory");
  EXPECT_EQ(model->columns(), 3);
  EXPECT_EQ(SharingModel::read(sparse, "memory")->columns(), 0);
  ThreadPool threads(1);
  Dataset data;
  data.x = DenseMatrix(1, 2);
  EXPECT_THROW(model->scores(data, threads), InputError);
  data.x = SparseMatrix{.rows = 1, .cols = 2, .start = {0, 0, 0}, .row = {}, .value = {}};
  EXPECT_NO_THROW(model->scores(data, threads));
}

TEST(Sharing, a_model_keeps_the_names_of_its_columns) {
  SharingLearner learner = make_learner(SharingOptions{}, ClassSets(Hypotheses::multi));
  SharingModel& model = model_of(learner);
  learner.learn(Row({1, 0, 1}).view(), "a");
  model.preprocessing.columns = 3;
  const std::string unnamed = model.payload();  // the format of older versions
  EXPECT_TRUE(SharingModel::read(unnamed, "memory")->column_names().empty());
  model.preprocessing.names = {"x", "y", "z"};
  const ModelPtr copy = SharingModel::read(model.payload(), "memory");
  EXPECT_EQ(copy->column_names(), model.preprocessing.names);
  EXPECT_EQ(copy->columns(), 3);
  model.preprocessing.columns = 0;  // sparse rows followed the table
  EXPECT_EQ(SharingModel::read(model.payload(), "memory")->column_names(), model.preprocessing.names);
  model.preprocessing.columns = 2;
  EXPECT_THROW(SharingModel::read(model.payload(), "memory"), InputError);
}

TEST(Sharing, a_damaged_model_is_refused_whatever_byte_is_wrong) {
  for (const SharingOptions& options :
       {options_of({"hybrid", "product", "gaussian", 2}), adaptive_options()}) {
    SharingLearner learner = make_learner(options, ClassSets(Hypotheses::hybrid));
    const Stream s = make_stream(29, 2, 60, 5, 4);
    for (std::size_t t = 0; t < s.x.size(); ++t) learner.learn(Row(s.x[t]).view(), s.y[t]);
    const std::string good = model_of(learner).payload();
    Random random(1);
    for (int trial = 0; trial < 2000; ++trial) {
      std::string bad = good;
      bad[static_cast<std::size_t>(random.below(static_cast<Index>(bad.size())))] =
          static_cast<char>(random.below(256));
      if (random.coin()) bad.resize(static_cast<std::size_t>(random.below(static_cast<Index>(bad.size()))));
      try {
        const auto model = std::dynamic_pointer_cast<SharingModel>(SharingModel::read(bad, "bad"));
        SharingLearner(model).learn(Row(s.x[0]).view(), "c0");  // any model that was read must be safe to use
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
