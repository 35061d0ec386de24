// Algorithm 2 compared with a dense transcription of the paper's pseudo-code, and invariants of the lazy
// updates.
#include "sharelearn/learn/online_cascade.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

struct Stream {
  std::vector<SparseRow> x;
  std::vector<Index> label;
  std::vector<std::vector<std::int8_t>> sign;
  std::vector<std::vector<std::uint32_t>> column;
};

Stream random_stream(Index count, Index columns, Index outputs, std::uint64_t seed) {
  Random random(seed);
  Stream out;
  for (Index t = 0; t < count; ++t) {
    SparseRow row;
    std::vector<std::uint32_t> column;
    const Index y = random.below(outputs);
    std::vector<std::int8_t> sign;
    for (Index j = 0; j < columns; ++j) {
      if (random.uniform() < 0.4) continue;
      row.index.push_back(j);
      column.push_back(static_cast<std::uint32_t>(j));
      row.value.push_back(static_cast<float>(random.normal() + (j == y ? 1.5 : 0)));
    }
    for (Index c = 0; c < outputs; ++c) sign.push_back(random.uniform() < 0.3 || c == y ? 1 : -1);
    out.x.push_back(row);
    out.column.push_back(column);
    out.label.push_back(y);
    out.sign.push_back(sign);
  }
  return out;
}

OnlineExample example_of(const Stream& stream, std::size_t t) {
  return {stream.column[t], stream.x[t].value, stream.label[t], stream.sign[t]};
}

/// Algorithm 2 as printed: averages and increments as full matrices, recomputed at every step.
class Printed {
 public:
  Printed(const OnlineCascadeOptions& options, Index outputs, Index columns)
      : options_(options),
        sum_(options.mix.size(), Eigen::MatrixXd::Zero(outputs, columns + 1)),
        increment_(sum_) {}

  void step(const Stream& stream, std::size_t t) {
    const Index columns = sum_[0].cols() - 1;
    Eigen::VectorXd x = Eigen::VectorXd::Zero(columns + 1);
    for (std::size_t e = 0; e < stream.x[t].index.size(); ++e) x(stream.x[t].index[e]) = stream.x[t].value[e];
    x(columns) = 1;
    Eigen::MatrixXd all = increment_[0];
    for (std::size_t l = 1; l < increment_.size(); ++l) all += increment_[l];
    Index best;
    (all * x).maxCoeff(&best);
    mistakes += best != stream.label[t];
    const double time = static_cast<double>(t + 1);
    Eigen::MatrixXd above = Eigen::MatrixXd::Zero(all.rows(), all.cols());
    for (std::size_t l = 0; l < sum_.size(); ++l) {
      const Eigen::VectorXd u = subgradient((above + increment_[l]) * x, stream, t);
      sum_[l] += u * x.transpose();  // t times the average: avoids rounding that would break ties
      increment_[l] = closed_form(sum_[l] / time, options_.phi[l], options_.mix[l],
                                  options_.gamma / std::sqrt(time), options_.ridge);
      above += increment_[l];
    }
  }

  const Eigen::MatrixXd& increment(std::size_t l) const { return increment_[l]; }
  Index mistakes = 0;

 private:
  Eigen::VectorXd subgradient(const Eigen::VectorXd& s, const Stream& stream, std::size_t t) const {
    Eigen::VectorXd u = Eigen::VectorXd::Zero(s.size());
    const Index y = stream.label[t];
    if (options_.loss == JointLoss::multitask_hinge) {
      for (Index c = 0; c < s.size(); ++c) {
        const double sign = stream.sign[t][static_cast<std::size_t>(c)];
        if (1 - sign * s(c) > 0) u(c) = -sign;
      }
      return u;
    }
    Index violator = -1;
    for (Index c = 0; c < s.size(); ++c) {
      if (c != y && (violator < 0 || s(c) > s(violator))) violator = c;
    }
    if (1 + s(violator) - s(y) > 0) u(violator) = 1, u(y) = -1;
    return u;
  }

  static Eigen::MatrixXd closed_form(const Eigen::MatrixXd& average, double phi, double mix, double gamma,
                                     double ridge) {
    Eigen::MatrixXd w = average;
    for (Index j = 0; j + 1 < w.cols(); ++j) {
      for (Index c = 0; c < w.rows(); ++c) {
        const double cut = std::max(std::abs(w(c, j)) - phi * mix, 0.0);
        w(c, j) = w(c, j) > 0 ? cut : -cut;
      }
      const double norm = w.col(j).norm();
      w.col(j) *= norm > phi * (1 - mix) ? 1 - phi * (1 - mix) / norm : 0.0;
    }
    w.leftCols(w.cols() - 1) /= gamma + 2 * ridge;
    w.rightCols(1) /= gamma;  // the bias has no penalty
    return -w;
  }

  OnlineCascadeOptions options_;
  std::vector<Eigen::MatrixXd> sum_, increment_;
};

