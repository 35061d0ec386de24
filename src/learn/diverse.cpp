#include "learn/diverse.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "data/to_size.hpp"
#include "kernels/kernels.hpp"
#include "run/ranks.hpp"

namespace sharelearn {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

std::span<double> numbers_of(MatrixXd& matrix) {
  return {matrix.data(), to_size(matrix.size())};
}

/// Columns and gradients of a shortlist, with the picked columns projected out: a pivoted Cholesky
/// factorisation of the columns' Gram matrix that also updates the gradients.
class Deflation {
 public:
  Deflation(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
            std::span<const Ranked> shortlist, ThreadPool& threads)
      : gradient_(loss.outputs(), std::ssize(shortlist)) {
    const Index count = std::ssize(shortlist), rows = pool.rows();
    Grid<float> columns(rows, count);
    for (Index a = 0; a < count; ++a) pool.values(shortlist[to_size(a)].candidate, columns, a);
    sum_blocks(rows, numbers_of(gradient_), threads, [&](RowRange block, std::span<double> sums) {
      kernels::correlate({columns.data() + block.begin, columns.stride(), count},
                         kernels::Block<double>{solution.residual.data() + block.begin,
                                                solution.residual.stride(), loss.outputs()},
                         block.size(), sums.data());
    });
    scale(columns, loss, solution.scores, threads);
    MatrixXd gram(count, count);
    sum_blocks(rows, numbers_of(gram), threads, [&](RowRange block, std::span<double> sums) {
      const kernels::Block<float> x{columns.data() + block.begin, columns.stride(), count};
      kernels::correlate(x, x, block.size(), sums.data());
    });
    gram_ = gram.cast<float>();
    least_ = kNothingLeft * gram_.diagonal();
  }

  Index size() const { return gram_.cols(); }
  bool is_spent(Index a) const { return !(gram_(a, a) > least_[a]); }
  std::span<const double> gradient(Index a) const {
    return {gradient_.col(a).data(), static_cast<std::size_t>(gradient_.rows())};
  }
  void project_out(Index a) {
    const VectorXf along = gram_.col(a) / gram_(a, a);
    const VectorXd fitted = gradient_.col(a);
    gradient_.noalias() -= fitted * along.cast<double>().transpose();
    const VectorXf row = gram_.col(a);
    gram_.noalias() -= along * row.transpose();
    gram_(a, a) = 0;
  }

 private:
  /// Centres the columns and multiplies them by the root of the row weights: the curvature, summed over the
  /// outputs.
  static void scale(Grid<float>& columns, const Loss& loss, const Grid<double>& scores, ThreadPool& threads) {
    const Index count = columns.cols();
    Grid<double> curvature(loss.rows(), loss.outputs());
    std::vector<double> weight(to_size(loss.rows())), sums(to_size(count + 1));  // the last: of the weights
    sum_blocks(loss.rows(), sums, threads, [&](RowRange block, std::span<double> out) {
      loss.curvature(block, scores, curvature);
      for (Index i = block.begin; i < block.end; ++i) {
        for (Index c = 0; c < loss.outputs(); ++c) weight[to_size(i)] += curvature(i, c);
        out.back() += weight[to_size(i)];
        for (Index a = 0; a < count; ++a) out[to_size(a)] += weight[to_size(i)] * columns(i, a);
      }
    });
    for (Index a = 0; a < count; ++a) {
      const auto mean = static_cast<float>(sums[to_size(a)] / sums.back());
      for (Index i = 0; i < loss.rows(); ++i) {
        columns(i, a) = (columns(i, a) - mean) * static_cast<float>(std::sqrt(weight[to_size(i)]));
      }
    }
  }

  static constexpr float kNothingLeft = 1e-4F;  // of a column's square: a combination of picked columns

  MatrixXf gram_;
  MatrixXd gradient_;  // outputs x columns
  VectorXf least_;
};

}  // namespace

std::vector<Ranked> pick_diverse(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
                                 std::span<const Ranked> shortlist, const RankOptions& options,
                                 ThreadPool& threads) {
  Deflation left(pool, loss, solution, shortlist, threads);
  std::vector<Ranked> picked;
  while (std::ssize(picked) < options.count) {
    Index best = -1;
    Ranked pick;
    for (Index a = 0; a < left.size(); ++a) {
      if (left.is_spent(a)) continue;
      const Index candidate = shortlist[static_cast<std::size_t>(a)].candidate;
      const double cost = options.cost.empty() ? 1 : options.cost[static_cast<std::size_t>(candidate)];
      const double score = norm_of(left.gradient(a), options.norm) / cost;
      if (score <= pick.score) continue;
      pick = {candidate, score};
      best = a;
    }
    if (best < 0) break;
    picked.push_back(pick);
    left.project_out(best);
  }
  return picked;
}

}  // namespace sharelearn
