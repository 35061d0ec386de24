// The baselines of [ShareBoost11], compared with exhaustive searches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sharelearn/learn/jointboost.hpp"
#include "sharelearn/learn/onevsrest.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

struct Labelled {
  Labelled(Index rows, Index columns, Index count, std::uint64_t seed) : x(DenseMatrix(rows, columns)) {
    Random random(seed);
    for (Index c = 0; c < count; ++c) classes.names.push_back(std::to_string(c));
    for (Index i = 0; i < rows; ++i) {
      const auto y = static_cast<std::int32_t>(random.below(count));
      classes.of_row.push_back(y);
      for (Index j = 0; j < columns; ++j) {
        x.owned_dense()(i, j) =
            static_cast<float>(std::round(4 * random.normal() + static_cast<double>((y + j) % count)) / 4);
      }
    }
    weights.assign(static_cast<std::size_t>(rows), 1.0 / static_cast<double>(rows));
  }
  Matrix x;
  Classes classes;
  std::vector<double> weights;
};

/// Error of the best shared stump over all sets of classes and all stumps, the exhaustive search that
/// JointBoost avoids.
double exhaustive_error(const Labelled& data, const StumpPool& pool) {
  const Index m = data.x.rows(), k = data.classes.count();
  double least = 1e300;
  for (Index candidate = 0; candidate < pool.candidates(); ++candidate) {
    Grid<float> stump(m, 1);
    pool.values(candidate, stump, 0);
    for (Index set = 1; set < (Index{1} << k); ++set) {
      double sums[2][2] = {};  // [below][agreement, mass] of the set
      double error = 0;
      for (Index c = 0; c < k; ++c) {
        double agreement = 0, mass = 0;
        for (Index i = 0; i < m; ++i) {
          const double z = data.classes.of_row[static_cast<std::size_t>(i)] == c ? 1.0 : -1.0;
          const double w = 1.0 / static_cast<double>(m);
          agreement += w * z, mass += w;
          auto& to = sums[stump(i, 0) != 0 ? 1 : 0];
          if (((set >> c) & 1) != 0) to[0] += w * z, to[1] += w;
        }
        error += mass;
        if (((set >> c) & 1) == 0) error -= agreement * agreement / mass;
      }
      for (const auto& side : sums) error -= side[0] * side[0] / side[1];
      least = std::min(least, error);
    }
  }
  return least;
}

double first_round_error(const Labelled& data, const StumpPool& pool, const JointBoostRound& round) {
  Grid<float> stump(data.x.rows(), 1);
  pool.values(round.candidate, stump, 0);
  double error = 0;
  for (Index c = 0; c < data.classes.count(); ++c) {
    const bool shares = std::count(round.sharing.begin(), round.sharing.end(), c) > 0;
    for (Index i = 0; i < data.x.rows(); ++i) {
      const double z = data.classes.of_row[static_cast<std::size_t>(i)] == c ? 1.0 : -1.0;
      const double h = !shares            ? round.constant[static_cast<std::size_t>(c)]
                       : stump(i, 0) != 0 ? round.below
                                          : round.above;
      error += (z - h) * (z - h) / static_cast<double>(data.x.rows());
    }
  }
  return error;
}

TEST(JointBoost, best_first_search_comes_close_to_the_best_of_all_sets) {
  ThreadPool threads(2);
  int equal = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Labelled data(60, 2, 4, seed);
    const StumpPool pool(data.x, 0, threads);
    const auto result = jointboost(pool, data.classes, data.weights, {.rounds = 1}, {threads});
    const double least = exhaustive_error(data, pool),
                 found = first_round_error(data, pool, result.rounds[0]);
    EXPECT_GE(found, least - 1e-6);
    EXPECT_LE(found, least * 1.02);
    if (found < least + 1e-6) ++equal;
  }
  EXPECT_GE(equal, 5);
}

TEST(JointBoost, every_round_lowers_the_exponential_loss) {
  ThreadPool threads(2);
  const Labelled data(200, 3, 4, 9);
  const StumpPool pool(data.x, 0, threads);
  Grid<double> scores;
  const auto result = jointboost(pool, data.classes, data.weights, {.rounds = 30}, {threads},
                                 [&](const JointBoostResult&, const Grid<double>& now) {
                                   scores = now;
                                   return true;
                                 });
  ASSERT_EQ(result.rounds.size(), 30U);
  double before = 4.0;
  for (const JointBoostRound& round : result.rounds) {
    EXPECT_LT(round.loss, before + 1e-12);
    before = round.loss;
    EXPECT_FALSE(round.sharing.empty());
  }
  double loss = 0;
  for (Index c = 0; c < 4; ++c) {
    for (Index i = 0; i < 200; ++i) {
      loss +=
          std::exp((data.classes.of_row[static_cast<std::size_t>(i)] == c ? -1.0 : 1.0) * scores(i, c)) / 200;
    }
  }
  EXPECT_NEAR(loss, before, 1e-9);
}

