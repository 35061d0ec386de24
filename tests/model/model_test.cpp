#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

namespace fs = std::filesystem;

LinearModel small_model() {
  LinearModel model;
  model.features = {std::make_shared<ColumnFeature>(3), std::make_shared<ColumnFeature>(0)};
  model.preprocessing.scaling = {ScalingKind::minmax, {0, 1, 2, 3}, {1, 2, 3, 4}};
  model.names = {"x", "y", "z"};
  model.preprocessing.names = {"a", "b", "c", "d"};
  model.preprocessing.columns = 4;
  model.stages = {{{}, {}, {0.1, 0.2, 0.3}, 0, 0},
                  {{0}, {1, 2, 3}, {0.5, 0, -0.5}, 1, 1},
                  {{0, 1}, {1, 2, 3, -4, -5, -6}, {0, 0, 1}, 2, 2}};
  model.stage = 2;
  model.metadata = {{"method", "test"}};
  return model;
}

class ModelFile : public ::testing::Test {
 protected:
  ModelFile()
      : path_(fs::temp_directory_path() / ("sharelearn_model_" + std::to_string(::getpid()) + ".shl")) {}
  ~ModelFile() override { fs::remove(path_); }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  fs::path path_;
};

TEST_F(ModelFile, keeps_which_label_of_a_task_is_positive) {
  LinearModel model = small_model();
  save_model(model, path_);
  EXPECT_TRUE(load_model(path_)->task_labels.empty());  // as in files written before task labels existed
  model.task_labels = {"no", "yes"};
  save_model(model, path_);
  EXPECT_EQ(load_model(path_)->task_labels.negative, "no");
  EXPECT_EQ(load_model(path_)->task_labels.positive, "yes");
  model.task_labels = {};
  model.metadata["task_labels"] = {{"negative", 1}};
  save_model(model, path_);
  EXPECT_THROW(load_model(path_), InputError);
}

TEST_F(ModelFile, a_saved_model_predicts_as_before) {
  const LinearModel model = small_model();
  save_model(model, path_);
  const ModelPtr loaded = load_model(path_);
  Dataset data;
  data.x = test::random_dense(30, 4, 1);
  ThreadPool threads(2);
  const Grid<double> before = model.scores(data, threads);
  const Grid<double> after = loaded->scores(data, threads);
  for (Index i = 0; i < 30; ++i) {
    for (Index c = 0; c < 3; ++c) {
      EXPECT_EQ(before(i, c), after(i, c));
      const double first = model.preprocessing.scaling.apply(data.x.dense()(i, 3), 3),
                   second = model.preprocessing.scaling.apply(data.x.dense()(i, 0), 0);
      const double w1 = static_cast<double>(c + 1), w2 = -static_cast<double>(c + 4);
      EXPECT_NEAR(after(i, c), first * w1 + second * w2 + (c == 2 ? 1 : 0), 1e-9);
    }
  }
  EXPECT_EQ(loaded->metadata["method"], "test");
  EXPECT_EQ(loaded->features_used(), 2);
}

TEST_F(ModelFile, json_holds_all_that_a_prediction_needs) {
  const LinearModel model = small_model();
  const nlohmann::json all = model.to_json();
  Dataset data;
  data.x = test::random_dense(5, 4, 2);
  ThreadPool threads(1);
  const Grid<double> scores = model.scores(data, threads);
  for (Index i = 0; i < 5; ++i) {
    for (Index c = 0; c < 3; ++c) {
      const auto output = static_cast<std::size_t>(c);
      double score = all["bias"][output];
      for (const auto& feature : all["features"]) {
        const auto column = feature["column"].get<std::size_t>();
        const double offset = all["scaling"]["offset"][column], factor = all["scaling"]["factor"][column];
        const auto value = static_cast<double>(data.x.dense()(i, static_cast<Index>(column)));
        score += (value - offset) * factor * feature["weights"][output].get<double>();
      }
      EXPECT_NEAR(scores(i, c), score, 1e-5);
    }
  }
  EXPECT_EQ(all["names"], nlohmann::json({"x", "y", "z"}));
}

TEST_F(ModelFile, means_are_kept_and_must_fit_the_columns) {
  LinearModel model = small_model();
  save_model(model, path_);
  EXPECT_TRUE(load_model(path_)->preprocessing.means.empty());
  model.preprocessing.means = {1, 2, 3, 4};
  save_model(model, path_);
  EXPECT_EQ(load_model(path_)->preprocessing.means, model.preprocessing.means);
  model.preprocessing.means.pop_back();
  save_model(model, path_);
  EXPECT_THROW(load_model(path_), InputError);
}

