#include "sharelearn/fit/online_cascade.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fit/joint_rows.hpp"
#include "sharelearn/fit/cascade.hpp"
#include "sharelearn/fit/transfer.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using testing::class_rows;
using testing::task_rows;

SparseRow features_of(const Dataset& data, Index i) {
  SparseRow row;
  for (Index j = 0; j < data.columns(); ++j) {
    row.index.push_back(j);
    row.value.push_back(data.x.dense()(i, j));
  }
  return row;
}

const std::string& text_of(const LabelColumn& labels, Index i) {
  return labels.names[static_cast<std::size_t>(labels.id[static_cast<std::size_t>(i)])];
}

void learn_rows(OnlineCascadeLearner& learner, const Dataset& data, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    const SparseRow row = features_of(data, i);
    learner.learn({.label = text_of(data.label, i),
                   .task = data.task.empty() ? std::string_view() : text_of(data.task, i),
                   .features = row});
  }
  learner.end_step();
}

OnlineOutline outline_by_rows(const Dataset& data, bool multiclass) {
  OnlineOutline outline;
  for (Index i = 0; i < data.rows(); ++i) {
    const SparseRow row = features_of(data, i);
    outline.add({.label = text_of(data.label, i),
                 .task = data.task.empty() ? std::string_view() : text_of(data.task, i),
                 .features = row},
                multiclass);
  }
  return outline;
}

TEST(fit_online_cascade, the_curve_counts_mistakes_and_classes_after_every_step) {
  ThreadPool threads(1);
  const Dataset data = class_rows(50, 4, 1);
  const OnlineCascadeFit options{.phi = {{0.05, 0.01}}};
  OnlineCascadeLearner learner = OnlineCascadeLearner::begin(options, outline_by_rows(data, true));
  std::set<std::string> seen;
  nlohmann::json expected = nlohmann::json::array();
  for (Index i = 0; i < data.rows(); ++i) {
    learn_rows(learner, data, i, i + 1);
    seen.insert(text_of(data.label, i));
    expected.push_back({i + 1, learner.model().cascade.mistakes(), seen.size()});
  }
  EXPECT_EQ(learner.report(1).extra["curve"], expected);
  EXPECT_EQ(fit({data}, options, {threads}).report.extra["curve"], expected);
}

// Rows given one at a time, with the number of columns unknown, give the same model as rows in memory.
TEST(fit_online_cascade, chooses_what_is_not_given_and_then_learns_as_if_it_were) {
  ThreadPool threads(1);
  const Dataset data = class_rows(120, 4, 1);
  const Fitted chosen = fit({data}, OnlineCascadeFit{}, {threads});
  const auto& options = chosen.report.options;
  EXPECT_GT(options["gamma"].get<double>(), 0);
  ASSERT_FALSE(chosen.report.choices.empty());
  const Fitted given = fit({data},
                           OnlineCascadeFit{.phi = options["phi"].get<std::vector<double>>(),
                                            .mix = options["mix"].get<std::vector<double>>(),
                                            .ridge = options["ridge"].get<double>(),
                                            .gamma = options["gamma"].get<double>()},
                           {threads});
  EXPECT_EQ(given.model->payload(), chosen.model->payload());
  const Fitted plain = fit({data}, OnlineCascadeFit{.phi = {{0.05}}}, {threads});
  EXPECT_EQ(plain.report.options["gamma"], 1.0);
  EXPECT_EQ(plain.report.options["ridge"], 0.0);
  const Fitted kept = fit({data}, OnlineCascadeFit{.ridge = 0, .gamma = 2}, {threads});
  EXPECT_EQ(kept.report.options["gamma"], 2.0);
  EXPECT_EQ(kept.report.options["ridge"], 0.0);
}

TEST(fit_online_cascade, a_stream_gives_the_model_of_the_rows_at_hand) {
  ThreadPool threads(1);
  for (const bool multiclass : {true, false}) {
    const Dataset data = multiclass ? class_rows(50, 4, 1) : task_rows(50, 4, 1);
    const OnlineCascadeFit options{
        .loss = multiclass ? "multiclass-logistic" : "multitask-hinge", .phi = {{0.05, 0.01}}, .gamma = 2.0};
    const Fitted at_hand = fit({data}, options, {threads});
    OnlineCascadeLearner known = OnlineCascadeLearner::begin(options, outline_by_rows(data, multiclass));
    learn_rows(known, data, 0, 50);
    OnlineCascadeLearner named =
        OnlineCascadeLearner::begin(options, outline_of(outline_of(data, multiclass).names, multiclass));
    learn_rows(named, data, 0, 50);
    const Grid<double> expected = at_hand.model->scores(data, threads);
    for (const OnlineCascadeLearner* learner : {&known, &named}) {
      const Grid<double> scores = learner->model().scores(data, threads);
      for (Index i = 0; i < 50; ++i)
        for (Index c = 0; c < scores.cols(); ++c) EXPECT_EQ(scores(i, c), expected(i, c));
    }
  }
}

