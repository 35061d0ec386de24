#include "sharelearn/solve/design.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/to_size.hpp"
#include "kernels/panel_products.hpp"

namespace sharelearn {

namespace {

/// Columns of one piece of parallel work.
constexpr Index kPieceColumns = 32;

Index pieces_of(Index columns) {
  return (columns + kPieceColumns - 1) / kPieceColumns;
}

/// residual by rows (rows x outputs), which sparse columns read a row at a time.
std::vector<double> by_rows(const Grid<double>& residual, ThreadPool& threads) {
  const Index outputs = residual.cols();
  std::vector<double> out(to_size(residual.rows() * outputs));
  threads.for_each(blocks_of(residual.rows()), [&](Index block, int) {
    const RowRange range = block_range(block, residual.rows());
    for (Index c = 0; c < outputs; ++c) {
      const double* from = residual.column(c);
      for (Index i = range.begin; i < range.end; ++i) out[to_size(i * outputs + c)] = from[i];
    }
  });
  return out;
}

/// In eight running sums, which a compiler turns into vectors.
double sum(std::span<const double> values) {
  double lane[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    for (std::size_t l = 0; l < 8; ++l) lane[l] += values[i + l];
  }
  for (; i < values.size(); ++i) lane[0] += values[i];
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/// Sums over values less `shift`: beside squares of a mean far from zero, rounding would hide the variance.
struct Moments {
  double weight = 0, shift = 0, sum = 0, squares = 0;
  double mean() const { return weight > 0 ? shift + sum / weight : 0; }
  /// Of all weight together; 0 where nothing but rounding is left.
  double variance() const {
    constexpr double kRounding = 1e-13;
    const double left = weight > 0 ? squares - sum * sum / weight : 0;
    return left > kRounding * squares ? left : 0;
  }
  void add(double row_weight, double value) {
    const double weighted = row_weight * (value - shift);
    sum += weighted;
    squares += weighted * (value - shift);
  }
};

Moments moments_of(const float* column, RowRange rows, std::span<const double> row_weights, double weight,
                   bool shifted) {
  Moments out{weight, shifted && rows.size() > 0 ? column[rows.begin] : 0.0, 0, 0};
  for (Index i = rows.begin; i < rows.end; ++i) out.add(row_weights[to_size(i)], column[i]);
  return out;
}

}  // namespace

Design::Design(const Matrix& x, Index outputs, std::span<const double> row_weights, bool bias,
               ThreadPool& threads)
    : x_(x), outputs_(outputs), bias_(bias) {
  centre(row_weights, threads);
}

Design::Design(const Matrix& x, std::vector<Index> task_begin, std::span<const double> row_weights, bool bias,
               ThreadPool& threads)
    : x_(x),
      outputs_(static_cast<Index>(task_begin.size()) - 1),
      bias_(bias),
      task_begin_(std::move(task_begin)),
      task_of_row_(to_size(x.rows())) {
  for (Index t = 0; t < outputs_; ++t) {
    std::fill(task_of_row_.begin() + task_begin_[to_size(t)],
              task_of_row_.begin() + task_begin_[to_size(t + 1)], t);
  }
  centre(row_weights, threads);
}

void Design::centre(std::span<const double> row_weights, ThreadPool& threads) {
  const Index groups = own_rows() ? outputs_ : 1;
  share_.assign(to_size(groups), 0.0);
  for (Index i = 0; i < rows(); ++i)
    share_[to_size(own_rows() ? task_of_row_[to_size(i)] : 0)] += row_weights[to_size(i)];
  if (bias_) mean_.assign(to_size(columns() * groups), 0.0);
  scale_.assign(to_size(columns()), 0.0);
  threads.for_each(pieces_of(columns()), [&](Index piece, int) {
    std::vector<Moments> moments(to_size(groups));
    for (Index j = piece * kPieceColumns; j < std::min(columns(), (piece + 1) * kPieceColumns); ++j) {
      if (x_.is_sparse()) {
        for (Index g = 0; g < groups; ++g) moments[to_size(g)] = {share_[to_size(g)], 0, 0, 0};
        const auto rows_of = x_.sparse().column_rows(j);
        const auto values_of = x_.sparse().column_values(j);
        for (std::size_t e = 0; e < rows_of.size(); ++e) {
          moments[to_size(own_rows() ? task_of_row_[rows_of[e]] : 0)].add(row_weights[rows_of[e]],
                                                                          values_of[e]);
        }
      } else {
        for (Index g = 0; g < groups; ++g) {
          const RowRange range = own_rows() ? RowRange{task_begin_[to_size(g)], task_begin_[to_size(g + 1)]}
                                            : RowRange{0, rows()};
          moments[to_size(g)] =
              moments_of(x_.dense().column(j), range, row_weights, share_[to_size(g)], bias_);
        }
      }
      for (Index g = 0; g < groups; ++g) {
        if (bias_) mean_[to_size(j * groups + g)] = moments[to_size(g)].mean();
        scale_[to_size(j)] = std::max(scale_[to_size(j)],
                                      bias_ ? moments[to_size(g)].variance() : moments[to_size(g)].squares);
      }
    }
  });
}

std::vector<double> Design::shifted_bias(std::span<const double> bias, std::span<const double> weights,
                                         double sign) const {
  std::vector<double> out(bias.begin(), bias.end());
  for (Index j = 0; bias_ && j < columns(); ++j) {
    for (Index c = 0; c < outputs_; ++c)
      out[to_size(c)] += sign * mean(j, c) * weights[to_size(j * outputs_ + c)];
  }
  return out;
}

std::vector<double> Design::true_bias(std::span<const double> bias, std::span<const double> weights) const {
  return shifted_bias(bias, weights, -1);
}

std::vector<double> Design::centred_bias(std::span<const double> bias,
                                         std::span<const double> weights) const {
  return shifted_bias(bias, weights, 1);
}

std::vector<double> Design::residual_sums(const Grid<double>& residual) const {
  std::vector<double> sums(to_size(outputs_));
  for (Index c = 0; c < outputs_; ++c) {
    sums[to_size(c)] = own_rows() ? sum(residual.column_span(0).subspan(
                                        to_size(task_begin_[to_size(c)]),
                                        to_size(task_begin_[to_size(c + 1)] - task_begin_[to_size(c)])))
                                  : sum(residual.column_span(c));
  }
  return sums;
}

void Design::column_gradient(std::span<const Index> columns, const Grid<double>& residual,
                             std::span<const double> by_row, std::span<const double> sums,
                             double* out) const {
  const auto count = static_cast<Index>(columns.size());
  std::fill(out, out + count * outputs_, 0.0);
  if (x_.is_sparse()) {
    for (Index a = 0; a < count; ++a) {
      const auto rows_of = x_.sparse().column_rows(columns[to_size(a)]);
      const auto values_of = x_.sparse().column_values(columns[to_size(a)]);
      double* to = out + a * outputs_;
      for (std::size_t e = 0; e < rows_of.size(); ++e) {
        const double value = values_of[e];
        if (own_rows()) {
          to[task_of_row_[rows_of[e]]] += value * by_row[rows_of[e]];
        } else {
          const double* r = by_row.data() + static_cast<Index>(rows_of[e]) * outputs_;
          for (Index c = 0; c < outputs_; ++c) to[c] += value * r[c];
        }
      }
    }
  } else {
    std::vector<const float*> pointers(columns.size());
    for (Index a = 0; a < count; ++a) pointers[to_size(a)] = x_.dense().column(columns[to_size(a)]);
    if (own_rows()) {
      for (Index t = 0; t < outputs_; ++t) {
        const Index begin = task_begin_[to_size(t)];
        kernels::add_correlations({pointers.data(), count, begin, task_begin_[to_size(t + 1)] - begin},
                                  residual.column(0) + begin, residual.stride(), 1, out + t, outputs_);
      }
    } else {
      for (Index block = 0; block < blocks_of(rows()); ++block) {
        const RowRange range = block_range(block, rows());
        kernels::add_correlations({pointers.data(), count, range.begin, range.size()},
                                  residual.data() + range.begin, residual.stride(), outputs_, out, outputs_);
      }
    }
  }
  for (Index a = 0; bias_ && a < count; ++a) {
    for (Index c = 0; c < outputs_; ++c)
      out[a * outputs_ + c] -= mean(columns[to_size(a)], c) * sums[to_size(c)];
  }
}

void Design::gradient(const Grid<double>& residual, std::span<double> gradient, ThreadPool& threads) const {
  std::vector<Index> all(to_size(columns()));
  std::iota(all.begin(), all.end(), Index{0});
  const auto sums = residual_sums(residual);
  const auto rows_of = x_.is_sparse() ? by_rows(residual, threads) : std::vector<double>();
  threads.for_each(pieces_of(columns()), [&](Index piece, int) {
    const Index begin = piece * kPieceColumns;
    const Index count = std::min(kPieceColumns, columns() - begin);
    column_gradient({all.data() + begin, to_size(count)}, residual, rows_of, sums,
                    gradient.data() + begin * outputs_);
  });
}

ActiveColumns::ActiveColumns(const Design& design, std::vector<Index> columns)
    : design_(design), columns_(std::move(columns)) {
  if (!design_.x_.is_sparse()) {
    for (const Index j : columns_) pointers_.push_back(design_.x_.dense().column(j));
    return;
  }
  const SparseMatrix& x = design_.x_.sparse();
  rows_.rows = x.rows;
  rows_.cols = count();
  rows_.start.assign(to_size(x.rows + 1), 0);
  for (const Index j : columns_) {
    for (const auto i : x.column_rows(j)) ++rows_.start[i + 1];
  }
  std::partial_sum(rows_.start.begin(), rows_.start.end(), rows_.start.begin());
  rows_.column.resize(to_size(rows_.start.back()));
  rows_.value.resize(to_size(rows_.start.back()));
  std::vector<Index> next(rows_.start.begin(), rows_.start.end() - 1);
  for (Index a = 0; a < count(); ++a) {
    const auto rows_of = x.column_rows(columns_[to_size(a)]);
    const auto values_of = x.column_values(columns_[to_size(a)]);
    for (std::size_t e = 0; e < rows_of.size(); ++e) {
      const auto to = to_size(next[rows_of[e]]++);
      rows_.column[to] = static_cast<std::uint32_t>(a);
      rows_.value[to] = values_of[e];
    }
  }
}

void ActiveColumns::dense_scores(RowRange range, std::span<const double> weights,
                                 Grid<double>& scores) const {
  const Index outputs = design_.outputs();
  if (!design_.own_rows()) {
    kernels::add_products({pointers_.data(), count(), range.begin, range.size()}, weights.data(), outputs,
                          outputs, scores.data() + range.begin, scores.stride());
    return;
  }
  for (Index i = range.begin; i < range.end;) {
    const Index t = design_.task_of_row_[to_size(i)];
    const Index end = std::min(range.end, design_.task_begin_[to_size(t + 1)]);
    kernels::add_products({pointers_.data(), count(), i, end - i}, weights.data() + t, outputs, 1,
                          scores.column(0) + i, scores.stride());
    i = end;
  }
}

void ActiveColumns::sparse_scores(RowRange range, std::span<const double> weights,
                                  Grid<double>& scores) const {
  const Index outputs = design_.outputs();
  std::vector<double> row(to_size(outputs));
  for (Index i = range.begin; i < range.end; ++i) {
    const Index begin = rows_.start[to_size(i)], end = rows_.start[to_size(i + 1)];
    if (design_.own_rows()) {
      const Index t = design_.task_of_row_[to_size(i)];
      double sum = 0;
      for (Index e = begin; e < end; ++e) {
        sum += rows_.value[to_size(e)] *
               weights[to_size(static_cast<Index>(rows_.column[to_size(e)]) * outputs + t)];
      }
      scores(i, 0) += sum;
      continue;
    }
    std::fill(row.begin(), row.end(), 0.0);
    for (Index e = begin; e < end; ++e) {
      const double value = rows_.value[to_size(e)];
      const double* w = weights.data() + static_cast<Index>(rows_.column[to_size(e)]) * outputs;
      for (Index c = 0; c < outputs; ++c) row[to_size(c)] += value * w[c];
    }
    for (Index c = 0; c < outputs; ++c) scores(i, c) += row[to_size(c)];
  }
}

void ActiveColumns::scores(std::span<const double> weights, std::span<const double> bias,
                           const Grid<double>* offset, Grid<double>& scores, ThreadPool& threads) const {
  const Index outputs = design_.outputs();
  std::vector<double> base(to_size(outputs), 0.0);
  if (design_.has_bias()) {
    std::copy(bias.begin(), bias.end(), base.begin());
    for (Index a = 0; a < count(); ++a) {
      for (Index c = 0; c < outputs; ++c) {
        base[to_size(c)] -= design_.mean(columns_[to_size(a)], c) * weights[to_size(a * outputs + c)];
      }
    }
  }
  threads.for_each(blocks_of(design_.rows()), [&](Index block, int) {
    const RowRange range = block_range(block, design_.rows());
    for (Index c = 0; c < scores.cols(); ++c) {
      double* to = scores.column(c);
      for (Index i = range.begin; i < range.end; ++i) {
        const double start = base[to_size(design_.own_rows() ? design_.task_of_row_[to_size(i)] : c)];
        to[i] = start + (offset != nullptr ? (*offset)(i, c) : 0.0);
      }
    }
    if (design_.x_.is_sparse()) {
      sparse_scores(range, weights, scores);
    } else {
      dense_scores(range, weights, scores);
    }
  });
}

void ActiveColumns::gradient(const Grid<double>& residual, std::span<double> gradient,
                             ThreadPool& threads) const {
  const auto sums = design_.residual_sums(residual);
  const auto rows_of = design_.x_.is_sparse() ? by_rows(residual, threads) : std::vector<double>();
  threads.for_each(pieces_of(count()), [&](Index piece, int) {
    const Index begin = piece * kPieceColumns;
    const Index width = std::min(kPieceColumns, count() - begin);
    design_.column_gradient({columns_.data() + begin, to_size(width)}, residual, rows_of, sums,
                            gradient.data() + begin * design_.outputs());
  });
}

}  // namespace sharelearn
