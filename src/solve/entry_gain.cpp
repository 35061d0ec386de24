#include "solve/entry_gain.hpp"

#include <Eigen/Dense>

#include "data/to_size.hpp"
#include "kernels/kernels.hpp"
#include "run/ranks.hpp"
#include "solve/column_set.hpp"

namespace sharelearn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Fraction of a column's own curvature that always remains: less is rounding of sums in float32.
constexpr double kLeastLeft = 1e-5;

/// First column of every group, and the end of the last.
std::vector<Index> ends_of(std::span<const Index> sizes) {
  std::vector<Index> first(sizes.size() + 1, 0);
  for (std::size_t g = 0; g < sizes.size(); ++g) first[g + 1] = first[g] + sizes[g];
  return first;
}

/// X' D x of the columns in use (and the bias, last) with every joining column, and of joining columns with
/// those of their own group, for one diagonal D.
struct Products {
  RowMajor cross;                ///< columns in use x joining columns
  std::vector<RowMajor> within;  ///< of each group
};

/// The products with each of the preconditioner's diagonals.
std::vector<Products> products_of(const DesignProblem& problem, const Preconditioner& preconditioner,
                                  const Grid<float>& joining, std::span<const Index> first) {
  const Index used = problem.columns(), count = joining.cols(), groups = std::ssize(first) - 1;
  const Index variables = used + (problem.has_bias() ? 1 : 0);
  std::vector<std::size_t> at(to_size(groups) + 1, to_size(variables * count));
  for (std::size_t g = 0; g + 1 < at.size(); ++g) {
    const Index size = first[g + 1] - first[g];
    at[g + 1] = at[g] + to_size(size * size);
  }
  const std::vector<float> ones(to_size(kBlockRows), 1.0F);
  const auto add = [&](std::span<const float> d, RowRange range, Grid<float>& scaled,
                       std::span<double> sums) {
    for (Index j = 0; j < count; ++j) {
      const float* column = joining.column(j) + range.begin;
      float* to = scaled.column(j);
      for (Index i = 0; i < range.size(); ++i) to[i] = d[to_size(range.begin + i)] * column[i];
    }
    const kernels::Block<float> right{scaled.data(), scaled.stride(), count};
    if (used > 0) {
      const Grid<float>& x = *problem.dense();
      kernels::correlate({x.data() + range.begin, x.stride(), used}, right, range.size(), sums.data());
    }
    if (problem.has_bias())
      kernels::correlate({ones.data(), 0, 1}, right, range.size(), sums.data() + used * count);
    for (std::size_t g = 0; g + 1 < at.size(); ++g) {
      const Index size = first[g + 1] - first[g];
      kernels::correlate({joining.column(first[g]) + range.begin, joining.stride(), size},
                         kernels::Block<float>{scaled.column(first[g]), scaled.stride(), size}, range.size(),
                         sums.data() + at[g]);
    }
  };
  const Index diagonals = preconditioner.diagonals();
  std::vector<double> all(to_size(diagonals) * at.back());
  sum_pieces(
      RowTree(joining.rows()), diagonals, static_cast<Index>(at.back()), all, problem.threads(),
      [&](Index d, RowRange leaf, std::span<double> sums) {
        Grid<float> scaled(kBlockRows, count);
        for (Index begin = leaf.begin; begin < leaf.end; begin += kBlockRows)
          add(preconditioner.diagonal(d), {begin, std::min(begin + kBlockRows, leaf.end)}, scaled, sums);
      });
  std::vector<Products> result;
  for (Index d = 0; d < diagonals; ++d) {
    const double* const own = all.data() + to_size(d) * at.back();
    Products& products = result.emplace_back(Eigen::Map<const RowMajor>(own, variables, count));
    for (std::size_t g = 0; g + 1 < at.size(); ++g) {
      const Index size = first[g + 1] - first[g];
      products.within.emplace_back(Eigen::Map<const RowMajor>(own + at[g], size, size));
    }
  }
  return result;
}

/// r' S^-1 r / 2; what S lacks through rounding is made up on its diagonal.
double half_square(MatrixXd schur, const VectorXd& own, const VectorXd& r) {
  for (Index j = 0; j < r.size(); ++j) {
    if (!(own[j] > 0)) return 0;
    schur(j, j) = std::max(schur(j, j), kLeastLeft * own[j]);
  }
  if (r.size() == 1) return r[0] * r[0] / schur(0, 0) / 2;
  schur.diagonal() += kLeastLeft * own;
  const Eigen::LLT<MatrixXd> cholesky(schur);
  if (cholesky.info() == Eigen::Success) return r.dot(cholesky.solve(r)) / 2;
  return r.cwiseAbs2().cwiseQuotient(own).sum() / 2;  // columns that repeat each other
}

}  // namespace

std::vector<double> entry_gains(const DesignProblem& problem, const Preconditioner& preconditioner,
                                const CorrectiveState& at, const Grid<float>& joining,
                                std::span<const Index> sizes) {
  const Index k = problem.outputs(), count = joining.cols();
  const Index diagonals = preconditioner.diagonals();
  const std::vector<Index> first = ends_of(sizes);
  const std::vector<Products> products = products_of(problem, preconditioner, joining, first);
  RowMajor gradient(count, k);  // g_J
  ColumnSet(joining, count)
      .transposed_product(at.residual, {gradient.data(), to_size(gradient.size())}, problem.threads());
  const Index used = preconditioner.is_block_diagonal() ? 0 : products.front().cross.rows();
  std::vector<double> settled(problem.variables());  // H_AA^-1 g_A
  if (used > 0) {
    problem.gradient(at.residual, settled);
    problem.add_penalty(at.w, settled);
    preconditioner.apply(settled);
  }
  const double penalty = problem.penalty().curvature_bound();
  std::vector<double> gains(sizes.size());
  problem.threads().for_each(std::ssize(sizes), [&](Index g, int) {
    const Index size = sizes[to_size(g)], begin = first[to_size(g)];
    std::vector<RowMajor> known, solved;  // H_Aj and H_AA^-1 H_Aj of each column j, [column in use][output]
    for (Index j = begin; used > 0 && j < begin + size; ++j) {
      RowMajor& coupling = known.emplace_back(used, k);
      for (Index c = 0; c < k; ++c)
        coupling.col(c) = preconditioner.share(c) * products[to_size(c % diagonals)].cross.col(j);
      preconditioner.apply({solved.emplace_back(coupling).data(), to_size(used * k)});
    }
    for (Index c = 0; c < k; ++c) {
      MatrixXd schur = preconditioner.share(c) * products[to_size(c % diagonals)].within[to_size(g)];
      schur.diagonal().array() += penalty;
      const VectorXd own = schur.diagonal();
      VectorXd r = gradient.col(c).segment(begin, size);
      for (Index j = 0; used > 0 && j < size; ++j) {
        for (Index l = 0; l < size; ++l)
          schur(j, l) -= known[to_size(l)].col(c).dot(solved[to_size(j)].col(c));
        for (Index a = 0; a < used; ++a) r[j] -= known[to_size(j)](a, c) * settled[to_size(a * k + c)];
      }
      gains[to_size(g)] += half_square(std::move(schur), own, r);
    }
  });
  return gains;
}

}  // namespace sharelearn
