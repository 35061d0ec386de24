#include "sharelearn/fit/sharing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learn/sharing_reference.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

using sharing_reference::Config;
using sharing_reference::Reference;
using sharing_reference::Vector;

constexpr Index kExamples = 300, kColumns = 12, kClasses = 9;

struct Stream {
  std::vector<Vector> x;
  std::vector<std::string> y;
};

/// Later classes appear later. Values are small multiples of 1/4, which text represents exactly.
Stream make_stream(std::uint64_t seed) {
  Random random(seed);
  Stream stream;
  for (Index t = 0; t < kExamples; ++t) {
    const Index y = random.below(std::min(kClasses, 2 + t * kClasses / kExamples * 2));
    Vector x;
    for (Index i = 0; i < kColumns; ++i) {
      const bool bit = ((y * 7 + 3) >> (i % 6) & 1) != 0;
      x.push_back((random.uniform() < 0.25 ? !bit : bit) ? 0.25 * static_cast<double>(1 + random.below(8))
                                                         : 0);
    }
    stream.x.push_back(x);
    stream.y.push_back(fmt::format("c{}", y));
  }
  return stream;
}

SparseRow sparse_row(const Vector& x) {
  SparseRow row;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    row.index.push_back(static_cast<Index>(i));
    row.value.push_back(static_cast<float>(x[i]));
  }
  return row;
}

std::string line_of(const Vector& x, const std::string& label) {
  std::string line = label;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != 0) line += fmt::format(" {}:{}", i + 1, x[i]);
  }
  return line;
}

Dataset rows_of(const Stream& stream, std::size_t first, std::size_t end) {
  DenseMatrix x(static_cast<Index>(end - first), kColumns);
  Dataset data;
  for (std::size_t t = first; t < end; ++t) {
    const auto row = static_cast<Index>(t - first);
    for (Index i = 0; i < kColumns; ++i)
      x(row, i) = static_cast<float>(stream.x[t][static_cast<std::size_t>(i)]);
    const auto known = std::find(data.label.names.begin(), data.label.names.end(), stream.y[t]);
    data.label.id.push_back(static_cast<std::int32_t>(known - data.label.names.begin()));
    if (known == data.label.names.end()) data.label.names.push_back(stream.y[t]);
  }
  data.x = std::move(x);
  data.source = "rows";
  return data;
}

std::string saved(const SharingModel& model, const std::string& name) {
  const std::string path = testing::TempDir() + "fit_sharing_" + name;
  save_model(model, path);
  return path;
}

std::vector<char> bytes_of(const SharingModel& model) {
  return read_bytes(saved(model, "bytes"), Index{1} << 30);
}

std::string name_of(const OnlineSharing& online, const SharingTrial& trial) {
  return trial.predicted < 0 ? "" : online.model().classes[static_cast<std::size_t>(trial.predicted)];
}

struct Case {
  SharingFit options;
  Config config;
};

std::vector<Case> cases() {
  Config hybrid{.multi = true, .sets = {{}}};
  Config gaussian = hybrid;
  gaussian.kernel = "gaussian";
  gaussian.sigma = 1.5;
  Config sets{.sets = {{{"c0", "c1", "c2"}}, {{"c2", "c3"}}}, .rest_own = true, .map = "difference"};
  Config adaptive = hybrid;
  adaptive.adagrad = 0.5;
  const std::string lines = "a: c0 c1 c2\nb: c2 c3\n";
  return {
      {{.hypotheses = "multi", .update = "perceptron"}, {.multi = true, .sets = {}}},
      {{.update = "perceptron"}, hybrid},
      {{.bias = false}, adaptive},
      {{.hypotheses = "single", .prototype = "first", .update = "perceptron"}, {.sets = {{}}, .first = true}},
      {{.kernel = "gaussian", .sigma = 1.5}, gaussian},
      {{.hypotheses = lines, .map = "difference", .update = "perceptron"}, sets}};
}

