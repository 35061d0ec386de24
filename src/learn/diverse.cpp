#include "learn/diverse.hpp"

#include <Eigen/Dense>

namespace sharelearn {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

/// Curvature of each row, summed over the outputs.
VectorXd row_weights(const Loss& loss, const Grid<double>& scores) {
  Grid<double> curvature(loss.rows(), loss.outputs());
  loss.curvature({0, loss.rows()}, scores, curvature);
  VectorXd sum = VectorXd::Zero(loss.rows());
  for (Index c = 0; c < loss.outputs(); ++c) sum += VectorXd::Map(curvature.column(c), loss.rows());
  return sum;
}

/// Columns and gradients of a shortlist, from which what has been picked is projected out: a pivoted Cholesky
/// factorisation of the columns' Gram matrix that carries the gradients along.
class Deflation {
 public:
  Deflation(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
            std::span<const Ranked> shortlist)
      : gram_(MatrixXf::Zero(std::ssize(shortlist), std::ssize(shortlist))),
        gradient_(loss.outputs(), std::ssize(shortlist)) {
    const VectorXd weight = row_weights(loss, solution.scores);
    const VectorXf share = (weight / weight.sum()).cast<float>(), root = weight.cwiseSqrt().cast<float>();
    const auto residual =
        MatrixXd::Map(solution.residual.column(0), solution.residual.stride(), loss.outputs())
            .topRows(pool.rows());
    Grid<float> values(pool.rows(), 1);
    MatrixXf columns(pool.rows(), gram_.cols());
    for (Index a = 0; a < columns.cols(); ++a) {
      pool.values(shortlist[static_cast<std::size_t>(a)].candidate, values, 0);
      const auto column = VectorXf::Map(values.column(0), pool.rows());
      gradient_.col(a).noalias() = residual.transpose() * column.cast<double>();
      columns.col(a) = (column.array() - share.dot(column)) * root.array();
    }
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
    gram_.triangularView<Eigen::StrictlyUpper>() = gram_.transpose();
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
  static constexpr float kNothingLeft = 1e-4F;  // of a column's square: those picked combine to it

  MatrixXf gram_;
  MatrixXd gradient_;  // outputs x columns
  VectorXf least_;
};

}  // namespace

std::vector<Ranked> pick_diverse(const Pool& pool, const Loss& loss, const CorrectiveState& solution,
                                 std::span<const Ranked> shortlist, const RankOptions& options) {
  Deflation left(pool, loss, solution, shortlist);
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
