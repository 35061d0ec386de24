#include "sharelearn/solve/preconditioner.hpp"

#include <Eigen/Dense>
#include <algorithm>

#include "kernels/kernels.hpp"

namespace sharelearn {
namespace {

constexpr Index kWholeColumns = 1024;  // up to here one factor for all columns
constexpr Index kBlockColumns = 64;    // beyond, factors of this many
constexpr Index kPanel = 16;           // columns of X' D X computed together

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// D and the outputs' shares s.
struct Curvature {
  AlignedVector<float> of_row;
  std::vector<double> of_output;
};

Curvature curvature_of(const DesignProblem& problem, const Grid<double>& scores) {
  const Index k = problem.outputs();
  const Index rows = problem.rows();
  Curvature result{AlignedVector<float>(static_cast<std::size_t>(scores.stride()), 0.0F),
                   std::vector<double>(static_cast<std::size_t>(k), 0.0)};
  Grid<double> second(rows, k);
  problem.threads().for_each(blocks_of(rows), [&](Index block, int) {
    const RowRange range = block_range(block, rows);
    problem.loss().curvature(range, scores, second);
    for (Index i = range.begin; i < range.end; ++i) {
      double sum = 0;
      for (Index c = 0; c < k; ++c) sum += second(i, c);
      result.of_row[static_cast<std::size_t>(i)] = static_cast<float>(sum / static_cast<double>(k));
    }
  });
  double total = 0;
  for (Index c = 0; c < k; ++c) {
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += second(i, c);
    result.of_output[static_cast<std::size_t>(c)] = sum;
    total += sum / static_cast<double>(k);
  }
  for (double& share : result.of_output) share = total > 0 ? std::max(share / total, 1e-3) : 1.0;
  return result;
}

/// gram(a, b) = sum_i d_i x_ia x_ib for b in [begin, begin + panel), a in [first, begin + panel).
void gram_panel(const DesignProblem& problem, const AlignedVector<float>& d, Index first, Index begin,
                Index panel, Eigen::MatrixXd& gram) {
  const Grid<float>& x = problem.x();
  const Index above = begin + panel - first;
  Grid<float> scaled(kBlockRows, panel);
  RowMajor sums = RowMajor::Zero(above, panel);
  for (Index block = 0; block < blocks_of(x.rows()); ++block) {
    const RowRange range = block_range(block, x.rows());
    for (Index b = 0; b < panel; ++b) {
      const float* column = x.column(begin + b) + range.begin;
      float* out = scaled.column(b);
      for (Index i = 0; i < range.size(); ++i)
        out[i] = d[static_cast<std::size_t>(range.begin + i)] * column[i];
    }
    kernels::correlate(kernels::Block<float>{x.column(first) + range.begin, x.stride(), above},
                       kernels::Block<float>{scaled.data(), scaled.stride(), panel}, range.size(),
                       sums.data());
  }
  gram.block(0, begin - first, above, panel) = sums;
}

/// X' D X of columns [first, first + count), upper triangle, and the bias as a last row and column if asked
/// for.
Eigen::MatrixXd weighted_gram(const DesignProblem& problem, const AlignedVector<float>& d, Index first,
                              Index count, bool bias) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(count + (bias ? 1 : 0), count + (bias ? 1 : 0));
  const Index panels = (count + kPanel - 1) / kPanel;
  problem.threads().for_each(panels, [&](Index p, int) {
    const Index begin = first + p * kPanel;
    gram_panel(problem, d, first, begin, std::min(kPanel, first + count - begin), gram);
  });
  if (bias) {
    std::vector<double> sums(static_cast<std::size_t>(count), 0.0);
    double total = 0;
    for (Index block = 0; block < blocks_of(problem.rows()); ++block) {
      const RowRange range = block_range(block, problem.rows());
      kernels::correlate(
          kernels::Block<float>{problem.x().column(first) + range.begin, problem.x().stride(), count},
          kernels::Block<float>{d.data() + range.begin, 0, 1}, range.size(), sums.data());
      for (Index i = range.begin; i < range.end; ++i)
        total += static_cast<double>(d[static_cast<std::size_t>(i)]);
    }
    for (Index a = 0; a < count; ++a) gram(a, count) = sums[static_cast<std::size_t>(a)];
    gram(count, count) = total;
  }
  return gram;
}

}  // namespace

struct Preconditioner::Factors {
  struct Part {
    Index first;  // variables [first, first + size) in units of columns
    Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> cholesky;
    Index size;
  };
  std::vector<Part> parts;
  std::vector<double> share;
};

Preconditioner::Preconditioner(const DesignProblem& problem, const Grid<double>& scores)
    : factors_(std::make_unique<Factors>()) {
  const Curvature curvature = curvature_of(problem, scores);
  factors_->share = curvature.of_output;
  const Index columns = problem.columns();
  const Index block = columns <= kWholeColumns ? std::max<Index>(columns, 1) : kBlockColumns;
  for (Index first = 0; first == 0 || first < columns; first += block) {
    const Index count = std::min(block, columns - first);
    const bool bias = problem.has_bias() && first + count >= columns;
    if (count + (bias ? 1 : 0) == 0) break;
    Eigen::MatrixXd gram = weighted_gram(problem, curvature.of_row, first, count, bias);
    const double typical = gram.trace() / static_cast<double>(gram.rows());
    for (Index a = 0; a < gram.rows(); ++a) {
      gram(a, a) +=
          (typical > 0 ? 1e-8 * typical : 1.0) + (a < count ? problem.penalty().curvature_bound() : 0);
    }
    Factors::Part part{first, Eigen::LLT<Eigen::MatrixXd, Eigen::Upper>(gram), gram.rows()};
    if (part.cholesky.info() != Eigen::Success) {
      // Rounding made it indefinite: columns that repeat each other. The diagonal alone still evens out the
      // scales.
      part.cholesky.compute(Eigen::MatrixXd((gram.diagonal().array() + typical).matrix().asDiagonal()));
    }
    factors_->parts.push_back(std::move(part));
  }
}

Preconditioner::~Preconditioner() = default;

void Preconditioner::apply(std::span<double> v) const {
  const auto k = static_cast<Index>(factors_->share.size());
  for (const Factors::Part& part : factors_->parts) {
    Eigen::Map<RowMajor> rows(v.data() + part.first * k, part.size, k);
    Eigen::MatrixXd solved = part.cholesky.solve(Eigen::MatrixXd(rows));
    for (Index c = 0; c < k; ++c) solved.col(c) /= factors_->share[static_cast<std::size_t>(c)];
    rows = solved;
  }
}

}  // namespace sharelearn
