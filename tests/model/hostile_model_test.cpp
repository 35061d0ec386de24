// Model files that were made to do harm: each is refused when it is loaded, or names what it asks for.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <functional>

#include "data/temporary_file.hpp"
#include "pool/fourier.hpp"
#include "sharelearn/learn/sharing.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// The bytes of a file of this kind with this description and payload, and the right checksum.
std::string file_of(const std::string& kind, const std::string& metadata, const std::string& payload,
                    Link link) {
  ByteWriter out;
  out.u32(3);
  for (const std::string& part : {kind, metadata, payload}) out.text(part);
  out.floats({});
  out.u8(static_cast<std::uint8_t>(link));
  std::string bytes = "SHLEARN\n" + out.bytes();
  const std::uint64_t checksum = XXH64(bytes.data(), bytes.size(), 0);
  return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

ModelPtr reread(const Model& model, const std::string& metadata = "{}") {
  return model_from_bytes(file_of(std::string(model.kind()), metadata, model.payload(), model.link()),
                          "file");
}

std::string fault_of(const std::function<void()>& load) {
  try {
    load();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// The text of `from`, where it occurs once, replaced.
std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(text.find(from, at + 1), std::string::npos);
  return text.replace(at, from.size(), to);
}

std::shared_ptr<SharingModel> learned(Hypotheses kind, bool kernel, bool names = false) {
  SharingOptions options;
  options.kernel.kind = kernel ? KernelKind::gaussian : KernelKind::none;
  options.budget = kernel ? 2 : 0;
  auto model = std::make_shared<SharingModel>(options, ClassSets(kind), FeatureNumbering(names));
  SharingLearner learner(model);
  for (int t = 0; t < 12; ++t) {
    const std::vector<std::uint32_t> feature =
        names ? std::vector<std::uint32_t>{model->features.of_name("word")}
              : std::vector<std::uint32_t>{static_cast<std::uint32_t>(t % 3)};
    learner.learn({feature, std::vector<float>{t % 2 == 0 ? 1.0F : -1.0F}}, "class" + std::to_string(t % 4));
  }
  return model;
}

TEST(HostileModel, the_models_that_these_tests_spoil_are_sound) {
  for (const Hypotheses kind :
       {Hypotheses::multi, Hypotheses::single, Hypotheses::hybrid, Hypotheses::hierarchy}) {
    for (const bool kernel : {false, true}) {
      const auto model = learned(kind, kernel);
      EXPECT_EQ(reread(*model)->payload(), model->payload()) << static_cast<int>(kind);
    }
  }
}

TEST(HostileModel, the_next_slot_of_a_budget_is_one_of_its_slots) {
  const auto model = learned(Hypotheses::multi, true);
  ASSERT_EQ(model->supports.size(), 2);
  for (const Index slot : {2, 100}) {
    model->next_slot = slot;
    EXPECT_THROW(reread(*model), InputError) << slot;
  }
  model->next_slot = 1;
  reread(*model);
  model->options.budget = 0;  // without a budget there is no next slot
  EXPECT_THROW(reread(*model), InputError);
  model->options.budget = 1;
  EXPECT_THROW(reread(*model), InputError);
}

TEST(HostileModel, the_sets_follow_from_the_kind_and_the_classes) {
  // Kind `single` has no sets of one class. `own` flags in it made prediction read supports that are not
  // kept.
  const auto single = learned(Hypotheses::single, true);
  ByteWriter sets;
  single->sets.write(sets);
  std::string flagged = sets.bytes();
  flagged[3 + 8] = 1;  // kind, two flags, number of classes, then one flag per class
  EXPECT_THROW(
      model_from_bytes(
          file_of("sharing", "{}", replaced_once(single->payload(), sets.bytes(), flagged), Link::softmax),
          "file"),
      InputError);
  const auto hybrid = learned(Hypotheses::hybrid, false);
  hybrid->options.hypotheses = Hypotheses::multi;
  EXPECT_THROW(reread(*hybrid), InputError);
  const auto renamed = learned(Hypotheses::hierarchy, false);
  renamed->classes[1] = "a/b";
  EXPECT_THROW(reread(*renamed), InputError);
  const auto twice = learned(Hypotheses::multi, false);
  twice->classes[1] = twice->classes[0];
  EXPECT_THROW(reread(*twice), InputError);
}

TEST(HostileModel, weights_belong_to_known_features) {
  const auto model = learned(Hypotheses::hybrid, false, true);
  reread(*model);
  model->weights.common.resize(100, 1.0);
  EXPECT_THROW(reread(*model), InputError);
  const auto table = learned(Hypotheses::multi, false, true);
  table->weights.own.at(7, 0) = 1;
  EXPECT_THROW(reread(*table), InputError);
}

TEST(HostileModel, supports_are_as_old_as_their_model) {
  const auto model = learned(Hypotheses::multi, true);
  model->supports[0].born = 1e9;
  EXPECT_THROW(reread(*model), InputError);
}

TEST(HostileModel, sets_that_were_never_used_need_no_room) {
  std::string lines;
  for (int g = 0; g < 20; ++g) {
    lines += "set" + std::to_string(g) + ": a" + std::to_string(g) + " b" + std::to_string(g) + "\n";
  }
  SharingOptions options;
  auto model = std::make_shared<SharingModel>(options, ClassSets::parse(lines, "sets"), FeatureNumbering());
  SharingLearner learner(model);
  learner.learn({std::vector<std::uint32_t>{0}, std::vector<float>{1}}, "a3");
  const ModelPtr again = reread(*model);
  EXPECT_EQ(again->output_names(), (std::vector<std::string>{"a3"}));
  SharingLearner(std::dynamic_pointer_cast<SharingModel>(again))
      .learn({std::vector<std::uint32_t>{0}, std::vector<float>{1}}, "b19");
}

TEST(HostileModel, a_path_of_a_class_makes_a_bounded_number_of_sets) {
  std::string deep = "a";
  for (int level = 0; level < 20000; ++level) deep += "/a";
  ClassSets sets(Hypotheses::hierarchy);
  sets.add_class(deep);
  EXPECT_LE(sets.groups().size(), 256);
}

LinearModel linear(Index columns) {
  LinearModel model;
  model.names = {"x", "y"};
  model.features = {std::make_shared<ColumnFeature>(0), std::make_shared<ColumnFeature>(1)};
  model.preprocessing.columns = columns;
  model.stages = {{{0, 1}, {1, 2, 3, 4}, {0, 0}, 2, 0}};
  return model;
}

TEST(HostileModel, descriptions_are_flat_small_and_of_the_right_types) {
  const LinearModel model = linear(2);
  const std::string deep(100000, '[');
  for (const std::string& bad :
       {deep + std::string(100000, ']'), "{\"a\":" + deep + std::string(100000, ']') + "}", std::string("[]"),
        std::string("3"), std::string("null"), std::string("{"), std::string("{\"method\":3}"),
        std::string("{\"summary\":[]}"), std::string("{\"data\":{\"m\":\"x\"}}"),
        std::string("{\"summary\":{\"train_error\":\"x\"}}"),
        std::string("{\"summary\":{\"candidates\":{}}}"), std::string("{\"task_labels\":3}"),
        "{\"a\":\"" + std::string(40 << 20, 'x') + "\"}"}) {
    EXPECT_THROW(reread(model, bad), InputError) << bad.substr(0, 40);
  }
  reread(model, "{\"a\":\"" + deep + "\\\"[\"}");  // brackets in text do not nest
}

TEST(HostileModel, outputs_have_distinct_names_and_a_link_of_their_kind) {
  LinearModel model = linear(2);
  model.names = {"x", "x"};
  EXPECT_NE(fault_of([&] { reread(model); }).find("one name"), std::string::npos);
  model = linear(2);
  for (const Link link : {Link::logistic, Link::identity, Link::logistic_of_twice}) {
    model.set_link(link);
    EXPECT_THROW(reread(model), InputError);
  }
  model.set_link(Link::softmax);
  model.kind_of_output = OutputKind::value;
  EXPECT_THROW(reread(model), InputError);
}

TEST(HostileModel, a_stage_has_one_weight_per_column_and_output) {
  LinearModel model = linear(2);
  model.stages[0].columns = {1, 1};
  EXPECT_THROW(reread(model), InputError);
}

TEST(HostileModel, columns_that_are_not_in_the_file_are_not_trusted) {
  const LinearModel model = linear(Index{1} << 39);
  const ModelPtr wide = reread(model);
  Dataset rows;
  SparseMatrix x;
  x.rows = 1;
  x.cols = 1;
  x.start = {0, 1};
  x.row = {0};
  x.value = {1};
  rows.x = Matrix(std::move(x));
  ThreadPool threads(1);
  EXPECT_NE(fault_of([&] { wide->predict(rows, threads); }).find("columns needs"), std::string::npos);
}

TEST(HostileModel, fourier_features_with_hours_of_frequencies_are_refused) {
  constexpr Index columns = Index{1} << 14;
  LinearModel model = linear(columns);
  model.features = {std::make_shared<FourierFeature>(columns, 1, 1.0, 1)};
  ByteWriter one, many;
  for (ByteWriter* out : {&one, &many}) out->index(columns);
  one.index(1);
  many.index(Index{1} << 24);
  const std::string payload = replaced_once(model.payload(), one.bytes(), many.bytes());
  EXPECT_NE(fault_of([&] {
              model_from_bytes(file_of("linear", "{}", payload, model.link()), "file");
            }).find("too many frequencies"),
            std::string::npos);
}

TEST(HostileModel, an_online_cascade_says_what_it_needs) {
  OnlineCascadeOptions options;
  options.loss = JointLoss::multiclass_hinge;
  options.mix = {0.5};
  options.phi = {0.1};
  options.gamma = 1;
  OnlineCascadeModel model(OnlineCascade(options, 3, 7, false));
  model.names = {"a", "b", "c"};
  reread(model);
  const auto pair = [](Index outputs, Index columns) {
    ByteWriter out;
    out.index(outputs);
    out.index(columns);
    return out.bytes();
  };
  const auto with = [&](Index outputs, Index columns) {
    const std::string payload = replaced_once(model.payload(), pair(3, 7), pair(outputs, columns));
    return fault_of(
        [&] { model_from_bytes(file_of("online-cascade", "{}", payload, model.link()), "file"); });
  };
  EXPECT_NE(with(3, Index{1} << 38).find("an online cascade of 274877906944 columns needs"),
            std::string::npos);
  EXPECT_NE(with(Index{1} << 39, 7).find("names do not fit"), std::string::npos);
}

}  // namespace
}  // namespace sharelearn