void expect_the_printed_algorithm(JointLoss loss, double ridge = 0) {
  const Index columns = 7, outputs = 4;
  const Stream stream = random_stream(150, columns, outputs, 1);
  const OnlineCascadeOptions options{
      .loss = loss, .mix = {0, 0.5, 1}, .phi = {0.1, 0.05, 0.02}, .gamma = 0.7, .ridge = ridge};
  OnlineCascade lazy(options, outputs, columns, false);
  Printed printed(options, outputs, columns);
  for (std::size_t t = 0; t < stream.x.size(); ++t) {
    const OnlineExample example = example_of(stream, t);
    online_step(lazy, {&example, 1});
    printed.step(stream, t);
    for (Index l = 0; l < 3; ++l) {
      const auto bias = lazy.bias(l);
      for (Index c = 0; c < outputs; ++c) {
        for (Index j = 0; j < columns; ++j) {
          EXPECT_NEAR(lazy.weights(l, j)[static_cast<std::size_t>(c)],
                      printed.increment(static_cast<std::size_t>(l))(c, j), 1e-9);
        }
        EXPECT_NEAR(bias[static_cast<std::size_t>(c)],
                    printed.increment(static_cast<std::size_t>(l))(c, columns), 1e-9);
      }
    }
  }
  if (loss == JointLoss::multiclass_hinge) {
    EXPECT_EQ(lazy.mistakes(), printed.mistakes);
  }
}

TEST(online_cascade, multiclass_follows_the_printed_algorithm) {
  expect_the_printed_algorithm(JointLoss::multiclass_hinge);
}

TEST(online_cascade, multitask_follows_the_printed_algorithm) {
  expect_the_printed_algorithm(JointLoss::multitask_hinge);
}

TEST(online_cascade, with_a_ridge_every_step_minimises_its_objective) {
  expect_the_printed_algorithm(JointLoss::multiclass_hinge, 0.05);
  expect_the_printed_algorithm(JointLoss::multitask_hinge, 0.3);
}

TEST(online_cascade, the_file_keeps_the_ridge_and_is_as_before_without_one) {
  const auto bytes_of = [](double ridge) {
    const OnlineCascade cascade({.mix = {0, 1}, .phi = {0.1, 0.2}, .gamma = 2, .ridge = ridge}, 3, 4, false);
    ByteWriter out;
    cascade.write(out);
    return out.bytes();
  };
  EXPECT_EQ(bytes_of(0.5).size(), bytes_of(0).size() + sizeof(double));
  const std::string bytes = bytes_of(0.5);
  ByteReader in(bytes, "test");
  EXPECT_EQ(OnlineCascade::read(in, 3).options().ridge, 0.5);
}

/// One column, two alternating classes. Two neighbouring examples have a huge value and cancel each other.
Stream cancelling_stream(std::size_t count, std::size_t huge) {
  Random random(huge);
  Stream out;
  for (std::size_t t = 0; t < count; ++t) {
    const float value = t / 2 == huge / 2 ? 1e9F : static_cast<float>(random.normal());
    out.x.push_back({{0}, {value}});
    out.column.push_back({0});
    out.label.push_back(static_cast<Index>(t % 2));
    out.sign.push_back({1, -1});
  }
  return out;
}

TEST(online_cascade, follows_the_printed_algorithm_where_large_values_cancel) {
  const OnlineCascadeOptions options{.mix = {0}, .phi = {0.01}};
  for (std::size_t huge = 0; huge < 20; huge += 2) {
    const Stream stream = cancelling_stream(30, huge);
    OnlineCascade lazy(options, 2, 1, false);
    Printed printed(options, 2, 1);
    for (std::size_t t = 0; t < stream.x.size(); ++t) {
      const OnlineExample example = example_of(stream, t);
      online_step(lazy, {&example, 1});
      printed.step(stream, t);
      for (Index c = 0; c < 2; ++c) {
        const double expected = printed.increment(0)(c, 0);
        EXPECT_NEAR(lazy.weights(0, 0)[static_cast<std::size_t>(c)], expected,
                    1e-9 * std::max(1.0, std::abs(expected)));
      }
    }
    EXPECT_EQ(lazy.mistakes(), printed.mistakes);
  }
}

TEST(online_cascade, one_example_per_task_equals_a_shared_row_when_all_tasks_see_the_same_row) {
  const Index columns = 6, outputs = 3;
  const Stream stream = random_stream(80, columns, outputs, 2);
  const OnlineCascadeOptions options{
      .loss = JointLoss::multitask_hinge, .mix = {0, 0.5, 1}, .phi = {0.1, 0.05, 0.02}, .gamma = 1};
  OnlineCascade shared(options, outputs, columns, false), own(options, outputs, columns, true);
  for (std::size_t t = 0; t < stream.x.size(); ++t) {
    const OnlineExample example = example_of(stream, t);
    online_step(shared, {&example, 1});
    std::vector<OnlineExample> each;
    for (Index task = 0; task < outputs; ++task) {
      each.push_back(
          {example.column, example.value, task, example.sign.subspan(static_cast<std::size_t>(task), 1)});
    }
    online_step(own, each);
  }
  EXPECT_EQ(shared.mistakes(), own.mistakes());
  EXPECT_EQ(shared.predictions(), own.predictions());
  for (Index j = 0; j < columns; ++j) {
    for (Index l = 0; l < 3; ++l) {
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(shared.weights(l, j)[c], own.weights(l, j)[c], 1e-12);
    }
  }
}

