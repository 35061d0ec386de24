#include <gtest/gtest.h>

#include <cmath>

#include "fit/joint_rows.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/model/metrics.hpp"

namespace sharelearn {
namespace {

/// A class in each quarter of the plane, with noise: no linear model has the right probabilities.
Dataset quarters(Index rows, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  DenseMatrix x = testing::normal_columns(rows, 4, random);
  data.label.names = {"a", "b", "c", "d"};
  for (Index i = 0; i < rows; ++i) {
    const bool right = x(i, 0) + 0.7 * random.normal() > 0, up = x(i, 1) / 2 + 0.4 * random.normal() > 0;
    data.label.id.push_back(random.uniform() < 0.1 ? static_cast<std::int32_t>(random.uniform() * 4)
                                                   : (right ? 1 : 0) + (up ? 2 : 0));
  }
  data.x = std::move(x);
  data.source = "rows";
  return data;
}

void set(Method& method, const char* option, const nlohmann::json& value) {
  const FieldTable table = method.fields();
  const Field* field = table.find(option);
  if (field != nullptr) field->set(value);
}

/// Quick settings for each method.
std::unique_ptr<Method> prepared(std::unique_ptr<Method> method) {
  set(*method, "features", 4);
  set(*method, "phi", nlohmann::json{0.001});
  if (method->name() == "treelasso") {
    set(*method, "lambda", 0.001);
    set(*method, "loss", "multiclass-hinge");
  }
  return method;
}

TEST(calibrate, probabilities_of_every_batch_method_agree_with_other_rows) {
  ThreadPool threads(1);
  const Dataset train = quarters(2000, 1), test = quarters(3000, 2);
  for (auto& raw : batch_methods()) {
    const auto method = prepared(std::move(raw));
    const Fitted fitted = method->fit({train}, {threads}, {});
    const std::vector<std::int32_t> truth = classes_of(test, fitted.model->output_names()).of_row;
    const Calibration found = calibration(fitted.model->proba(test, threads), truth, {});
    // The limit is for probabilities that are exactly right. These come from 2,000 rows, whose chance adds to
    // that of the test rows: the variances are as 1 / 2,000 to 1 / 3,000.
    EXPECT_LT(found.error, std::sqrt(1 + 3000.0 / 2000) * found.limit) << method->name();
    EXPECT_FALSE(fitted.model->confidence.from.empty()) << method->name();
    EXPECT_EQ(fitted.report.extra["calibration"]["temperature"], fitted.model->temperature);
    ASSERT_FALSE(fitted.report.choices.empty());
    EXPECT_NE(fitted.report.choices.back().find("rows left out of the training"), std::string::npos);
  }
}

TEST(calibrate, none_leaves_the_link_and_weights_are_the_same) {
  ThreadPool threads(1);
  const Dataset train = quarters(400, 1);
  for (std::size_t m = 0; m < batch_methods().size(); ++m) {
    const auto plain = prepared(std::move(batch_methods()[m])),
               full = prepared(std::move(batch_methods()[m]));
    set(*plain, "calibration", "none");
    const Fitted without = plain->fit({train}, {threads}, {}), with = full->fit({train}, {threads}, {});
    EXPECT_EQ(without.model->temperature, 1) << plain->name();
    EXPECT_TRUE(without.model->confidence.from.empty());
    EXPECT_FALSE(without.report.extra.contains("calibration"));
    EXPECT_EQ(without.model->payload(), with.model->payload()) << plain->name();
  }
}

TEST(calibrate, few_rows_are_left_to_the_link) {
  ThreadPool threads(1);
  const auto method = prepared(std::move(batch_methods().front()));
  const Fitted fitted = method->fit({quarters(60, 1)}, {threads}, {});
  EXPECT_EQ(fitted.model->temperature, 1);
  EXPECT_FALSE(fitted.report.extra.contains("calibration"));
}

}  // namespace
}  // namespace sharelearn
