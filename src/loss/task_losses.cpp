#include "sharelearn/loss/task_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/softplus.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kChunk = 256;
using Chunk = std::array<double, kChunk>;

double entropy_term(double p) {
  return p <= 0 ? 0.0 : p * std::log(p);
}

/// Calls body(begin, count) for pieces of at most kChunk rows.
template <class Body>
void for_chunks(RowRange rows, Body body) {
  for (Index begin = rows.begin; begin < rows.end; begin += kChunk) {
    body(begin, std::min(kChunk, rows.end - begin));
  }
}

void margins(const std::int8_t* sign, const double* score, Index count, Chunk& out) {
  for (Index i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = sign[i] * score[i];
}

}  // namespace

Tasks binary_task(const Classes& classes) {
  if (classes.count() != 2) {
    throw InputError(fmt::format("a binary loss needs 2 classes, the data has {}", classes.count()));
  }
  Tasks tasks;
  tasks.names = {classes.names[1]};
  tasks.sign.reserve(classes.of_row.size());
  for (const std::int32_t c : classes.of_row) tasks.sign.push_back(c == 1 ? 1 : c == 0 ? -1 : 0);
  return tasks;
}

TaskLoss::TaskLoss(const Tasks& tasks, std::vector<double> weights)
    : rows_(static_cast<Index>(weights.size())), outputs_(tasks.count()), weights_(std::move(weights)) {
  if (static_cast<Index>(tasks.sign.size()) != rows_ * outputs_) {
    throw InputError(fmt::format("{} rows with {} tasks need {} signs, {} are given", rows_, outputs_,
                                 rows_ * outputs_, tasks.sign.size()));
  }
  sign_.resize(tasks.sign.size());
  for (Index c = 0; c < outputs_; ++c) {
    bool labelled = false;
    for (Index i = 0; i < rows_; ++i) {
      const std::int8_t y = tasks.sign[static_cast<std::size_t>(i * outputs_ + c)];
      sign_[static_cast<std::size_t>(c * rows_ + i)] = y;
      labelled = labelled || y != 0;
    }
    if (!labelled) {
      throw InputError(fmt::format("task '{}' labels no row", tasks.names[static_cast<std::size_t>(c)]));
    }
  }
}

template <class Term>
double TaskLoss::conjugate_sum(RowRange rows, const Grid<double>& dual, double scale, Term term) const {
  double sum = 0;
  for (Index c = 0; c < outputs(); ++c) {
    const double* u = dual.column(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double w = weight(i);
      const int y = signs(c)[i];
      if (w == 0 || y == 0) {
        if (u[i] != 0) return kInfinity;
        continue;
      }
      sum += w * term(-y * scale * u[i] / w);
    }
  }
  return sum;
}

double MultitaskLogistic::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  double sum = 0;
  Chunk value, probability;
  for (Index c = 0; c < outputs(); ++c) {
    for_chunks(rows, [&](Index begin, Index count) {
      const std::int8_t* y = signs(c) + begin;
      margins(y, scores.column(c) + begin, count, value);
      kernels::softplus(value.data(), count, value.data(), probability.data());
      double* out = residual == nullptr ? nullptr : residual->column(c) + begin;
      for (Index i = 0; i < count; ++i) {
        const double w = weight(begin + i) * y[i];
        sum += w * y[i] * value[static_cast<std::size_t>(i)];
        if (out != nullptr) out[i] = -w * probability[static_cast<std::size_t>(i)];
      }
    });
  }
  return sum;
}

void MultitaskLogistic::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  Chunk value, probability;
  for (Index c = 0; c < outputs(); ++c) {
    for_chunks(rows, [&](Index begin, Index count) {
      const std::int8_t* y = signs(c) + begin;
      kernels::softplus(scores.column(c) + begin, count, value.data(), probability.data());
      for (Index i = 0; i < count; ++i) {
        const double q = probability[static_cast<std::size_t>(i)];
        out.column(c)[begin + i] = weight(begin + i) * (y[i] * y[i]) * q * (1 - q);
      }
    });
  }
}

double MultitaskLogistic::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  return conjugate_sum(rows, dual, scale, [](double q) {
    return q < 0 || q > 1 ? kInfinity : entropy_term(q) + entropy_term(1 - q);
  });
}

double MultitaskExponential::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  double sum = 0;
  Chunk value;
  for (Index c = 0; c < outputs(); ++c) {
    for_chunks(rows, [&](Index begin, Index count) {
      const std::int8_t* y = signs(c) + begin;
      margins(y, scores.column(c) + begin, count, value);
      for (double& t : value) t = -t;
      kernels::exponential(value.data(), count, value.data());
      double* out = residual == nullptr ? nullptr : residual->column(c) + begin;
      for (Index i = 0; i < count; ++i) {
        const double w = weight(begin + i) * y[i] * value[static_cast<std::size_t>(i)];
        sum += w * y[i];
        if (out != nullptr) out[i] = -w;
      }
    });
  }
  return sum;
}

void MultitaskExponential::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  for (Index c = 0; c < outputs(); ++c) {
    const std::int8_t* y = signs(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      out.column(c)[i] = weight(i) * (y[i] * y[i]) * std::exp(-y[i] * scores.column(c)[i]);
    }
  }
}

double MultitaskExponential::curvature_bound() const {
  return kInfinity;
}

double MultitaskExponential::conjugate(RowRange rows, const Grid<double>& dual, double scale) const {
  return conjugate_sum(rows, dual, scale, [](double q) { return q < 0 ? kInfinity : entropy_term(q) - q; });
}

}  // namespace sharelearn
