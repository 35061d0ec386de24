// Small joint problems, and a slow, independent solver for one level of the cascade.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::testing {

inline Matrix sparse_copy(const DenseMatrix& x) {
  SparseMatrix out;
  out.rows = x.rows();
  out.cols = x.cols();
  out.start.push_back(0);
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (x(i, j) == 0) continue;
      out.row.push_back(static_cast<std::uint32_t>(i));
      out.value.push_back(x(i, j));
    }
    out.start.push_back(static_cast<Index>(out.value.size()));
  }
  return out;
}

struct Sizes {
  Index rows = 60;
  Index columns = 8;
  Index outputs = 3;
};

/// Columns of different scales and means, with one third of the entries zero. Labels depend on the first
/// columns.
inline DenseMatrix random_columns(const Sizes& sizes, Random& random) {
  DenseMatrix x(sizes.rows, sizes.columns);
  for (Index j = 0; j < sizes.columns; ++j) {
    const double scale = 0.5 + random.uniform(), mean = random.uniform();
    for (Index i = 0; i < sizes.rows; ++i) {
      x(i, j) = random.below(3) == 0 ? 0.0F : static_cast<float>(mean + scale * random.normal());
    }
  }
  return x;
}

inline MultiOutputData random_classes(const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  const DenseMatrix x = random_columns(sizes, random);
  MultiOutputData data;
  for (Index c = 0; c < sizes.outputs; ++c) data.names.push_back(std::to_string(c));
  for (Index i = 0; i < sizes.rows; ++i) {
    Index best = 0;
    double top = -1e9;
    for (Index c = 0; c < sizes.outputs; ++c) {
      const double score = x(i, c % sizes.columns) + 0.7 * random.normal();
      if (score > top) top = score, best = c;
    }
    data.label.push_back(static_cast<std::int32_t>(best));
  }
  data.weights.assign(static_cast<std::size_t>(sizes.rows), 1 / static_cast<double>(sizes.rows));
  data.x = x;
  return data;
}

inline MultiOutputData random_tasks(const Sizes& sizes, bool own_rows, std::uint64_t seed) {
  Random random(seed);
  const DenseMatrix x = random_columns(sizes, random);
  MultiOutputData data;
  for (Index c = 0; c < sizes.outputs; ++c) data.names.push_back(std::to_string(c));
  for (Index t = 0; own_rows && t <= sizes.outputs; ++t)
    data.task_begin.push_back(t * sizes.rows / sizes.outputs);
  Index task = 0;
  for (Index i = 0; i < sizes.rows; ++i) {
    while (own_rows && data.task_begin[static_cast<std::size_t>(task + 1)] <= i) ++task;
    for (Index c = 0; c < data.score_columns(); ++c) {
      const Index t = own_rows ? task : c;
      const double score = x(i, 0) + x(i, (t + 1) % sizes.columns) - 0.8 + 0.5 * random.normal();
      data.sign.push_back(score > 0 ? 1 : -1);
    }
    if (own_rows) data.order.push_back(i);
  }
  data.weights.assign(static_cast<std::size_t>(sizes.rows), 1 / static_cast<double>(sizes.rows));
  data.x = x;
  return data;
}

/// Like random_tasks(), with numbers far from zero; task c lies around 20 (c + 1).
inline MultiOutputData random_numbers(const Sizes& sizes, bool own_rows, std::uint64_t seed) {
  MultiOutputData data = random_tasks(sizes, own_rows, seed);
  const DenseMatrix x = data.x.to_dense();
  Random random(seed + 100);
  for (std::size_t at = 0; at < data.sign.size(); ++at) {
    const auto i = static_cast<Index>(own_rows ? at : at / static_cast<std::size_t>(sizes.outputs));
    Index task = static_cast<Index>(at) % sizes.outputs;
    while (own_rows && data.rows_of(task).begin > i) task = (task + sizes.outputs - 1) % sizes.outputs;
    while (own_rows && data.rows_of(task).end <= i) ++task;
    data.value.push_back(20.0 * static_cast<double>(task + 1) + 2.0 * x(i, 0) +
                         static_cast<double>(task) * x(i, (task + 1) % sizes.columns) +
                         0.3 * random.normal());
  }
  data.sign.clear();
  return data;
}

