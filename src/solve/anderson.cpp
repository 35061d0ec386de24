#include "solve/anderson.hpp"

#include <Eigen/Cholesky>
#include <numeric>

namespace sharelearn {

void Anderson::push(std::vector<double> residual) {
  residuals_.push_back(std::move(residual));
  if (residuals_.size() > memory_) residuals_.pop_front();
}

std::vector<double> Anderson::coefficients() const {
  const auto count = static_cast<Eigen::Index>(residuals_.size());
  if (count < 2) return {};
  Eigen::MatrixXd gram(count, count);
  for (Eigen::Index a = 0; a < count; ++a) {
    const auto& left = residuals_[static_cast<std::size_t>(a)];
    for (Eigen::Index b = 0; b <= a; ++b) {
      const auto& right = residuals_[static_cast<std::size_t>(b)];
      gram(a, b) = gram(b, a) = std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
    }
  }
  const double trace = gram.trace();
  if (!(trace > 0)) return {};
  gram.diagonal().array() += 1e-12 * trace;
  const Eigen::VectorXd solved = gram.ldlt().solve(Eigen::VectorXd::Ones(count));
  const double sum = solved.sum();
  if (!std::isfinite(sum) || sum == 0) return {};
  std::vector<double> result(static_cast<std::size_t>(count));
  for (Eigen::Index a = 0; a < count; ++a) result[static_cast<std::size_t>(a)] = solved(a) / sum;
  return result;
}

}  // namespace sharelearn