TEST(OnlineSharing, predicts_what_the_plain_algorithm_predicts_through_every_interface) {
  const Stream stream = make_stream(1);
  ThreadPool threads(1);
  for (const Case& c : cases()) {
    Reference reference(c.config);
    std::vector<std::string> expected, by_row;
    OnlineSharing examples = OnlineSharing::begin(c.options), lines = OnlineSharing::begin(c.options),
                  rows = OnlineSharing::begin(c.options);
    for (std::size_t t = 0; t < stream.x.size(); ++t) {
      expected.push_back(reference.trial(stream.x[t], stream.y[t]));
      const SparseRow x = sparse_row(stream.x[t]);
      const Index foretold = examples.predict(x);
      const SharingTrial trial = examples.learn(x, stream.y[t]);
      ASSERT_EQ(foretold, trial.predicted);
      ASSERT_EQ(name_of(examples, trial), expected.back()) << "trial " << t;
      ASSERT_EQ(name_of(lines, lines.learn(line_of(stream.x[t], stream.y[t])).trial), expected.back());
    }
    rows.learn(rows_of(stream, 0, stream.x.size()), threads, {.after_row = [&](const SharingTrial& trial) {
                 by_row.push_back(name_of(rows, trial));
                 return true;
               }});
    EXPECT_EQ(by_row, expected);
    for (OnlineSharing* online : {&examples, &lines, &rows}) {
      const FitReport report = online->finish(nullptr, threads).report;
      EXPECT_EQ(report.extra["mistakes"], reference.mistakes);
      EXPECT_EQ(report.extra["first_occurrences"], reference.first_occurrences);
      EXPECT_EQ(report.extra["examples"], kExamples);
      EXPECT_EQ(online->position(), kExamples);
    }
    EXPECT_GT(reference.mistakes, 10);
  }
}

TEST(OnlineSharing, resumed_from_a_saved_checkpoint_gives_the_bytes_of_a_run_that_never_stopped) {
  const Stream stream = make_stream(2);
  for (const Case& c : cases()) {
    OnlineSharing whole = OnlineSharing::begin(c.options);
    OnlineSharing parts = OnlineSharing::begin(c.options);
    for (std::size_t t = 0; t < stream.x.size(); ++t) {
      if (t % 97 == 50) {
        parts = OnlineSharing::resume(load_model(saved(parts.checkpoint(), "checkpoint")), c.options);
        EXPECT_EQ(parts.position(), static_cast<Index>(t));
      }
      whole.learn(line_of(stream.x[t], stream.y[t]));
      parts.learn(line_of(stream.x[t], stream.y[t]));
    }
    EXPECT_EQ(bytes_of(parts.checkpoint()), bytes_of(whole.checkpoint()));
  }
}

TEST(OnlineSharing, rows_in_two_parts_are_scaled_and_learned_as_examples_scaled_by_hand) {
  const Stream stream = make_stream(3);
  const std::size_t half = stream.x.size() / 2;
  ThreadPool threads(2);
  const SharingFit options{.update = "perceptron", .scale = "minmax"};
  OnlineSharing first = OnlineSharing::begin(options);
  first.learn(rows_of(stream, 0, half), threads);
  OnlineSharing second = OnlineSharing::resume(load_model(saved(first.checkpoint(), "scaled")), options);
  second.learn(rows_of(stream, half, stream.x.size()), threads);

  Reference reference({.multi = true, .sets = {{}}});
  Vector low(kColumns, 1e9), high(kColumns, -1e9);
  for (std::size_t t = 0; t < half; ++t) {
    for (std::size_t i = 0; i < low.size(); ++i) {
      low[i] = std::min(low[i], stream.x[t][i]);
      high[i] = std::max(high[i], stream.x[t][i]);
    }
  }
  for (std::size_t t = 0; t < stream.x.size(); ++t) {
    Vector x = stream.x[t];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * (x[i] - low[i]) / (high[i] - low[i]) - 1;
    reference.trial(x, stream.y[t]);
  }
  EXPECT_EQ(second.model().mistakes, reference.mistakes);
  EXPECT_EQ(second.model().first_occurrences, reference.first_occurrences);
  EXPECT_THROW(second.learn("c1 1:1"), OptionError);
}