TEST_F(ModelFile, what_it_knows_of_its_data_is_kept) {
  LinearModel model = small_model();
  Preprocessing& input = model.preprocessing;
  save_model(model, path_);
  const std::string plain = model_bytes(model);
  input.names = {"a", "b=x", "b=y", "a=missing"};
  input.categories = {{"b", 1, {"x", "y"}}};
  input.means = {1, 2, 3, 0};
  input.indicators = {0};
  input.transform = {CountTransformKind::tfidf, {1, 2, 3, 4}};
  model.label_place = {"kind", 2, 5};
  model.zero_based = true;
  save_model(model, path_);
  const ModelPtr loaded = load_model(path_);
  EXPECT_EQ(loaded->preprocessing.categories, input.categories);
  EXPECT_EQ(loaded->preprocessing.indicators, input.indicators);
  EXPECT_EQ(loaded->preprocessing.transform.idf, input.transform.idf);
  EXPECT_EQ(loaded->label_place.name, "kind");
  EXPECT_TRUE(loaded->zero_based);
  model.label_place = {"", 2, 5};
  save_model(model, path_);
  EXPECT_EQ(load_model(path_)->label_place.column, 2);
  EXPECT_EQ(plain[8], 3);  // a model without all this is written as before
  EXPECT_EQ(model_bytes(model)[8], 4);
}

TEST_F(ModelFile, what_does_not_fit_its_columns_is_damage) {
  const auto refused = [&](const std::function<void(LinearModel&)>& change) {
    LinearModel model = small_model();
    model.preprocessing.means = {1, 2, 3, 4};
    change(model);
    save_model(model, path_);
    EXPECT_THROW(load_model(path_), InputError);
  };
  refused([](LinearModel& m) { m.preprocessing.categories = {{"b", 3, {"x", "y"}}}; });
  refused([](LinearModel& m) { m.preprocessing.categories = {{"b", 1, {"x"}}}; });
  refused([](LinearModel& m) { m.preprocessing.indicators = {3}; });
  refused([](LinearModel& m) { m.preprocessing.indicators = {1, 0}; });
  refused([](LinearModel& m) { m.preprocessing.transform = {CountTransformKind::tfidf, {1}}; });
  refused([](LinearModel& m) { m.label_place = {"", 7, 5}; });
}

TEST_F(ModelFile, the_link_is_kept) {
  LinearModel model = small_model();
  save_model(model, path_);
  EXPECT_EQ(load_model(path_)->link(), Link::softmax);
  model.set_link(Link::margin_softmax);
  save_model(model, path_);
  EXPECT_EQ(load_model(path_)->link(), Link::margin_softmax);
  EXPECT_EQ(load_model(path_)->to_json()["link"], "margin_softmax");
}

TEST_F(ModelFile, a_temperature_is_kept_and_divides_the_scores) {
  LinearModel model = small_model();
  save_model(model, path_);
  const std::string without = bytes();
  EXPECT_EQ(without[8], 3);  // a model without sections has the format before them
  model.temperature = 2.5;
  save_model(model, path_);
  EXPECT_EQ(bytes()[8], 4);
  const ModelPtr loaded = load_model(path_);
  EXPECT_EQ(loaded->temperature, 2.5);
  Dataset data;
  data.x = test::random_dense(5, 4, 1);
  ThreadPool threads(1);
  const Grid<double> scores = loaded->scores(data, threads), p = loaded->proba(data, threads);
  for (Index i = 0; i < 5; ++i)
    EXPECT_NEAR(std::log(p(i, 0) / p(i, 1)), (scores(i, 0) - scores(i, 1)) / 2.5, 1e-9);
  EXPECT_EQ(loaded->to_json()["temperature"], 2.5);
  for (const double wrong : {0.0, -1.0}) {
    model.temperature = wrong;
    save_model(model, path_);
    EXPECT_THROW(load_model(path_), InputError);
  }
}

TEST_F(ModelFile, a_map_of_confidence_is_kept_and_must_be_ascending) {
  LinearModel model = small_model();
  model.confidence = {{0.25, 0.5, 1.0}, {0.2, 0.6, 0.6}};
  save_model(model, path_);
  const ModelPtr loaded = load_model(path_);
  EXPECT_EQ(loaded->confidence, model.confidence);
  EXPECT_EQ(loaded->to_json()["confidence"]["to"], nlohmann::json(model.confidence.to));
  const std::vector<ConfidenceMap> wrong{{{0.5, 0.5}, {0.2, 0.6}}, {{0.2, 0.5}, {0.6, 0.2}},
                                         {{0.2, 1.5}, {0.2, 0.6}}, {{0.2, 0.5}, {0.0, 0.6}},
                                         {{0.2, 0.5}, {0.2, 1.0}}, {{0.2, 0.5}, {0.2}}};
  for (const ConfidenceMap& map : wrong) {
    model.confidence = map;
    save_model(model, path_);
    EXPECT_THROW(load_model(path_), InputError);
  }
}

