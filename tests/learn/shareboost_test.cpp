#include "sharelearn/learn/shareboost.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "sharelearn/pool/columns.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

/// A slow ShareBoost written from the paper: gradients by the definition, corrective step by damped Newton
/// with the whole Hessian. It shares no code with the library.
class Reference {
 public:
  Reference(const DenseMatrix& x, std::vector<std::int32_t> y, Index k, bool bias, double ridge)
      : x_(x), y_(std::move(y)), k_(k), bias_(bias), ridge_(ridge) {}

  struct Round {
    Index feature;
    double score, objective;
  };

  std::vector<Round> run(Index rounds) {
    std::vector<Round> result;
    solve();
    for (Index t = 0; t < rounds; ++t) {
      Index best = -1;
      double best_score = -1;
      const Eigen::MatrixXd r = residual(scores(weights_));
      for (Index j = 0; j < x_.cols(); ++j) {
        if (std::find(chosen_.begin(), chosen_.end(), j) != chosen_.end()) continue;
        double score = 0;
        for (Index c = 0; c < k_; ++c) {
          double g = 0;
          for (Index i = 0; i < x_.rows(); ++i) g += x_(i, j) * r(i, c);
          score += std::abs(g);
        }
        if (score > best_score + 1e-12) best = j, best_score = score;
      }
      chosen_.push_back(best);
      solve();
      result.push_back({best, best_score, objective(weights_)});
    }
    return result;
  }

 private:
  Index size() const { return static_cast<Index>(chosen_.size()) + (bias_ ? 1 : 0); }
  double input(Index i, Index a) const {
    if (bias_ && a == size() - 1) return 1;
    return x_(i, chosen_[static_cast<std::size_t>(a)]);
  }
  Eigen::MatrixXd scores(const Eigen::MatrixXd& w) const {
    Eigen::MatrixXd s = Eigen::MatrixXd::Zero(x_.rows(), k_);
    for (Index i = 0; i < x_.rows(); ++i) {
      for (Index a = 0; a < size(); ++a) s.row(i) += input(i, a) * w.row(a);
    }
    return s;
  }
  Eigen::MatrixXd probabilities(const Eigen::MatrixXd& s) const {
    Eigen::MatrixXd rho(x_.rows(), k_);
    for (Index i = 0; i < x_.rows(); ++i) {
      const auto y = y_[static_cast<std::size_t>(i)];
      for (Index c = 0; c < k_; ++c) rho(i, c) = std::exp((c != y ? 1 : 0) - s(i, y) + s(i, c));
      rho.row(i) /= rho.row(i).sum();
    }
    return rho;
  }
  Eigen::MatrixXd residual(const Eigen::MatrixXd& s) const {
    Eigen::MatrixXd r = probabilities(s);
    for (Index i = 0; i < x_.rows(); ++i) r(i, y_[static_cast<std::size_t>(i)]) -= 1;
    return r / static_cast<double>(x_.rows());
  }
  double objective(const Eigen::MatrixXd& w) const {
    const Eigen::MatrixXd s = scores(w);
    double sum = 0;
    for (Index i = 0; i < x_.rows(); ++i) {
      const auto y = y_[static_cast<std::size_t>(i)];
      double total = 0;
      for (Index c = 0; c < k_; ++c) total += std::exp((c != y ? 1 : 0) - s(i, y) + s(i, c));
      sum += std::log(total);
    }
    const Index penalised = static_cast<Index>(chosen_.size());
    return sum / static_cast<double>(x_.rows()) + ridge_ * w.topRows(penalised).squaredNorm();
  }
  /// Weights [column, then bias] x class.
  void solve() {
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(size(), k_);
    const Index known = std::max<Index>(0, weights_.rows() - (bias_ ? 1 : 0));
    if (known > 0) w.topRows(known) = weights_.topRows(known);
    if (bias_ && weights_.rows() > 0) w.row(size() - 1) = weights_.row(weights_.rows() - 1);
    const Index n = size() * k_;
    for (int step = 0; step < 60 && n > 0; ++step) {
      const Eigen::MatrixXd s = scores(w), rho = probabilities(s), r = residual(s);
      Eigen::VectorXd g = Eigen::VectorXd::Zero(n);
      Eigen::MatrixXd h = Eigen::MatrixXd::Identity(n, n) * 1e-11;
      for (Index i = 0; i < x_.rows(); ++i) {
        for (Index a = 0; a < size(); ++a) {
          for (Index c = 0; c < k_; ++c) g(a * k_ + c) += input(i, a) * r(i, c);
          for (Index b = 0; b < size(); ++b) {
            const double xx = input(i, a) * input(i, b) / static_cast<double>(x_.rows());
            for (Index c = 0; c < k_; ++c) {
              for (Index e = 0; e < k_; ++e) {
                h(a * k_ + c, b * k_ + e) += xx * ((c == e ? rho(i, c) : 0) - rho(i, c) * rho(i, e));
              }
            }
          }
        }
      }
      for (Index a = 0; a < static_cast<Index>(chosen_.size()); ++a) {
        for (Index c = 0; c < k_; ++c) {
          g(a * k_ + c) += 2 * ridge_ * w(a, c);
          h(a * k_ + c, a * k_ + c) += 2 * ridge_;
        }
      }
      if (g.norm() < 1e-12) break;
      const Eigen::VectorXd d = h.ldlt().solve(g);
      double size_of_step = 1;
      const double now = objective(w);
      for (int halving = 0; halving < 30; ++halving, size_of_step /= 2) {
        Eigen::MatrixXd next = w;
        for (Index v = 0; v < n; ++v) next(v / k_, v % k_) -= size_of_step * d(v);
        if (objective(next) <= now) {
          w = next;
          break;
        }
      }
    }
    weights_ = w;
  }

