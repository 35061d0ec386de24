#include "solve/support_newton.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "solve/compact_hessian.hpp"

namespace sharelearn {
namespace {

constexpr int kMostProducts = 60;
constexpr int kMostProductsOfDiagonal = 300;
/// Keeps the preconditioner's blocks positive definite where a weight has hardly any curvature.
constexpr double kBlockRidge = 1e-5;
/// A direction is flat if its curvature is below this fraction of the preconditioner's. A loss that is
/// saturated on all rows has derivatives of 1e-300; a step along such a direction would not be finite.
constexpr double kFlat = 1e-30;

/// Systems that are solved less accurately than this need no more than single precision and the second
/// derivatives that are not negligible.
constexpr double kRoughest = 1e-3;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

struct SupportMemory::Parts {
  CompactHessian compact;
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors;  ///< of each output; empty if there are none to keep
};

SupportMemory::SupportMemory() : parts_(std::make_unique<Parts>()) {}
SupportMemory::~SupportMemory() = default;

void SupportMemory::clear() {
  parts_->factors.clear();
}

/// The linear system and its preconditioner.
class SupportSystem {
 public:
  SupportSystem(const SupportPoint& point, bool exact, ThreadPool& threads)
      : point_(point),
        threads_(threads),
        outputs_(static_cast<std::size_t>(point.loss.outputs())),
        own_memory_(point.memory == nullptr ? std::make_unique<SupportMemory>() : nullptr),
        memory_(*(point.memory == nullptr ? *own_memory_ : *point.memory).parts_),
        frozen_(point.penalty.zero_pattern() == ZeroPattern::nothing ? point.frozen : 1) {
    for (std::size_t j = 0; j < point.lambda.size(); ++j) rows_.push_back(penalty_of(j));
    find_free();
    std::vector<Index> used = used_columns();
    const auto is_dense = [&](Index j) { return point.columns.dense(j) != nullptr; };
    if (!exact && std::ranges::all_of(used, is_dense)) {
      is_compact_ = true;
      memory_.compact.reset(point.loss, point.columns, std::move(used), point.scores, threads_);
    } else {
      prepare_exact();
    }
    if (point.metric != nullptr) {
      factorise_all();
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
    std::vector<double> product(v.size());
    if (is_compact_) {
      memory_.compact.times(v, product, threads_);
    } else {
      multiply_exactly(v, product);
    }
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

  bool is_compact() const { return is_compact_; }
  int most_products() const { return point_.metric != nullptr ? kMostProducts : kMostProductsOfDiagonal; }

 private:
  void prepare_exact() {
    state_ = image_ = Grid<double>(point_.loss.rows(), point_.loss.outputs());
    for_each_row_block(state_.rows(), threads_,
                       [&](RowRange block, int) { point_.loss.hessian(block, point_.scores, state_); });
  }

  void multiply_exactly(const std::vector<double>& v, std::vector<double>& product) {
    image_.fill(0);
    point_.columns.add_product(v, image_, threads_);
    for_each_row_block(image_.rows(), threads_, [&](RowRange range, int) {
      point_.loss.hessian_times(range.begin, range.size(), state_, image_.data() + range.begin,
                                image_.stride());
    });
    point_.columns.transposed_product(image_, product, threads_);
  }

  /// The columns with a free weight.
  std::vector<Index> used_columns() const {
    std::vector<Index> used;
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const auto row = free_.begin() + static_cast<std::ptrdiff_t>(j * outputs_);
      const auto end = row + static_cast<std::ptrdiff_t>(outputs_);
      if (std::find(row, end, char{1}) != end) used.push_back(static_cast<Index>(j));
    }
    return used;
  }

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

  /// The sign with which a weight moves along with others of its row; 0 if it moves alone.
  double sign_of(std::size_t j, std::size_t output) const {
    return rows_[j].tied.empty() ? 0 : rows_[j].tied[output];
  }

  /// Solves with the diagonal block of every output, and with the block of the tied weights.
  std::vector<double> solve_blocks(const std::vector<double>& v) const {
    std::vector<double> solved(v.size(), 0.0);
    threads_.for_each(std::ssize(memory_.factors), [&](Index block, int) {
      const auto output = static_cast<std::size_t>(block);
      if (output == outputs_) return solve_ties(v, solved);
      const std::vector<Index>& columns = free_columns_[output];
      Eigen::VectorXd own(std::ssize(columns));
      for (std::size_t a = 0; a < columns.size(); ++a) {
        own(static_cast<Eigen::Index>(a)) = v[static_cast<std::size_t>(columns[a]) * outputs_ + output];
      }
      memory_.factors[output].solveInPlace(own);
      for (std::size_t a = 0; a < columns.size(); ++a) {
        solved[static_cast<std::size_t>(columns[a]) * outputs_ + output] = own(static_cast<Eigen::Index>(a));
      }
    });
    return solved;
  }

  void solve_ties(const std::vector<double>& v, std::vector<double>& solved) const {
    Eigen::VectorXd level(std::ssize(tied_columns_));
    for (std::size_t a = 0; a < tied_columns_.size(); ++a) {
      const auto j = static_cast<std::size_t>(tied_columns_[a]);
      double along = 0;
      for (std::size_t c = 0; c < outputs_; ++c) along += sign_of(j, c) * v[j * outputs_ + c];
      level(static_cast<Eigen::Index>(a)) = along;
    }
    memory_.factors[outputs_].solveInPlace(level);
    for (std::size_t a = 0; a < tied_columns_.size(); ++a) {
      const auto j = static_cast<std::size_t>(tied_columns_[a]);
      for (std::size_t c = 0; c < outputs_; ++c) {
        if (sign_of(j, c) != 0)
          solved[j * outputs_ + c] = sign_of(j, c) * level(static_cast<Eigen::Index>(a));
      }
    }
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
        if (sign_of(j, c) == 0) free_columns_[c].push_back(static_cast<Index>(j));
      }
      if (std::ranges::any_of(rows_[j].tied, [](double sign) { return sign != 0; }))
        tied_columns_.push_back(static_cast<Index>(j));
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

  /// Kept factors are those of all columns.
  void factorise_all() {
    const bool keeps = point_.memory != nullptr && point_.penalty.zero_pattern() == ZeroPattern::nothing;
    if (keeps && !memory_.factors.empty()) return;
    memory_.factors.resize(outputs_ + (tied_columns_.empty() ? 0 : 1));
    threads_.for_each(std::ssize(memory_.factors), [&](Index block, int) {
      if (block < static_cast<Index>(outputs_)) return factorise(block);
      factorise_ties();
    });
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
      block(a, a) = block(a, a) * (1 + kBlockRidge) +
                    frozen_ * own_curvature(static_cast<std::size_t>(j), output) + 1e-300;
    }
    memory_.factors[output].compute(block);
  }