TEST(fit_online_cascade, a_resumed_learner_goes_on_as_if_it_had_not_stopped) {
  ThreadPool threads(1);
  const Dataset data = class_rows(60, 5, 2);
  const OnlineCascadeFit options{.phi = {{0.02, 0.01}}};
  const OnlineOutline outline = outline_of(data, true);
  OnlineCascadeLearner whole = OnlineCascadeLearner::begin(options, outline);
  learn_rows(whole, data, 0, 60);
  OnlineCascadeLearner half = OnlineCascadeLearner::begin(options, outline);
  learn_rows(half, data, 0, 25);
  const auto checkpoint = std::dynamic_pointer_cast<OnlineCascadeModel>(
      OnlineCascadeModel::read(half.model().payload(), "checkpoint"));
  OnlineCascadeLearner rest = OnlineCascadeLearner::resume(checkpoint);
  learn_rows(rest, data, 25, 60);
  EXPECT_EQ(rest.model().payload(), whole.model().payload());
  EXPECT_EQ(rest.report(1).rows, 35);
  EXPECT_THROW(OnlineCascadeLearner::resume(checkpoint, {.gamma = 3.0}), InputError);
  EXPECT_THROW(OnlineCascadeLearner::resume(checkpoint, {.phi = {{0.5}}}), InputError);
}

TEST(fit_online_cascade, rows_that_are_wrong_name_their_part) {
  OnlineCascadeLearner learner = OnlineCascadeLearner::begin({.phi = {{0.1}}}, outline_of({"1", "2"}, true));
  const SparseRow row{{0}, {1.0F}};
  try {
    learner.learn({.label = "7", .features = row});
    FAIL();
  } catch (const OnlineRowError& error) {
    EXPECT_EQ(error.part(), "7");
  }
  EXPECT_EQ(learner.model().cascade.examples(), 0);
  EXPECT_THROW(OnlineCascadeLearner::begin({}, outline_of({"1", "2"}, true)), OptionError);
  EXPECT_THROW(outline_of({"1", "01"}, true), OptionError);
  EXPECT_THROW(outline_of({"1"}, true), OptionError);
}

TEST(fit_transfer, batch_and_online_models_learn_new_classes) {
  ThreadPool threads(1);
  const Dataset old_rows = class_rows(80, 5, 3), new_rows = class_rows(80, 5, 4);
  const Fitted batch = fit({old_rows}, CascadeFit{.phi = {{0.02, 0.01}}}, {threads});
  const Fitted moved = transfer(*batch.model, {new_rows, &new_rows},
                                {.loss = "multiclass-logistic", .components = 3}, {threads});
  EXPECT_EQ(*moved.report.end.test_error, *moved.report.end.train_error);
  EXPECT_LT(*moved.report.end.test_error, 0.4);
  EXPECT_EQ(moved.report.options["phi"], (std::vector<double>{0, 0}));
  const Predictions predicted = moved.model->predict(new_rows, threads);
  Index wrong = 0;
  for (std::size_t i = 0; i < 80; ++i) wrong += predicted.classes[i] != new_rows.label.id[i];
  EXPECT_NEAR(*moved.report.end.test_error, static_cast<double>(wrong) / 80, 1e-12);

  const Fitted online = fit({old_rows}, OnlineCascadeFit{.phi = {{0.02, 0.01}}}, {threads});
  const Fitted further = transfer(*online.model, {new_rows}, {}, {threads});
  EXPECT_EQ(further.report.extra["examples"], 80);
  EXPECT_EQ(further.report.options["phi"], (std::vector<double>{0.02, 0.01}));
  EXPECT_THROW(transfer(*online.model, {new_rows}, {.components = 2}, {threads}), OptionError);
}

}  // namespace
}  // namespace sharelearn