  const DenseMatrix& x_;
  std::vector<std::int32_t> y_;
  Index k_;
  bool bias_;
  double ridge_;
  std::vector<Index> chosen_;
  Eigen::MatrixXd weights_;
};

TEST(ShareBoost, chooses_the_reference_features_and_reaches_its_objective) {
  ThreadPool threads(2);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const DenseMatrix x = test::random_dense(150, 12, seed);
    const auto y = test::random_labels(x, 3, seed);
    for (const bool bias : {true, false}) {
      for (const double ridge : {0.0, 0.01}) {
        const auto expected = Reference(x, y, 3, bias, ridge).run(5);
        const Matrix matrix(x);
        ColumnPool pool(matrix);
        const MulticlassLogistic loss(y, 3, test::equal_weights(150), 1);
        ShareBoostOptions options{.features = 5, .bias = bias, .penalty = {.ridge = ridge}};
        options.corrective.tolerance = 1e-12;
        const ShareBoostResult result = shareboost(pool, loss, options, {threads});
        ASSERT_EQ(result.chosen.size(), 5U);
        for (std::size_t t = 0; t < 5; ++t) {
          EXPECT_EQ(result.chosen[t], expected[t].feature);
          EXPECT_NEAR(result.stages[t + 1].score, expected[t].score, 1e-4);
          EXPECT_NEAR(result.stages[t + 1].report.objective, expected[t].objective, 1e-7);
        }
      }
    }
  }
}

/// Section 6, first example: x = [bin(y), 2 log2(k) e^y].
DenseMatrix binary_code(Index k, std::vector<std::int32_t>& y) {
  const auto bits = static_cast<Index>(std::lround(std::log2(static_cast<double>(k))));
  DenseMatrix x(k, bits + k);
  for (Index c = 0; c < k; ++c) {
    for (Index b = 0; b < bits; ++b) x(c, b) = ((c >> b) & 1) != 0 ? 1.0F : -1.0F;
    x(c, bits + c) = static_cast<float>(2 * bits);
    y.push_back(static_cast<std::int32_t>(c));
  }
  return x;
}