TEST_F(ModelFile, a_trimmed_model_predicts_the_same_from_fewer_features) {
  LinearModel model = small_model();
  Dataset data;
  data.x = test::random_dense(20, 4, 1);
  ThreadPool threads(1);
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    model.stage = static_cast<Index>(s);
    LinearModel trimmed = model;
    trimmed.trim();
    EXPECT_EQ(trimmed.stages.size(), 1U);
    EXPECT_EQ(std::ssize(trimmed.features), model.features_used());
    const Grid<double> before = model.scores(data, threads), after = trimmed.scores(data, threads);
    for (Index i = 0; i < 20; ++i)
      for (Index c = 0; c < before.cols(); ++c) EXPECT_EQ(before(i, c), after(i, c));
  }
}

TEST_F(ModelFile, the_nearest_lambda_of_a_path_is_used) {
  LinearModel model = small_model();
  const Stage last = model.stages.back();
  model.stages = {last, last, last};
  EXPECT_FALSE(model.is_lambda_path());
  EXPECT_THROW(model.use_lambda(0.1), InputError);
  for (std::size_t s = 0; s < 3; ++s) model.stages[s].parameter = std::pow(0.1, static_cast<double>(s));
  ASSERT_TRUE(model.is_lambda_path());
  for (const auto& [lambda, stage] : {std::pair(1.0, 0), {0.4, 0}, {0.2, 1}, {0.1, 1}, {0.01, 2}}) {
    model.use_lambda(lambda);
    EXPECT_EQ(model.stage, stage) << lambda;
  }
  for (const double outside : {1.1, 0.009, -1.0}) EXPECT_THROW(model.use_lambda(outside), InputError);
}

TEST_F(ModelFile, an_unknown_section_needs_a_newer_version) {
  LinearModel model = small_model();
  model.temperature = 2.5;
  save_model(model, path_);
  std::string changed = bytes();
  changed[changed.rfind("temperature")] = 'T';
  changed.resize(changed.size() - sizeof(std::uint64_t));
  const std::uint64_t checksum = XXH64(changed.data(), changed.size(), 0);
  changed.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  put(changed);
  try {
    load_model(path_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("newer sharelearn"), std::string::npos);
  }
}

TEST_F(ModelFile, names_that_are_not_utf8_are_kept) {
  LinearModel model = small_model();
  model.names[0] = model.preprocessing.names[0] = "gr\xF6\xDF";
  model.metadata["options"] = {{"file", model.names[0]}};
  save_model(model, path_);
  const ModelPtr loaded = load_model(path_);
  EXPECT_EQ(loaded->output_names(), model.names);
  EXPECT_EQ(loaded->column_names(), model.preprocessing.names);
  EXPECT_NE(loaded->describe(), "");
}

TEST_F(ModelFile, any_number_of_features_of_the_path_can_be_used) {
  LinearModel model = small_model();
  model.use_features(1);
  EXPECT_EQ(model.features_used(), 1);
  EXPECT_EQ(model.bias(), (std::vector<double>{0.5, 0, -0.5}));
  model.use_features(100);
  EXPECT_EQ(model.stage, 2);
}

TEST_F(ModelFile, increments_add_up) {
  LinearModel model = small_model();
  model.increments = true;
  const std::vector<double> weights = model.weights();
  EXPECT_EQ((std::vector<double>{weights.begin(), weights.begin() + 3}), (std::vector<double>{2, 4, 6}));
  EXPECT_NEAR(model.bias()[0], 0.6, 1e-15);
}

TEST_F(ModelFile, a_file_truncated_at_any_byte_is_refused) {
  save_model(small_model(), path_);
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_THROW(load_model(path_), InputError) << length;
  }
}

TEST_F(ModelFile, a_changed_byte_is_refused_even_with_a_right_checksum) {
  save_model(small_model(), path_);
  const std::string whole = bytes();
  for (std::size_t at = 0; at + 8 < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x81);
    put(changed);
    EXPECT_THROW(load_model(path_), InputError) << at;
    // With a repaired checksum the content itself is checked: the result is an error or a model within its
    // bounds, never a crash.
    const std::uint64_t checksum = XXH64(changed.data(), changed.size() - 8, 0);
    std::copy_n(reinterpret_cast<const char*>(&checksum), 8, changed.data() + changed.size() - 8);
    put(changed);
    try {
      load_model(path_)->describe();
    } catch (const InputError&) {
    }
  }
}

TEST_F(ModelFile, data_with_another_number_of_columns_is_refused) {
  Dataset data;
  data.x = test::random_dense(3, 5, 1);
  ThreadPool threads(1);
  EXPECT_THROW(small_model().scores(data, threads), InputError);
}

TEST_F(ModelFile, a_missing_file_is_named) {
  try {
    load_model("no_such_model.shl");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_model.shl"), std::string::npos);
  }
}

}  // namespace
}  // namespace sharelearn