// A step that uses few of the columns sorts them; other steps use a lookup table.
TEST(online_cascade, columns_far_apart_are_learned_as_columns_side_by_side) {
  const Index columns = 6, outputs = 3, apart = 1000;
  const Stream stream = random_stream(60, columns, outputs, 4);
  const OnlineCascadeOptions options{
      .loss = JointLoss::multitask_hinge, .mix = {0, 1}, .phi = {0.1, 0.02}, .gamma = 1};
  OnlineCascade near(options, outputs, columns, true), far(options, outputs, columns * apart, true);
  std::vector<std::vector<std::uint32_t>> spread = stream.column;
  for (auto& row : spread) {
    for (std::uint32_t& j : row) j *= static_cast<std::uint32_t>(apart);
  }
  for (std::size_t t = 0; t + 3 <= stream.x.size(); t += 3) {
    std::vector<OnlineExample> step, spread_step;
    for (std::size_t task = 0; task < 3; ++task) {
      OnlineExample example = example_of(stream, t + task);
      example.output = static_cast<Index>(task);
      example.sign = example.sign.subspan(task, 1);
      step.push_back(example);
      example.column = spread[t + task];
      spread_step.push_back(example);
    }
    online_step(near, step);
    online_step(far, spread_step);
  }
  EXPECT_EQ(near.mistakes(), far.mistakes());
  for (Index j = 0; j < columns; ++j) {
    for (Index l = 0; l < 2; ++l) EXPECT_EQ(near.weights(l, j), far.weights(l, j * apart));
  }
}

TEST(online_cascade, stored_and_read_back_it_goes_on_as_if_never_stopped) {
  Stream stream = random_stream(60, 5, 3, 3);
  // A row of weights whose sum of squares decreases again.
  stream.x[20].value[0] = stream.x[21].value[0] = 1e9F;
  const OnlineCascadeOptions options{.mix = {0, 1}, .phi = {0.05, 0.02}};
  OnlineCascade whole(options, 3, 5, false), first(options, 3, 5, false);
  const auto run = [&](OnlineCascade& cascade, std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const OnlineExample example = example_of(stream, t);
      online_step(cascade, {&example, 1});
    }
  };
  run(whole, 0, 60);
  run(first, 0, 25);
  ByteWriter out;
  first.write(out);
  ByteReader in(out.bytes(), "test");
  OnlineCascade second = OnlineCascade::read(in, 3);
  in.expect_end();
  run(second, 25, 60);
  EXPECT_EQ(whole.mistakes(), second.mistakes());
  for (Index l = 0; l < 2; ++l) {
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(whole.weights(l, j), second.weights(l, j));
  }
}

TEST(online_cascade, known_tasks_open_the_features_they_use_to_new_ones) {
  const OnlineCascadeOptions options{.loss = JointLoss::multitask_hinge, .mix = {0}, .phi = {0.3}};
  OnlineCascade plain(options, 1, 2, true), helped(options, 1, 2, true);
  helped.set_known_group(0, {4.0, 0.0});
  const std::vector<std::uint32_t> column{0, 1};
  const std::vector<float> value{0.2F, 0.2F};
  const std::vector<std::int8_t> sign{1};
  const OnlineExample example{column, value, 0, sign};
  online_step(plain, {&example, 1});
  online_step(helped, {&example, 1});
  EXPECT_EQ(plain.weights(0, 0)[0], 0);
  EXPECT_NEAR(helped.weights(0, 0)[0], 0.2 * (1 - 0.3 / std::sqrt(4.0 + 0.04)), 1e-7);
  EXPECT_EQ(helped.weights(0, 1)[0], 0);
  EXPECT_NEAR(helped.group_squares(0)[0], 4.04, 1e-6);
}

TEST(online_cascade, keeps_one_matrix_per_level) {
  const OnlineCascade cascade({.mix = {0, 0.5, 1}, .phi = {1, 1, 1}}, 64, 1000, false);
  EXPECT_LT(cascade.bytes(), 3 * 64 * 1000 * 8 * 1.1);
}

TEST(online_cascade, options_that_do_not_fit_are_named) {
  EXPECT_THROW(OnlineCascade({.mix = {0}, .phi = {}}, 2, 2, false), InputError);
  EXPECT_THROW(OnlineCascade({.mix = {0}, .phi = {1}, .gamma = 0}, 2, 2, false), InputError);
  EXPECT_THROW(OnlineCascade({.mix = {0}, .phi = {1}}, 1, 2, false), InputError);  // one class
}

}  // namespace
}  // namespace sharelearn
