#include "sharelearn/report/page.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "report/base64.hpp"
#include "report/leaf_order.hpp"
#include "report/page_parts.hpp"
#include "sharelearn/fit/evaluate.hpp"
#include "sharelearn/model/early.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double length(const std::vector<std::vector<double>>& items, const std::vector<std::size_t>& order) {
  double sum = 0;
  for (std::size_t i = 1; i < order.size(); ++i) sum += distance(items[order[i - 1]], items[order[i]]);
  return sum;
}

/// Average linkage as it is defined: O(n^3), the pair of least mean distance again and again. A cluster is
/// the list of all orders of its leaves that its tree allows.
struct Cluster {
  std::vector<std::size_t> leaves;
  std::vector<std::vector<std::size_t>> orders;
};

double least_length(const std::vector<std::vector<double>>& items) {
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < items.size(); ++i) clusters.push_back({{i}, {{i}}});
  while (clusters.size() > 1) {
    double least = INFINITY;
    std::size_t first = 0, second = 1;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = a + 1; b < clusters.size(); ++b) {
        double sum = 0;
        for (const auto i : clusters[a].leaves) {
          for (const auto j : clusters[b].leaves) sum += distance(items[i], items[j]);
        }
        sum /= static_cast<double>(clusters[a].leaves.size() * clusters[b].leaves.size());
        if (sum < least) least = sum, first = a, second = b;
      }
    }
    Cluster merged{clusters[first].leaves, {}};
    merged.leaves.insert(merged.leaves.end(), clusters[second].leaves.begin(), clusters[second].leaves.end());
    for (const auto& left : clusters[first].orders) {
      for (const auto& right : clusters[second].orders) {
        for (const bool swapped : {false, true}) {
          std::vector<std::size_t> order = swapped ? right : left;
          const auto& rest = swapped ? left : right;
          order.insert(order.end(), rest.begin(), rest.end());
          merged.orders.push_back(std::move(order));
        }
      }
    }
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
    clusters[first] = std::move(merged);
  }
  double least = INFINITY;
  for (const auto& order : clusters[0].orders) least = std::min(least, length(items, order));
  return least;
}

RC_GTEST_PROP(LeafOrder, is_the_shortest_of_all_orders_that_the_tree_allows, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(3, 8);
  std::vector<std::vector<double>> items;
  for (std::size_t i = 0; i < n; ++i) {
    // Irrational factors make equal distances, and with them several trees, unlikely.
    const auto x = *rc::gen::inRange(-1000, 1000), y = *rc::gen::inRange(-1000, 1000);
    items.push_back(
        {x + 0.618 * static_cast<double>(i * i), std::sqrt(2.0) * y + 0.3 * static_cast<double>(i)});
  }
  const std::vector<std::size_t> order = leaf_order(items);
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < n; ++i) RC_ASSERT(sorted[i] == i);
  RC_ASSERT(std::abs(length(items, order) - least_length(items)) < 1e-9 * (1 + length(items, order)));
}

TEST(LeafOrder, puts_points_of_a_line_in_their_order) {
  std::vector<std::vector<double>> items;
  for (const double x : {7.0, 1.0, 4.2, 0.0, 8.1, 2.05}) items.push_back({x});
  std::vector<double> found;
  for (const std::size_t i : leaf_order(items)) found.push_back(items[i][0]);
  if (found.front() > found.back()) std::ranges::reverse(found);
  EXPECT_TRUE(std::ranges::is_sorted(found));
}

