#include "solve/support_newton.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sharelearn {
namespace {

constexpr int kMostProducts = 60;
constexpr int kMostProductsOfDiagonal = 300;
/// Keeps the preconditioner's blocks positive definite where a weight has hardly any curvature.
constexpr double kBlockRidge = 1e-5;
/// A direction is flat if its curvature is below this fraction of the preconditioner's. A loss that is
/// saturated on all rows has derivatives of 1e-300; a step along such a direction would not be finite.
constexpr double kFlat = 1e-30;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The linear system and its preconditioner.
class SupportSystem {
 public:
  SupportSystem(const SupportPoint& point, ThreadPool& threads)
      : point_(point),
        threads_(threads),
        outputs_(static_cast<std::size_t>(point.loss.outputs())),
        state_(point.loss.rows(), point.loss.outputs()),
        image_(point.loss.rows(), point.loss.outputs()),
        factors_(outputs_) {
    for (std::size_t j = 0; j < point.lambda.size(); ++j) rows_.push_back(penalty_of(j));
    for_each_row_block(point.loss.rows(), threads_,
                       [&](RowRange block, int) { point.loss.hessian(block, point.scores, state_); });
    find_free();
    if (point.metric != nullptr) {
      threads_.for_each(static_cast<Index>(outputs_), [&](Index c, int) { factorise(c); });
    } else {
      find_diagonal();
    }
  }

  /// - gradient of the objective, on the free weights.
  std::vector<double> right_side() const {
    std::vector<double> right(point_.weights.size(), 0.0);
    for (std::size_t at = 0; at < right.size(); ++at) {
      if (!free_[at]) continue;
      right[at] = -point_.gradient[at] - rows_[at / outputs_].slope[at % outputs_];
    }
    keep_ties(right);
    return right;
  }

  std::vector<double> times(const std::vector<double>& v) {
    image_.fill(0);
    point_.columns.add_product(v, image_, threads_);
    for_each_row_block(image_.rows(), threads_, [&](RowRange range, int) {
      point_.loss.hessian_times(range.begin, range.size(), state_, image_.data() + range.begin,
                                image_.stride());
    });
    std::vector<double> product(v.size());
    point_.columns.transposed_product(image_, product, threads_);
    for (std::size_t j = 0; j < rows_.size(); ++j) add_penalty(j, v, product);
    for (std::size_t at = 0; at < product.size(); ++at) {
      if (!free_[at]) product[at] = 0;
    }
    keep_ties(product);
    return product;
  }

  std::vector<double> precondition(const std::vector<double>& v) const {
    std::vector<double> solved = point_.metric != nullptr ? solve_blocks(v) : divide(v);
    keep_ties(solved);
    return solved;
  }

  int most_products() const { return point_.metric != nullptr ? kMostProducts : kMostProductsOfDiagonal; }

 private:
  /// Projects v onto the vectors whose tied weights move together.
  void keep_ties(std::vector<double>& v) const {
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const std::vector<double>& tied = rows_[j].tied;
      double along = 0, count = 0;
      for (std::size_t c = 0; c < tied.size(); ++c) {
        along += tied[c] * v[j * outputs_ + c];
        count += std::abs(tied[c]);
      }
      for (std::size_t c = 0; c < tied.size(); ++c) {
        if (tied[c] != 0) v[j * outputs_ + c] = tied[c] * along / count;
      }
    }
  }

  std::vector<double> divide(const std::vector<double>& v) const {
    std::vector<double> solved(v.size(), 0.0);
    for (std::size_t at = 0; at < v.size(); ++at) {
      if (free_[at]) solved[at] = v[at] / diagonal_[at];
    }
    return solved;
  }

  /// Solves with the diagonal block of every output.
  std::vector<double> solve_blocks(const std::vector<double>& v) const {
    std::vector<double> solved(v.size(), 0.0);
    threads_.for_each(static_cast<Index>(outputs_), [&](Index c, int) {
      const auto output = static_cast<std::size_t>(c);
      const std::vector<Index>& columns = free_columns_[output];
      Eigen::VectorXd block(static_cast<Eigen::Index>(columns.size()));
      for (std::size_t a = 0; a < columns.size(); ++a) {
        block(static_cast<Eigen::Index>(a)) = v[static_cast<std::size_t>(columns[a]) * outputs_ + output];
      }
      factors_[output].solveInPlace(block);
      for (std::size_t a = 0; a < columns.size(); ++a) {
        solved[static_cast<std::size_t>(columns[a]) * outputs_ + output] =
            block(static_cast<Eigen::Index>(a));
      }
    });
    return solved;
  }

  std::span<const double> row_of(std::span<const double> all, std::size_t j) const {
    return all.subspan(j * outputs_, outputs_);
  }

  bool is_zero(std::size_t j) const {
    const auto row = row_of(point_.weights, j);
    return std::all_of(row.begin(), row.end(), [](double w) { return w == 0; });
  }

