#include "solve/preconditioner.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "data/complete.hpp"
#include "kernels/kernels.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kOwnEntries = 4 << 20;  // of all outputs' factors together, at most
constexpr Index kOwnValues = 1 << 26;   // of all outputs' diagonals D together, at most
constexpr Index kWholeColumns = 1024;   // up to this many columns, one factor for all
constexpr Index kBlockColumns = 64;     // above it, one factor for each run of this many
constexpr Index kPanel = 16;            // columns of X' D X computed together
constexpr double kMostGrowth = 1.25;    // largest ratio of columns now to columns when D was computed

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

bool has_own_factors(Index rows, Index columns, Index outputs, Index own_columns) {
  return columns <= own_columns && columns * columns * outputs <= kOwnEntries && rows * outputs <= kOwnValues;
}

/// Diagonals D, one for all outputs or one per output, and the outputs' shares s.
struct Curvature {
  Grid<float> diagonal;
  std::vector<double> share;
};

/// Overwrites `second`.
Curvature curvature_of(const DesignProblem& problem, const Grid<double>& scores, bool own,
                       Grid<double>& second) {
  const Index k = problem.outputs();
  const Index rows = problem.rows();
  Curvature result{Grid<float>(rows, own ? k : 1), std::vector<double>(static_cast<std::size_t>(k), 1.0)};
  std::vector<double> sums(static_cast<std::size_t>(k));
  sum_over_rows(rows, problem.threads(), sums, [&](RowRange range, std::span<double> sums_of, int) {
    problem.loss().curvature(range, scores, second);
    std::array<double, kBlockRows> row_sums{};
    for (Index c = 0; c < k; ++c) {
      for (Index i = range.begin; i < range.end; ++i) {
        row_sums[static_cast<std::size_t>(i - range.begin)] += second(i, c);
        sums_of[static_cast<std::size_t>(c)] += second(i, c);
        if (own) result.diagonal(i, c) = static_cast<float>(second(i, c));
      }
    }
    for (Index i = range.begin; !own && i < range.end; ++i) {
      const double sum = row_sums[static_cast<std::size_t>(i - range.begin)];
      result.diagonal(i, 0) = static_cast<float>(sum / static_cast<double>(k));
    }
  });
  complete(result.diagonal, problem.threads());
  if (own) return result;
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(k);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    result.share[c] = mean > 0 ? std::max(sums[c] / mean, 1e-3) : 1.0;
  }
  return result;
}

/// sums[a * panel + b] += sum of d_i x_i,first+a x_i,begin+b over the rows of a leaf, for a up to the last b.
void add_gram_panel(const DesignProblem& problem, const float* d, Index first, Index begin, Index panel,
                    RowRange leaf, double* sums) {
  const Grid<float>& x = *problem.dense();
  Grid<float> scaled(kBlockRows, panel);
  for (Index from = leaf.begin; from < leaf.end; from += kBlockRows) {
    const Index rows = std::min(kBlockRows, leaf.end - from);
    for (Index b = 0; b < panel; ++b) {
      const float* column = x.column(begin + b) + from;
      float* to = scaled.column(b);
      for (Index i = 0; i < rows; ++i) to[i] = d[from + i] * column[i];
    }
    kernels::correlate({x.column(first) + from, x.stride(), begin + panel - first},
                       {scaled.data(), scaled.stride(), panel}, rows, sums);
  }
}

/// gram(a, b) for all panels of columns [first + old, first + count).
void add_gram_panels(const DesignProblem& problem, std::span<const float> d, Index first, Index old,
                     Index count, Eigen::MatrixXd& gram) {
  const Index panels = (count - old + kPanel - 1) / kPanel, size = count * kPanel;
  const auto panel_at = [&](Index p) { return std::min(kPanel, count - old - p * kPanel); };
  std::vector<double> sums(static_cast<std::size_t>(panels * size));
  sum_pieces(RowTree(problem.rows()), panels, size, sums, problem.threads(),
             [&](Index p, RowRange leaf, std::span<double> out) {
               add_gram_panel(problem, d.data(), first, first + old + p * kPanel, panel_at(p), leaf,
                              out.data());
             });
  for (Index p = 0; p < panels; ++p) {
    const Index begin = old + p * kPanel, above = begin + panel_at(p);
    gram.block(0, begin, above, panel_at(p)) =
        Eigen::Map<const RowMajor>(sums.data() + p * size, above, panel_at(p));
  }
}