TEST(OnlineSharing, data_given_to_learn_stays_as_it_is_and_missing_values_become_the_mean) {
  const Stream stream = make_stream(4);
  Dataset rows = rows_of(stream, 0, 40);
  rows.x.owned_dense()(3, 2) = NAN;
  const std::vector<float> before(rows.x.dense().column(2), rows.x.dense().column(2) + 40);
  ThreadPool threads(1);
  OnlineSharing online = OnlineSharing::begin({.scale = "standard", .missing = "mean"});
  online.learn(rows, threads);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float now = rows.x.dense()(static_cast<Index>(i), 2);
    EXPECT_TRUE(now == before[i] || (std::isnan(now) && std::isnan(before[i])));
  }
  double sum = 0;
  for (const float value : before) sum += std::isnan(value) ? 0 : static_cast<double>(value);
  EXPECT_NEAR(static_cast<double>(online.model().preprocessing.means[2]), sum / 39, 1e-6);
  EXPECT_EQ(online.predict(rows, threads).classes.size(), 40U);
  EXPECT_THROW(OnlineSharing::begin({}).learn(rows, threads), InputError);
}

TEST(OnlineSharing, resuming_names_the_options_that_differ) {
  OnlineSharing online = OnlineSharing::begin({.kernel = "gaussian", .unit = true});
  online.learn("a 1:1");
  const ModelPtr model = load_model(saved(online.checkpoint(), "options"));
  EXPECT_NO_THROW(OnlineSharing::resume(model, {.kernel = "gaussian", .sigma = 1, .unit = true}));
  EXPECT_NO_THROW(OnlineSharing::resume(model, {}));  // the model's own
  // Earlier versions wrote options that do not apply, and whole numbers as others.
  model->metadata["options"]["degree"] = 2.0;
  model->metadata["options"]["hash"] = 0.0;
  EXPECT_NO_THROW(OnlineSharing::resume(model, {}));
  try {
    OnlineSharing::resume(model, {.hypotheses = "multi", .kernel = "gaussian", .sigma = 2, .unit = false});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("(`hypotheses`, `sigma`, `unit`)"), std::string::npos)
        << error.what();
  }
}