TEST(JointBoost, is_the_same_for_any_number_of_threads) {
  const Labelled data(150, 3, 3, 4);
  ThreadPool one(1), three(3);
  const StumpPool pool(data.x, 0, one);
  const auto a = jointboost(pool, data.classes, data.weights, {.rounds = 10}, {one});
  const auto b = jointboost(pool, data.classes, data.weights, {.rounds = 10}, {three});
  for (std::size_t t = 0; t < 10; ++t) {
    EXPECT_EQ(a.rounds[t].candidate, b.rounds[t].candidate);
    EXPECT_EQ(a.rounds[t].sharing, b.rounds[t].sharing);
    EXPECT_EQ(a.rounds[t].loss, b.rounds[t].loss);
  }
}

TEST(OneVsRest, each_class_meets_the_optimality_conditions_of_its_own_problem) {
  ThreadPool threads(2);
  const Labelled data(120, 6, 3, 2);
  ColumnPool pool(data.x);
  ShareBoostOptions options{.features = 2};
  options.corrective.tolerance = 1e-12;
  const auto result = one_vs_rest(pool, data.classes, data.weights, options, {threads});
  ASSERT_EQ(result.stages.size(), 3U);
  const OneVsRestStage& last = result.stages.back();
  EXPECT_EQ(std::set<Index>(result.chosen.begin(), result.chosen.end()).size(), result.chosen.size());
  EXPECT_LE(result.chosen.size(), 6U);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> gradient(last.features.size(), 0.0);
    double of_bias = 0;
    for (Index i = 0; i < 120; ++i) {
      double score = last.bias[c];
      for (std::size_t f = 0; f < gradient.size(); ++f)
        score += last.weights[f * 3 + c] * data.x.dense()(i, result.chosen[f]);
      const double z = data.classes.of_row[static_cast<std::size_t>(i)] == static_cast<Index>(c) ? 1 : -1;
      const double r = -z / (1 + std::exp(z * score)) / 120;
      of_bias += r;
      for (std::size_t f = 0; f < gradient.size(); ++f)
        gradient[f] += r * data.x.dense()(i, result.chosen[f]);
    }
    EXPECT_NEAR(of_bias, 0.0, 1e-5);
    int used = 0;
    for (std::size_t f = 0; f < gradient.size(); ++f) {
      if (last.weights[f * 3 + c] == 0) continue;
      ++used;
      EXPECT_NEAR(gradient[f], 0.0, 1e-5);
    }
    EXPECT_EQ(used, 2);
  }
}

/// The next feature of class c by the definition: the largest gradient of the class's own binary problem at
/// the weights of the stage.
Index next_by_definition(const Labelled& data, const OneVsRestResult& result, const OneVsRestStage& stage,
                         std::size_t c) {
  std::vector<double> gradient(static_cast<std::size_t>(data.x.cols()), 0.0);
  for (Index i = 0; i < data.x.rows(); ++i) {
    double score = stage.bias[c];
    for (std::size_t f = 0; f < stage.features.size(); ++f) {
      score += stage.weights[f * 3 + c] * static_cast<double>(data.x.dense()(i, result.chosen[f]));
    }
    const double z = data.classes.of_row[static_cast<std::size_t>(i)] == static_cast<Index>(c) ? 1 : -1;
    for (Index j = 0; j < data.x.cols(); ++j)
      gradient[static_cast<std::size_t>(j)] -=
          z / (1 + std::exp(z * score)) * static_cast<double>(data.x.dense()(i, j));
  }
  const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
  return std::max_element(gradient.begin(), gradient.end(), larger) - gradient.begin();
}

TEST(OneVsRest, stages_hold_the_union_of_what_each_class_chooses_by_its_own_gradient) {
  ThreadPool threads(1);
  const Labelled data(120, 6, 3, 3);
  ColumnPool pool(data.x);
  ShareBoostOptions options{.features = 3};
  options.corrective.tolerance = 1e-12;
  const auto result = one_vs_rest(pool, data.classes, data.weights, options, {threads});
  ASSERT_EQ(result.stages.size(), 4U);
  std::set<Index> expected;
  for (std::size_t round = 1; round < result.stages.size(); ++round) {
    for (std::size_t c = 0; c < 3; ++c)
      expected.insert(next_by_definition(data, result, result.stages[round - 1], c));
    std::set<Index> found;
    for (const Index place : result.stages[round].features)
      found.insert(result.chosen[static_cast<std::size_t>(place)]);
    EXPECT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace sharelearn