/// Sum of all d.
double total_of(std::span<const float> d, ThreadPool& threads) {
  return sum_over_rows(std::ssize(d), threads, [&](RowRange range, int) {
    return std::accumulate(d.begin() + range.begin, d.begin() + range.end, 0.0);
  });
}

/// X' D X of columns [first, first + count), upper triangle; if asked for, with the bias as a last row and
/// column. Columns that `known` contains are copied from it.
Eigen::MatrixXd weighted_gram(const DesignProblem& problem, std::span<const float> d, Index first,
                              Index count, bool bias, const Eigen::MatrixXd* known = nullptr) {
  const Grid<float>& x = *problem.dense();
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(count + (bias ? 1 : 0), count + (bias ? 1 : 0));
  const Index old = known != nullptr ? known->rows() - (bias ? 1 : 0) : 0;
  if (known != nullptr) {
    gram.topLeftCorner(old, old) = known->topLeftCorner(old, old);
    if (bias) gram.col(count).head(old) = known->col(old).head(old);
  }
  add_gram_panels(problem, d, first, old, count, gram);
  if (bias) {
    std::vector<double> sums(static_cast<std::size_t>(count - old));
    sum_over_rows(problem.rows(), problem.threads(), sums, [&](RowRange range, std::span<double> out, int) {
      kernels::correlate(kernels::Block<float>{x.column(first + old) + range.begin, x.stride(), count - old},
                         kernels::Block<float>{d.data() + range.begin, 0, 1}, range.size(), out.data());
    });
    for (Index a = old; a < count; ++a) gram(a, count) = sums[static_cast<std::size_t>(a - old)];
    gram(count, count) = total_of(d, problem.threads());
  }
  return gram;
}

/// Factor of gram + penalty. Every column is damped a little in proportion to its own size, because columns
/// may have very different scales. If rounding made the matrix indefinite (columns that repeat each other),
/// its doubled diagonal is factored instead, which still evens out the scales.
Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> factor(Eigen::MatrixXd gram, Index penalised, double penalty) {
  if (!gram.allFinite()) {
    throw InputError("the squares of the values are too large to compute with: scale the columns");
  }
  for (Index a = 0; a < gram.rows(); ++a) {
    const double own = gram(a, a);
    gram(a, a) += (own > 0 ? 1e-8 * own : 1.0) + (a < penalised ? penalty : 0);
  }
  Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> cholesky(gram);
  if (cholesky.info() != Eigen::Success) {
    cholesky.compute(Eigen::MatrixXd((2 * gram.diagonal()).asDiagonal()));
  }
  return cholesky;
}

/// A block of H^-1 and the weights of its columns, while groups are removed.
struct OpenBlock {
  Index first;              // its first column
  Index output;             // whose factor it is; -1: shared by all outputs
  Eigen::MatrixXd inverse;  // without the removed groups
  RowMajor w;               // [column][output], or one output
  Eigen::VectorXd share;    // of the outputs in w

  /// The small matrix ((H^-1)_JJ)^-1 times v, for columns [at, at + width) of the block.
  Eigen::MatrixXd without(Index at, Index width, const Eigen::MatrixXd& v) const {
    return inverse.block(at, at, width, width).llt().solve(v);
  }
  double rise(Index at, Index width) const {
    const Eigen::MatrixXd own = w.middleRows(at, width);
    return 0.5 * (own.cwiseProduct(without(at, width, own)) * share).sum();
  }
  void leave(Index at, Index width) {
    const Eigen::MatrixXd reach = inverse.middleCols(at, width);
    w -= reach * without(at, width, w.middleRows(at, width));
    inverse -= reach * without(at, width, reach.transpose());
    w.middleRows(at, width).setZero();
  }
};

}  // namespace

struct Preconditioner::Factors {
  struct Part {
    Index first;   // columns [first, first + size), the bias as one more
    Index output;  // whose factor it is; -1: shared by all outputs
    Eigen::MatrixXd gram;
    Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> cholesky;
    Index size() const { return gram.rows(); }
  };
  Index columns_at_first;  // number of columns when D was computed
  Index columns;
  Index own_columns;  // up to this many columns, one factor per output
  double penalty;     // curvature of the penalty
  std::shared_ptr<const Curvature> curvature;
  bool block_diagonal;
  std::vector<Part> parts;  // for local columns: one per group, and the bias last