/// The problem of a level, written out with Eigen and solved by plain proximal gradient steps of fixed
/// length. With per-task rows, a row has only the score of its task.
class SlowLevel {
 public:
  SlowLevel(const MultiOutputData& data, JointLoss loss, double mu)
      : x_(data.rows(), data.x.cols()), data_(data), loss_(loss), mu_(mu) {
    const DenseMatrix dense = data.x.to_dense();
    for (Index j = 0; j < x_.cols(); ++j) {
      for (Index i = 0; i < x_.rows(); ++i) x_(i, j) = dense(i, j);
    }
  }

  /// Loss of a matrix of scores (rows x k) and its derivative.
  double loss(const Eigen::MatrixXd& scores, Eigen::MatrixXd& derivative) const {
    derivative = Eigen::MatrixXd::Zero(scores.rows(), scores.cols());
    double total = 0;
    for (Index i = 0; i < scores.rows(); ++i) total += row_loss(i, scores, derivative);
    derivative /= static_cast<double>(scores.rows());
    return total / static_cast<double>(scores.rows());
  }

  double loss_of_row(Index i, const Eigen::MatrixXd& scores) const {
    Eigen::MatrixXd unused = Eigen::MatrixXd::Zero(scores.rows(), scores.cols());
    return row_loss(i, scores, unused);
  }

  /// The smallest objective found, starting from the scores `offset`.
  double minimum(const Eigen::MatrixXd& offset, double phi, double mix, bool bias, int steps,
                 double ridge = 0) const {
    const Index columns = x_.cols(), k = offset.cols();
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(columns, k), derivative;
    Eigen::RowVectorXd b = Eigen::RowVectorXd::Zero(k);
    const double bend = loss_ == JointLoss::multiclass_hinge    ? static_cast<double>(k) / mu_
                        : loss_ == JointLoss::multitask_hinge   ? 1 / mu_
                        : loss_ == JointLoss::multitask_squared ? 1
                                                                : 0.5;
    const double largest =
        (x_.squaredNorm() + static_cast<double>(x_.rows())) / static_cast<double>(x_.rows());
    const double step = 1 / (bend * largest + 2 * ridge);
    // Accelerated, without restarts or line search. The best objective seen counts.
    Eigen::MatrixXd y = w, before = w;
    Eigen::RowVectorXd yb = b, before_b = b;
    double best = 1e300;
    for (int t = 1; t <= steps; ++t) {
      loss((offset + x_ * y).rowwise() + yb, derivative);
      w = y - step * (x_.transpose() * derivative + 2 * ridge * y);
      if (bias) b = yb - step * derivative.colwise().sum();
      for (Index j = 0; j < columns; ++j) {
        double squares = 0;
        for (Index c = 0; c < k; ++c) {
          const double cut = std::max(std::abs(w(j, c)) - step * phi * mix, 0.0);
          w(j, c) = w(j, c) > 0 ? cut : -cut;
          squares += cut * cut;
        }
        const double norm = std::sqrt(squares);
        w.row(j) *= norm > step * phi * (1 - mix) ? 1 - step * phi * (1 - mix) / norm : 0.0;
      }
      const double momentum = t / (t + 3.0);
      y = w + momentum * (w - before);
      yb = b + momentum * (b - before_b);
      before = w;
      before_b = b;
      if (t % 50 == 0) best = std::min(best, objective(offset, w, b, phi, mix) + ridge * w.squaredNorm());
    }
    return best;
  }