TEST(OnlineSharing, refuses_options_that_do_not_apply_or_make_no_sense) {
  for (const SharingFit& options :
       {SharingFit{.sigma = 2}, SharingFit{.own = true}, SharingFit{.high = 0.5}, SharingFit{.budget = 3},
        SharingFit{.hypotheses = "hybird"}, SharingFit{.map = "frequency", .high = 0.1, .low = 0.2}}) {
    EXPECT_THROW(OnlineSharing::begin(options), OptionError);
  }
  try {
    OnlineSharing::begin({.hypotheses = "a: x y\nb x z\n"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("`hypotheses`, line 2"), std::string::npos) << error.what();
  }
}

TEST(OnlineSharing, a_line_that_is_not_an_example_changes_nothing_but_the_position) {
  OnlineSharing online = OnlineSharing::begin({.names = true});
  online.learn("cat fur whiskers");
  const std::size_t words = online.model().features.names().size();
  EXPECT_TRUE(online.learn("dog bark:x").problem);
  EXPECT_TRUE(online.learn(" bark").problem);
  EXPECT_EQ(online.learn(" bark", Unlabelled::predict).trial.predicted, 0);
  EXPECT_TRUE(online.learn("# nothing").blank);
  EXPECT_EQ(online.model().features.names().size(), words);
  EXPECT_EQ(online.model().examples, 1);
  EXPECT_EQ(online.bad_lines(), 2);
  EXPECT_EQ(online.position(), 5);
}

TEST(OnlineSharing, reports_the_bound_against_a_competitor_and_the_error_on_a_test_set) {
  const Stream stream = make_stream(5);
  ThreadPool threads(1);
  OnlineSharing online = OnlineSharing::begin({.hypotheses = "multi", .update = "perceptron"});
  online.compare_with(parse_competitor("c0 1:1\nnobody 1:0.5\n", "u"));
  const Dataset rows = rows_of(stream, 0, stream.x.size());
  online.learn(rows, threads);
  const Fitted fitted = online.finish(&rows, threads);
  const nlohmann::json& bound = fitted.report.extra["bound"];
  EXPECT_GE(bound["mistakes_at_most"].get<double>(), static_cast<double>(online.model().mistakes));
  double longest = 0;  // |phi|^2 of a class's own set is |x|^2
  for (const Vector& x : stream.x) {
    double length = 0;
    for (const double v : x) length += v * v;
    longest = std::max(longest, length);
  }
  EXPECT_NEAR(bound["complexity"].get<double>(), 4 * longest * 1.25, 1e-9 * longest);
  ASSERT_EQ(fitted.report.warnings.size(), 1U);
  EXPECT_NE(fitted.report.warnings[0].find("'nobody'"), std::string::npos);
  const std::vector<std::int32_t> predicted = online.predict(rows, threads).classes;
  Index wrong = 0;
  for (std::size_t t = 0; t < predicted.size(); ++t)
    wrong += online.model().classes[static_cast<std::size_t>(predicted[t])] != stream.y[t] ? 1 : 0;
  EXPECT_DOUBLE_EQ(*fitted.report.end.test_error, static_cast<double>(wrong) / kExamples);
  EXPECT_THROW(OnlineSharing::begin({.update = "perceptron", .bias = true}).compare_with({}), OptionError);
  EXPECT_THROW(OnlineSharing::begin({.update = "pa"}).compare_with({}), OptionError);
}

TEST(OnlineSharing, the_bound_of_a_resumed_stream_counts_all_of_it) {
  const Stream stream = make_stream(6);
  const std::size_t half = stream.x.size() / 2;
  ThreadPool threads(1);
  const SharingFit options{.hypotheses = "multi", .update = "perceptron"};
  const Competitor competitor = parse_competitor("c0 1:1\n", "u");
  OnlineSharing whole = OnlineSharing::begin(options), first = OnlineSharing::begin(options);
  whole.compare_with(competitor);
  first.compare_with(competitor);
  whole.learn(rows_of(stream, 0, stream.x.size()), threads);
  first.learn(rows_of(stream, 0, half), threads);
  OnlineSharing second = OnlineSharing::resume(load_model(saved(first.checkpoint(), "bound")), options);
  second.compare_with(competitor);
  second.learn(rows_of(stream, half, stream.x.size()), threads);
  EXPECT_EQ(second.finish(nullptr, threads).report.extra["bound"],
            whole.finish(nullptr, threads).report.extra["bound"]);

  const Competitor other = parse_competitor("c0 1:2\n", "u");
  EXPECT_THROW(second.compare_with(other), OptionError);  // it has seen nothing of the first half
}

// A folder that is a class before its subfolders.
TEST(OnlineSharing, a_hierarchy_of_rows_learns_what_a_file_of_its_sets_does) {
  Stream stream = make_stream(7);
  const std::vector<std::string> paths{"mail", "news",   "mail/a", "news/x", "mail/a/1",
                                       "c",    "mail/b", "d/e",    "d"};
  for (std::string& y : stream.y) y = paths[static_cast<std::size_t>(y[1] - '0')];
  const std::string sets =
      "all: *\nmail: mail mail/a mail/a/1 mail/b\na: mail/a mail/a/1\nnews: news news/x\nd: d d/e\n";
  ThreadPool threads(1);
  const Dataset rows = rows_of(stream, 0, stream.x.size());
  for (const char* kernel : {"none", "gaussian", "polynomial"}) {
    for (const char* update : {"perceptron", "pa"}) {
      SharingFit options{.hypotheses = "hierarchy", .kernel = kernel, .update = update};
      OnlineSharing hierarchy = OnlineSharing::begin(options);
      options.hypotheses = sets;
      options.own = true;
      OnlineSharing file = OnlineSharing::begin(options);
      std::vector<Index> predicted, expected;
      const auto keep_in = [](std::vector<Index>& list) {
        return [&list](const SharingTrial& trial) {
          list.push_back(trial.predicted);
          return true;
        };
      };
      hierarchy.learn(rows, threads, {.after_row = keep_in(predicted)});
      file.learn(rows, threads, {.after_row = keep_in(expected)});
      EXPECT_EQ(predicted, expected) << kernel << ' ' << update;
      EXPECT_GT(hierarchy.model().mistakes, 0);
    }
  }
}

}  // namespace
}  // namespace sharelearn