  /// Whether H of `count` columns has the same form as here.
  bool keeps_form(Index count) const {
    const bool own = parts.front().output >= 0;
    return own ==
           has_own_factors(curvature->diagonal.rows(), count, std::ssize(curvature->share), own_columns);
  }
  /// The same D for `count` columns; the parts are still missing.
  std::unique_ptr<Preconditioner> with_columns(Index count) const {
    std::unique_ptr<Preconditioner> result(new Preconditioner);
    *result->factors_ = {columns_at_first, count, own_columns, penalty, curvature, false, {}};
    return result;
  }
};

Preconditioner::Preconditioner() : factors_(std::make_unique<Factors>()) {}

Preconditioner::Preconditioner(const DesignProblem& problem, const Grid<double>& scores,
                               Grid<double>& scratch, Index own_columns)
    : Preconditioner() {
  const Index columns = problem.columns();
  const bool own =
      !problem.local() && has_own_factors(problem.rows(), columns, problem.outputs(), own_columns);
  const auto curvature = std::make_shared<const Curvature>(curvature_of(problem, scores, own, scratch));
  *factors_ = {
      columns, columns, own_columns, problem.penalty().curvature_bound(), curvature, columns > kWholeColumns,
      {}};
  if (problem.local()) {
    factor_groups(problem, nullptr);
  } else {
    factor_columns(problem);
  }
}

void Preconditioner::factor_columns(const DesignProblem& problem) {
  const Index columns = problem.columns();
  const Grid<float>& diagonal = factors_->curvature->diagonal;
  const bool own = has_own_factors(problem.rows(), columns, problem.outputs(), factors_->own_columns);
  const Index block = columns <= kWholeColumns ? std::max<Index>(columns, 1) : kBlockColumns;
  for (Index first = 0; first == 0 || first < columns; first += block) {
    const Index count = std::min(block, columns - first);
    const bool bias = problem.has_bias() && first + count >= columns;
    if (count + (bias ? 1 : 0) == 0) break;
    for (Index d = 0; d < diagonal.cols(); ++d) {
      Eigen::MatrixXd gram = weighted_gram(problem, diagonal.column_span(d), first, count, bias);
      auto cholesky = factor(gram, count, factors_->penalty);
      factors_->parts.push_back({first, own ? d : -1, std::move(gram), std::move(cholesky)});
    }
  }
}

/// One factor per group, and the bias by itself. The factors of the first groups come from `known`.
void Preconditioner::factor_groups(const DesignProblem& problem, const Factors* known) {
  const LocalColumns& x = *problem.local();
  const Index width = x.group_width();
  const Index old = known != nullptr ? known->columns / width : 0;
  const auto d = factors_->curvature->diagonal.column_span(0);
  factors_->block_diagonal = x.groups() > 1;
  if (known != nullptr) factors_->parts.assign(known->parts.begin(), known->parts.begin() + old);
  factors_->parts.resize(static_cast<std::size_t>(x.groups()));
  const Index numbers = width * width;
  std::vector<float> grams(static_cast<std::size_t>((x.groups() - old) * numbers));
  share_pieces<float>(x.groups() - old, numbers, grams, problem.threads(), [&](Index fresh, int) {
    x.weighted_gram(old + fresh, d, {grams.data() + fresh * numbers, static_cast<std::size_t>(numbers)});
  });
  problem.threads().for_each(x.groups() - old, [&](Index fresh, int) {
    const Index g = old + fresh;
    const Eigen::MatrixXf gram =
        Eigen::Map<const Eigen::MatrixXf>(grams.data() + fresh * numbers, width, width);
    auto cholesky = factor(gram.cast<double>(), width, factors_->penalty);
    factors_->parts[static_cast<std::size_t>(g)] = {g * width, -1, gram.cast<double>(), std::move(cholesky)};
  });
  if (!problem.has_bias()) return;
  const Eigen::MatrixXd total = Eigen::MatrixXd::Constant(1, 1, total_of(d, problem.threads()));
  factors_->parts.push_back({problem.columns(), -1, total, factor(total, 0, 0)});
}