  double objective(const Eigen::MatrixXd& offset, const Eigen::MatrixXd& w, const Eigen::RowVectorXd& b,
                   double phi, double mix) const {
    Eigen::MatrixXd unused;
    double penalty = mix * w.cwiseAbs().sum();
    for (Index j = 0; j < w.rows(); ++j) penalty += (1 - mix) * w.row(j).norm();
    return loss((offset + x_ * w).rowwise() + b, unused) + phi * penalty;
  }

  const Eigen::MatrixXd& x() const { return x_; }

 private:
  double row_loss(Index i, const Eigen::MatrixXd& s, Eigen::MatrixXd& derivative) const {
    const Index k = s.cols();
    if (loss_ == JointLoss::multiclass_logistic) {
      const double top = s.row(i).maxCoeff();
      const Eigen::RowVectorXd e = (s.row(i).array() - top).exp();
      const Index y = data_.label[static_cast<std::size_t>(i)];
      derivative.row(i) = e / e.sum();
      derivative(i, y) -= 1;
      return std::log(e.sum()) + top - s(i, y);
    }
    if (loss_ == JointLoss::multiclass_hinge) return multiclass_hinge(i, s, derivative);
    double total = 0;
    for (Index c = 0; c < k && predicts_numbers(loss_); ++c) {
      if (data_.own_rows() && (i < data_.rows_of(c).begin || i >= data_.rows_of(c).end)) continue;
      const double off = s(i, c) - data_.value_of(i, c);
      if (loss_ == JointLoss::multitask_squared) {
        total += off * off / 2;
        derivative(i, c) = off;
      } else {  // mu is epsilon
        total += std::log1p(std::exp(off - mu_)) + std::log1p(std::exp(-off - mu_));
        derivative(i, c) = 1 / (1 + std::exp(mu_ - off)) - 1 / (1 + std::exp(mu_ + off));
      }
    }
    if (predicts_numbers(loss_)) return total;
    for (Index c = 0; c < k; ++c) {
      const double y = sign(i, c), margin = 1 - y * s(i, c);
      if (y == 0) continue;
      if (loss_ == JointLoss::multitask_logistic) {
        total += std::log1p(std::exp(-y * s(i, c)));
        derivative(i, c) = -y / (1 + std::exp(y * s(i, c)));
      } else if (margin > 0) {
        total += margin < mu_ ? margin * margin / (2 * mu_) : margin - mu_ / 2;
        derivative(i, c) = -y * std::min(margin / mu_, 1.0);
      }
    }
    return total;
  }

  /// q is found by bisection of the shift that makes its sum 1.
  double multiclass_hinge(Index i, const Eigen::MatrixXd& s, Eigen::MatrixXd& derivative) const {
    const Index y = data_.label[static_cast<std::size_t>(i)];
    Eigen::RowVectorXd margins = (s.row(i).array() - s(i, y) + 1).matrix();
    margins(y) = 0;
    double low = 0, high = std::max(margins.maxCoeff(), 0.0) / mu_;
    const auto mass = [&](double shift) { return (margins.array() / mu_ - shift).max(0.0).sum(); };
    for (int t = 0; t < 80 && mass(0) > 1; ++t) (mass((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
    const Eigen::RowVectorXd q = (margins.array() / mu_ - low).max(0.0).matrix();
    derivative.row(i) = q;
    derivative(i, y) = -q.sum();
    return q.dot(margins) - 0.5 * mu_ * q.squaredNorm();
  }

  double sign(Index i, Index c) const {
    if (!data_.own_rows()) return data_.sign[static_cast<std::size_t>(i * data_.outputs() + c)];
    const bool own = i >= data_.task_begin[static_cast<std::size_t>(c)] &&
                     i < data_.task_begin[static_cast<std::size_t>(c + 1)];
    return own ? data_.sign[static_cast<std::size_t>(i)] : 0;
  }

  Eigen::MatrixXd x_;
  const MultiOutputData& data_;
  JointLoss loss_;
  double mu_;
};

}  // namespace sharelearn::testing