TEST(Base64, agrees_with_the_vectors_of_rfc_4648) {
  const auto of = [](std::string_view text) { return base64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

/// Three classes that read two columns; the second column matters to the last class only.
LinearModel small_model() {
  LinearModel model;
  model.names = {"a", "<b>", "c"};
  model.preprocessing.columns = 2;
  model.features = {std::make_shared<ColumnFeature>(0), std::make_shared<ColumnFeature>(1)};
  model.stages = {{{0}, {1, -1, 0}, {}, 1, 1}, {{0, 1}, {1, -1, 0, 0, 1e-9, 2}, {}, 2, 2}};
  model.stage = 1;
  return model;
}

Dataset small_data() {
  DenseMatrix x(6, 2);
  Dataset data;
  data.label.names = {"a", "<b>", "c"};
  const float first[] = {2, 3, -2, -3, 0.5, 2}, second[] = {0, 0, 0, 0, 3, 0};
  for (Index i = 0; i < 6; ++i) {
    x(i, 0) = first[i];
    x(i, 1) = second[i];
    data.label.id.push_back(i < 2 ? 0 : i < 4 ? 1 : 2);
  }
  data.x = Matrix(std::move(x));
  return data;
}

template <class T>
std::vector<T> numbers(const std::string& text) {
  const std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned word = 0, bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<unsigned>(letters.find(c));
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(word >> (bits -= 8) & 255);
  }
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

TEST(Page, keeps_small_weights_apart_from_zero) {
  const nlohmann::json json = weights_json(weight_rows(small_model()), 3);
  EXPECT_EQ(json["features"], (std::vector<int>{0, 1}));
  EXPECT_EQ(numbers<std::int16_t>(json["values"]),
            (std::vector<std::int16_t>{32767, -32767, 0, 0, 1, 32767}));
  EXPECT_FLOAT_EQ(numbers<float>(json["scale"])[1] * 32767, 2);
}

TEST(Page, measures_each_stage_as_evaluate_does) {
  ThreadPool threads(2);
  LinearModel model = small_model();
  const Dataset data = small_data();
  const nlohmann::json page = page_data(model, {}, &data, threads);
  ASSERT_EQ(page["data"]["stages"].size(), 2U);
  for (Index s = 0; s < 2; ++s) {
    model.stage = s;
    const Evaluation expected = evaluate(model, data, threads);
    const nlohmann::json& stage = page["data"]["stages"][static_cast<std::size_t>(s)];
    EXPECT_DOUBLE_EQ(stage["error"].get<double>(), expected.classes->error);
    EXPECT_NEAR(stage["loss"].get<double>(), expected.classes->log_loss, 1e-12);
    const auto truth = numbers<std::uint16_t>(stage["cells"]["truth"]);
    const auto predicted = numbers<std::uint16_t>(stage["cells"]["predicted"]);
    const auto weight = numbers<float>(stage["cells"]["weight"]);
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      EXPECT_EQ(weight[i], expected.confusion[truth[i]][predicted[i]]);
      sum += weight[i];
    }
    EXPECT_EQ(sum, 6);
  }
}

TEST(Page, tells_what_losing_a_feature_costs) {
  ThreadPool threads(2);
  const LinearModel model = small_model();
  const Dataset data = small_data();
  const nlohmann::json page = page_data(model, {}, &data, threads);
  // The same by hand: every value of the column becomes its mean, and the model predicts again.
  for (Index j = 0; j < 2; ++j) {
    Dataset without = data;
    float* column = without.x.owned_dense().column(j);
    const double mean = std::accumulate(column, column + 6, 0.0) / 6;
    std::fill_n(column, 6, static_cast<float>(mean));
    const auto before = evaluate(model, data, threads).classes,
               after = evaluate(model, without, threads).classes;
    const nlohmann::json& costs = page["data"]["stages"][1]["costs"];
    const auto at = static_cast<std::size_t>(j);
    EXPECT_NEAR(numbers<float>(costs["error"])[at], after->error - before->error, 1e-6);
    EXPECT_NEAR(numbers<float>(costs["loss"])[at], after->log_loss - before->log_loss, 1e-6);
  }
}

TEST(Page, counts_the_cost_of_a_stage) {
  ThreadPool threads(1);
  const nlohmann::json page = page_data(small_model(), {}, nullptr, threads);
  EXPECT_EQ(page["stages"][0]["columnsRead"], 1);
  EXPECT_EQ(page["stages"][0]["multiplyAdds"], 2);  // the weights other than 0
  EXPECT_EQ(page["stages"][1]["multiplyAdds"], 4);
  EXPECT_LT(page["stages"][0]["bytes"], page["stages"][1]["bytes"]);
  EXPECT_EQ(page["axis"], "features");
  EXPECT_FALSE(page.contains("data"));
}

TEST(Page, tells_what_each_checkpoint_answers) {
  ThreadPool threads(1);
  LinearModel model = small_model();
  EarlyStop early;
  early.checkpoints = {{model.stages[0], 2.5}};
  early.stage = 1;
  model.early = std::make_shared<const EarlyStop>(early);
  const Dataset data = small_data();
  const nlohmann::json steps = page_data(model, {}, &data, threads)["early"]["steps"];
  // With the first column alone the margin is its magnitude: the two rows with 3 stop there, and are right.
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["features"], 1);
  EXPECT_EQ(steps[0]["threshold"], 2.5);
  EXPECT_EQ(steps[0]["answered"], 2);
  EXPECT_EQ(steps[0]["wrong"], 0);
  EXPECT_EQ(steps[1]["features"], 2);
  EXPECT_FALSE(steps[1].contains("threshold"));
  EXPECT_EQ(steps[1]["answered"], 4);
  EXPECT_EQ(steps[1]["wrong"], 1);
  EXPECT_EQ(steps[1]["wrongIfFull"], 1);
  EXPECT_EQ(steps[1]["different"], 0);
  model.stage = 0;  // the thresholds are those of another stage
  const nlohmann::json other = page_data(model, {}, &data, threads)["early"]["steps"];
  EXPECT_FALSE(other[0].contains("answered"));
}

TEST(Page, holds_no_markup_from_the_data) {
  ThreadPool threads(1);
  PageOptions options;
  options.title = "</script><img src=x>";
  const std::string html = report_page(small_model(), options, nullptr, threads);
  EXPECT_EQ(html.find("</script><img"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("{{data}}"), std::string::npos);
  EXPECT_NE(html.find("\\u003c/script>"), std::string::npos);
}

TEST(Page, refuses_a_report_of_another_method) {
  ThreadPool threads(1);
  LinearModel model = small_model();
  model.metadata["method"] = "shareboost";
  PageOptions options;
  options.fit = {
      {"method", "cascade"}, {"rounds", nlohmann::json::array()}, {"data", nlohmann::json::object()}};
  EXPECT_THROW(report_page(model, options, nullptr, threads), InputError);
  options.fit = "text";
  EXPECT_THROW(report_page(model, options, nullptr, threads), InputError);
}

}  // namespace
}  // namespace sharelearn