  /// The weights of a row that are tied are one variable: its block adds those of the outputs.
  void factorise_ties() {
    const Eigen::Index count = std::ssize(tied_columns_);
    Eigen::MatrixXd block = Eigen::MatrixXd::Zero(count, count);
    for (Eigen::Index a = 0; a < count; ++a) {
      const Index j = tied_columns_[static_cast<std::size_t>(a)];
      for (Eigen::Index b = 0; b <= a; ++b) {
        const Index l = tied_columns_[static_cast<std::size_t>(b)];
        for (std::size_t c = 0; c < outputs_; ++c) {
          const double sign =
              sign_of(static_cast<std::size_t>(j), c) * sign_of(static_cast<std::size_t>(l), c);
          if (sign != 0) block(a, b) += sign * point_.metric->own(static_cast<Index>(c), j, l);
        }
      }
      block(a, a) = block(a, a) * (1 + kBlockRidge) + 1e-300;
    }
    memory_.factors[outputs_].compute(block);
  }

  const SupportPoint& point_;
  ThreadPool& threads_;
  std::size_t outputs_;
  std::unique_ptr<SupportMemory> own_memory_;
  SupportMemory::Parts& memory_;
  double frozen_;
  bool is_compact_ = false;
  Grid<double> state_, image_;                    ///< if it is not compact
  std::vector<RowDerivatives> rows_;              ///< of lambda times the penalty
  std::vector<char> free_;                        ///< [column][output]
  std::vector<std::vector<Index>> free_columns_;  ///< of each output: those whose weight moves alone
  std::vector<Index> tied_columns_;               ///< those with weights that move together
  std::vector<double> diagonal_;                  ///< [column][output], where there are no factors
};

namespace {

/// Preconditioned conjugate gradients.
SupportStep solve(SupportSystem& system, double accuracy) {
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

}  // namespace

SupportStep support_newton_step(const SupportPoint& point, double accuracy, ThreadPool& threads) {
  if (accuracy >= kRoughest && point.memory != nullptr) {
    SupportSystem system(point, false, threads);
    SupportStep step = solve(system, accuracy);
    // Curvature that vanishes in single precision may not be zero.
    if (std::isfinite(step.left) || !system.is_compact()) return step;
  }
  SupportSystem system(point, true, threads);
  return solve(system, accuracy);
}

}  // namespace sharelearn