std::unique_ptr<Preconditioner> Preconditioner::extended(const DesignProblem& problem) const {
  const Index columns = problem.columns();
  const double most = kMostGrowth * static_cast<double>(factors_->columns_at_first);
  if (static_cast<double>(columns) > most) return nullptr;
  auto larger = factors_->with_columns(columns);
  if (problem.local()) {
    larger->factor_groups(problem, factors_.get());
    return larger;
  }
  if (columns > kWholeColumns || !factors_->keeps_form(columns)) return nullptr;
  const Grid<float>& diagonal = factors_->curvature->diagonal;
  for (const Factors::Part& part : factors_->parts) {
    const auto d = diagonal.column_span(std::max<Index>(part.output, 0));
    Eigen::MatrixXd gram = weighted_gram(problem, d, 0, columns, problem.has_bias(), &part.gram);
    auto cholesky = factor(gram, columns, factors_->penalty);
    larger->factors_->parts.push_back({0, part.output, std::move(gram), std::move(cholesky)});
  }
  return larger;
}

std::unique_ptr<Preconditioner> Preconditioner::restricted(const std::vector<Index>& columns) const {
  const Index count = std::ssize(columns);
  const bool too_few = count == 0 || kMostGrowth * static_cast<double>(count) <
                                         static_cast<double>(factors_->columns_at_first);
  if (too_few || factors_->block_diagonal || !factors_->keeps_form(count)) return nullptr;
  auto smaller = factors_->with_columns(count);
  std::vector<Index> kept = columns;
  if (factors_->parts.front().size() > factors_->columns) kept.push_back(factors_->columns);  // the bias
  for (const Factors::Part& part : factors_->parts) {
    const Eigen::MatrixXd gram = Eigen::MatrixXd(part.gram.selfadjointView<Eigen::Upper>())(kept, kept);
    smaller->factors_->parts.push_back({0, part.output, gram, factor(gram, count, factors_->penalty)});
  }
  return smaller;
}

void Preconditioner::save(ByteWriter& out) const {
  const Factors& f = *factors_;
  for (const Index count : {f.columns_at_first, f.columns, f.own_columns, f.curvature->diagonal.cols()})
    out.index(count);
  out.f64(f.penalty);
  out.u8(f.block_diagonal ? 1 : 0);
  for (Index c = 0; c < f.curvature->diagonal.cols(); ++c) out.floats(f.curvature->diagonal.column_span(c));
  out.doubles(f.curvature->share);
  out.u64(f.parts.size());
  for (const Factors::Part& part : f.parts) {
    out.index(part.first);
    out.index(part.output);
    out.index(part.size());
    out.doubles({part.gram.data(), static_cast<std::size_t>(part.gram.size())});
  }
}

std::unique_ptr<Preconditioner> Preconditioner::restored(ByteReader& in, const DesignProblem& problem) {
  const Index columns = problem.columns(), k = problem.outputs(), bias = problem.has_bias() ? 1 : 0;
  std::unique_ptr<Preconditioner> result(new Preconditioner);
  Factors& f = *result->factors_;
  f.columns_at_first = in.index(0, columns);
  f.columns = in.index(columns, columns);
  f.own_columns = in.index(0, std::numeric_limits<Index>::max());
  const Index diagonals = in.index(1, k);
  f.penalty = in.f64();
  f.block_diagonal = in.u8() != 0;
  Curvature curvature{Grid<float>(problem.rows(), diagonals), {}};
  for (Index c = 0; c < diagonals; ++c) {
    const std::vector<float> values = in.floats();
    if (std::ssize(values) != problem.rows()) in.damaged("a curvature in it has the wrong length");
    std::copy(values.begin(), values.end(), curvature.diagonal.column(c));
  }
  curvature.share = in.doubles();
  if (std::ssize(curvature.share) != k) in.damaged("its curvatures have the wrong number of outputs");
  f.curvature = std::make_shared<const Curvature>(std::move(curvature));
  const bool whole = !problem.local() && !f.block_diagonal;  // then every part has all columns
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    const Index first = in.index(0, whole ? 0 : columns), output = in.index(-1, diagonals - 1);
    const Index size = in.index(whole ? columns + bias : 1, columns + bias - first);
    const std::vector<double> gram = in.doubles();
    if (std::ssize(gram) != size * size) in.damaged("a matrix in it has the wrong size");
    const Eigen::MatrixXd matrix = Eigen::Map<const Eigen::MatrixXd>(gram.data(), size, size);
    f.parts.push_back({first, output, matrix, factor(matrix, std::min(size, columns - first), f.penalty)});
  }
  const Index least = problem.local() ? columns / problem.local()->group_width() : 1;
  if (std::ssize(f.parts) < least) in.damaged("matrices are missing in it");
  return result;
}