  /// lambda times the penalty's derivatives; zero for rows that are zero.
  RowDerivatives penalty_of(std::size_t j) const {
    RowDerivatives row{std::vector<double>(outputs_, 0.0)};
    const bool has_kink = point_.penalty.zero_pattern() != ZeroPattern::nothing;
    if (point_.lambda[j] == 0 || (has_kink && is_zero(j))) return row;
    row = point_.penalty.derivatives(row_of(point_.weights, j));
    for (double& slope : row.slope) slope *= point_.lambda[j];
    row.curvature *= point_.lambda[j];
    return row;
  }

  /// Free weights are the nonzero ones; all weights of a nonzero row where the penalty removes whole rows;
  /// all weights where the penalty sets nothing to zero.
  void find_free() {
    free_.assign(point_.weights.size(), 0);
    free_columns_.resize(outputs_);
    const bool single = point_.penalty.zero_pattern() == ZeroPattern::weights;
    const bool all = point_.penalty.zero_pattern() == ZeroPattern::nothing;
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const auto row = row_of(point_.weights, j);
      const bool used = all || point_.lambda[j] == 0 || !is_zero(j);
      for (std::size_t c = 0; c < outputs_; ++c) {
        if (!used || (single && point_.lambda[j] > 0 && row[c] == 0)) continue;
        free_[j * outputs_ + c] = 1;
        free_columns_[c].push_back(static_cast<Index>(j));
      }
    }
  }

  void add_penalty(std::size_t j, const std::vector<double>& v, std::vector<double>& product) const {
    const RowDerivatives& row = rows_[j];
    if (row.curvature == 0) return;
    double along = 0;
    for (std::size_t c = 0; c < row.unit.size(); ++c) along += row.unit[c] * v[j * outputs_ + c];
    for (std::size_t c = 0; c < outputs_; ++c) {
      const double unit = row.unit.empty() ? 0 : row.unit[c];
      product[j * outputs_ + c] += row.curvature * (v[j * outputs_ + c] - unit * along);
    }
  }

  /// Second derivative of the penalty by one weight.
  double own_curvature(std::size_t j, std::size_t output) const {
    const RowDerivatives& row = rows_[j];
    const double unit = row.unit.empty() ? 0 : row.unit[output];
    return row.curvature * (1 - unit * unit);
  }

  void find_diagonal() {
    Grid<double> curvature(point_.loss.rows(), point_.loss.outputs());
    for_each_row_block(curvature.rows(), threads_,
                       [&](RowRange block, int) { point_.loss.curvature(block, point_.scores, curvature); });
    const std::vector<double> whole = point_.columns.squares(point_.loss.weights(), threads_);
    diagonal_.resize(free_.size());
    for (std::size_t c = 0; c < outputs_; ++c) {
      const std::vector<double> squares =
          point_.columns.squares(curvature.column_span(static_cast<Index>(c)), threads_);
      for (std::size_t j = 0; j < rows_.size(); ++j) {
        diagonal_[j * outputs_ + c] = squares[j] + own_curvature(j, c) + kFlat * whole[j] + 1e-300;
      }
    }
  }

  void factorise(Index c) {
    const auto output = static_cast<std::size_t>(c);
    const std::vector<Index>& columns = free_columns_[output];
    const auto count = static_cast<Eigen::Index>(columns.size());
    Eigen::MatrixXd block(count, count);
    for (Eigen::Index a = 0; a < count; ++a) {
      const Index j = columns[static_cast<std::size_t>(a)];
      for (Eigen::Index b = 0; b <= a; ++b) {
        block(a, b) = point_.metric->own(c, j, columns[static_cast<std::size_t>(b)]);
      }
      block(a, a) =
          block(a, a) * (1 + kBlockRidge) + own_curvature(static_cast<std::size_t>(j), output) + 1e-300;
    }
    factors_[output].compute(block);
  }

  const SupportPoint& point_;
  ThreadPool& threads_;
  std::size_t outputs_;
  Grid<double> state_, image_;
  std::vector<RowDerivatives> rows_;              ///< of lambda times the penalty
  std::vector<char> free_;                        ///< [column][output]
  std::vector<std::vector<Index>> free_columns_;  ///< of each output
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors_;
  std::vector<double> diagonal_;  ///< [column][output], where there are no factors
};

}  // namespace

SupportStep support_newton_step(const SupportPoint& point, double accuracy, ThreadPool& threads) {
  SupportSystem system(point, threads);
  std::vector<double> residual = system.right_side();
  std::vector<double> step(residual.size(), 0.0);
  std::vector<double> scaled = system.precondition(residual);
  std::vector<double> direction = scaled;
  double size = dot(residual, scaled);
  const double enough = accuracy * accuracy * size;
  for (int product = 0; product < system.most_products() && size > enough; ++product) {
    const std::vector<double> image = system.times(direction);
    const double curvature = dot(direction, image);
    if (!(curvature > kFlat * size)) return {std::move(step), std::numeric_limits<double>::infinity()};
    const double length = size / curvature;
    for (std::size_t at = 0; at < step.size(); ++at) {
      step[at] += length * direction[at];
      residual[at] -= length * image[at];
    }
    scaled = system.precondition(residual);
    const double next = dot(residual, scaled);
    for (std::size_t at = 0; at < step.size(); ++at) {
      direction[at] = scaled[at] + next / size * direction[at];
    }
    size = next;
  }
  return {std::move(step), size};
}

}  // namespace sharelearn