/// Without a ridge no weights are optimal once the rows are separated: rounds that are corrected loosely end
/// after few steps, also the last one.
TEST(ShareBoost, loose_rounds_on_separated_rows_take_few_steps) {
  constexpr Index kRows = 45, kFeatures = 36;
  ThreadPool threads(1);
  const Matrix x(test::random_dense(kRows, 40, 21));
  std::vector<std::int32_t> y;  // unrelated to the columns
  for (Index i = 0; i < kRows; ++i) y.push_back(static_cast<std::int32_t>((i * i + i / 7) % 3));
  ColumnPool pool(x);
  const MulticlassLogistic loss(y, 3, test::equal_weights(kRows), 1);
  ShareBoostOptions options{.features = kFeatures};
  options.last = options.corrective;
  options.corrective.relative_gradient = 0.1;
  Grid<double> scores;
  const ShareBoostResult result =
      shareboost(pool, loss, options, {threads}, [&](const ShareBoostResult&, const Grid<double>& now) {
        scores = now;
        return true;
      });
  for (Index i = 0; i < kRows; ++i) {
    for (Index c = 0; c < 3; ++c) {
      const Index own = y[static_cast<std::size_t>(i)];
      EXPECT_TRUE(c == own || scores(i, own) > scores(i, c)) << "row " << i << " is not separated";
    }
  }
  for (const ShareBoostStage& stage : result.stages) {
    EXPECT_TRUE(stage.report.converged);
    EXPECT_LE(stage.report.iterations, 40);
    for (const double w : stage.weights) EXPECT_LT(std::abs(w), 1e4);
  }
}

TEST(ShareBoost, separates_32_binary_coded_classes_with_five_features) {
  ThreadPool threads(1);
  std::vector<std::int32_t> y;
  const Matrix x(binary_code(32, y));
  ColumnPool pool(x);
  const MulticlassLogistic loss(y, 32, test::equal_weights(32), 1);
  const ShareBoostResult result = shareboost(pool, loss, {.features = 5, .bias = false}, {threads});
  ASSERT_EQ(result.chosen.size(), 5U);
  for (const Index column : result.chosen) EXPECT_LT(column, 5) << "a bit, not an indicator";
  EXPECT_LT(result.stages.back().report.loss, 1e-3);
}

TEST(ShareBoost, stops_when_nothing_is_left_to_gain) {
  ThreadPool threads(1);
  std::vector<std::int32_t> y;
  const Matrix x(binary_code(8, y));
  ColumnPool pool(x);
  const MulticlassLogistic loss(y, 8, test::equal_weights(8), 1);
  const ShareBoostResult result = shareboost(pool, loss, {.features = 11, .bias = false}, {threads});
  EXPECT_EQ(result.stop, ShareBoostStop::no_gain);
  EXPECT_LT(result.chosen.size(), 11U);
  for (const double w : result.stages.back().weights) EXPECT_LT(std::abs(w), 1000);
}

TEST(ShareBoost, a_cancelled_run_returns_the_path_so_far) {
  class AfterTwo : public Monitor {
   public:
    mutable int asked = 0;
    bool cancelled() const override { return ++asked > 2; }
  } monitor;
  ThreadPool threads(1);
  const Matrix x(test::random_dense(100, 8, 9));
  ColumnPool pool(x);
  const MulticlassLogistic loss(test::random_labels(x.to_dense(), 3, 9), 3, test::equal_weights(100), 1);
  const ShareBoostResult result = shareboost(pool, loss, {.features = 8}, {threads, monitor});
  EXPECT_EQ(result.stop, ShareBoostStop::cancelled);
  EXPECT_EQ(result.chosen.size(), 2U);
}

}  // namespace
}  // namespace sharelearn