bool Preconditioner::is_block_diagonal() const {
  return factors_->block_diagonal;
}

Index Preconditioner::diagonals() const {
  return factors_->curvature->diagonal.cols();
}

std::span<const float> Preconditioner::diagonal(Index number) const {
  return factors_->curvature->diagonal.column_span(number);
}

double Preconditioner::share(Index output) const {
  return factors_->curvature->share[static_cast<std::size_t>(output)];
}

Preconditioner::~Preconditioner() = default;

Reduction Preconditioner::reduce(std::span<const double> w, Index width, std::span<const double> price,
                                 Index count) const {
  const std::vector<double>& share = factors_->curvature->share;
  const auto k = static_cast<Index>(share.size());
  std::vector<OpenBlock> blocks;
  for (const Factors::Part& part : factors_->parts) {
    const Eigen::Map<const RowMajor> rows(w.data() + part.first * k, part.size(), k);
    const auto all = Eigen::Map<const Eigen::VectorXd>(share.data(), k);
    blocks.push_back({part.first, part.output,
                      part.cholesky.solve(Eigen::MatrixXd::Identity(part.size(), part.size())),
                      part.output < 0 ? RowMajor(rows) : RowMajor(rows.col(part.output)),
                      part.output < 0 ? Eigen::VectorXd(all) : Eigen::VectorXd::Ones(1)});
  }
  const Index groups = factors_->columns / width;
  std::vector<char> gone(static_cast<std::size_t>(groups), 0);
  const auto each_block_of = [&](Index group, const auto& visit) {
    for (OpenBlock& block : blocks) {
      const Index at = group * width - block.first;
      if (at >= 0 && at + width <= block.inverse.rows()) visit(block, at);
    }
  };
  Reduction result;
  while (std::ssize(result.leaving) < std::min(count, groups)) {
    Index least = -1;
    double least_rise = 0, least_worth = 0;
    for (Index group = 0; group < groups; ++group) {
      if (gone[static_cast<std::size_t>(group)]) continue;
      double rise = 0;
      each_block_of(group, [&](const OpenBlock& block, Index at) { rise += block.rise(at, width); });
      const double worth = price.empty() ? rise : rise / price[static_cast<std::size_t>(group)];
      if (least >= 0 && worth >= least_worth) continue;
      least = group;
      least_rise = rise;
      least_worth = worth;
    }
    each_block_of(least, [&](OpenBlock& block, Index at) { block.leave(at, width); });
    gone[static_cast<std::size_t>(least)] = 1;
    result.leaving.push_back({least, least_rise});
  }
  result.w.assign(w.begin(), w.end());
  for (const OpenBlock& block : blocks) {
    Eigen::Map<RowMajor> rows(result.w.data() + block.first * k, block.w.rows(), k);
    if (block.output < 0) {
      rows = block.w;
    } else {
      rows.col(block.output) = block.w;
    }
  }
  return result;
}

void Preconditioner::apply(std::span<double> v) const {
  const std::vector<double>& share = factors_->curvature->share;
  const auto k = static_cast<Index>(share.size());
  for (const Factors::Part& part : factors_->parts) {
    Eigen::Map<RowMajor> rows(v.data() + part.first * k, part.size(), k);
    if (part.output >= 0) {
      rows.col(part.output) = part.cholesky.solve(Eigen::VectorXd(rows.col(part.output)));
      continue;
    }
    Eigen::MatrixXd solved = part.cholesky.solve(Eigen::MatrixXd(rows));
    for (Index c = 0; c < k; ++c) solved.col(c) /= share[static_cast<std::size_t>(c)];
    rows = solved;
  }
}

}  // namespace sharelearn
