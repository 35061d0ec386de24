#include "sharelearn/learn/transfer.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "data/to_size.hpp"
#include "learn/multi_output_problem.hpp"
#include "run/usage.hpp"
#include "sharelearn/penalty/sparse_group.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/fista_solver.hpp"
#include "transform/symmetric_eigen.hpp"

namespace sharelearn {

namespace {

/// Rows projected onto the subspace: m x z.
DenseMatrix projected(const Matrix& x, const Subspace& subspace) {
  const auto z = static_cast<Index>(subspace.vectors.size());
  Grid<double> sums(x.rows(), z);
  std::vector<float> column(to_size(x.rows()));
  for (Index j = 0; j < x.cols(); ++j) {
    const bool used = std::any_of(subspace.vectors.begin(), subspace.vectors.end(),
                                  [&](const auto& vector) { return vector[to_size(j)] != 0; });
    if (!used) continue;
    x.copy_column(j, column.data());
    for (Index a = 0; a < z; ++a) {
      const double weight = subspace.vectors[to_size(a)][to_size(j)];
      for (Index i = 0; i < x.rows(); ++i) sums(i, a) += weight * column[to_size(i)];
    }
  }
  DenseMatrix out(x.rows(), z);
  for (Index a = 0; a < z; ++a) {
    for (Index i = 0; i < x.rows(); ++i) out(i, a) = static_cast<float>(sums(i, a));
  }
  return out;
}

/// P V, in the space of the features.
std::vector<double> projected_back(const Subspace& subspace, const std::vector<double>& weights,
                                   Index features, Index outputs) {
  std::vector<double> out(to_size(features * outputs), 0.0);
  for (std::size_t a = 0; a < subspace.vectors.size(); ++a) {
    for (Index j = 0; j < features; ++j) {
      for (Index c = 0; c < outputs; ++c) {
        out[to_size(j * outputs + c)] +=
            subspace.vectors[a][to_size(j)] * weights[a * to_size(outputs) + to_size(c)];
      }
    }
  }
  return out;
}

}  // namespace

/// The left singular vectors of W, from the smaller of W'W and WW'. Singular values below kNoise times the
/// largest are rounding.
Subspace leading_subspace(const std::vector<double>& weights, Index features, Index outputs,
                          Index components) {
  constexpr double kNoise = 1e-7;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor> w(weights.data(), features, outputs);
  const bool is_tall = features >= outputs;
  const Eigen::MatrixXd gram =
      is_tall ? Eigen::MatrixXd(w.transpose() * w) : Eigen::MatrixXd(w * w.transpose());
  const EigenPairs pairs = symmetric_eigen(gram, "the known tasks' subspace");
  const auto singular = [&](Index a) { return std::sqrt(std::max(pairs.values(a), 0.0)); };
  Subspace out;
  for (Index a = 0; a < std::min<Index>(components, pairs.values.size()); ++a) {
    if (singular(a) <= kNoise * singular(0)) break;
    const Eigen::VectorXd vector = is_tall ? Eigen::VectorXd(w * pairs.vectors.col(a) / singular(a))
                                           : Eigen::VectorXd(pairs.vectors.col(a));
    out.vectors.emplace_back(vector.data(), vector.data() + features);
  }
  return out;
}

Cascade transfer_batch(const MultiOutputData& data, const std::vector<CompositePoint>& known,
                       const TransferOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const Index features = data.x.cols();
  if (known.empty() || known.front().weights.size() % to_size(features) != 0) {
    throw InputError("the known cascade and the new tasks have different features");
  }
  const Index known_outputs = static_cast<Index>(known.front().weights.size()) / features;
  CascadeOptions cascade_options = options.cascade;
  cascade_options.levels = static_cast<Index>(known.size());
  if (cascade_options.phi.empty()) cascade_options.phi = {0.0};
  cascade_options = complete(cascade_options);
  Cascade out;
  out.scores = Grid<double>(data.rows(), data.score_columns());
  std::vector<double> sum(known.front().weights.size(), 0.0);
  try {
    for (std::size_t l = 0; l < known.size() && !context.cancelled(); ++l) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += known[l].weights[i];
      const auto& source = options.cumulative ? sum : known[l].weights;
      const Subspace subspace = leading_subspace(source, features, known_outputs, options.components);
      MultiOutputData small = data;
      small.x = projected(data.x, subspace);
      const Design design = make_design(small, cascade_options.bias, context.threads);
      const auto loss = make_loss(small, cascade_options.loss, cascade_options.smoothing);
      const SparseGroup penalty(cascade_options.mix[l]);
      CascadeLevel level{.mix = cascade_options.mix[l],
                         .phi = cascade_options.phi[l],
                         .increment = zero_point(design),
                         .report = {}};
      level.report = minimise_fista(
          {design, *loss, penalty, level.phi, &out.scores}, level.increment,
          {.tolerance = cascade_options.tolerance, .max_iterations = cascade_options.max_iterations},
          context);
      ActiveColumns(design).scores(level.increment.weights,
                                   design.centred_bias(level.increment.bias, level.increment.weights),
                                   &out.scores, out.scores, context.threads);
      level.increment.weights = projected_back(subspace, level.increment.weights, features, data.outputs());
      level.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      level.peak_bytes = peak_bytes();
      out.levels.push_back(std::move(level));
    }
  } catch (const Cancelled&) {  // the levels so far are kept
  }
  return out;
}

OnlineCascade transfer_online(const OnlineCascade& known, Index outputs, bool own_rows) {
  OnlineCascade learner(known.options(), outputs, known.columns(), own_rows);
  for (Index l = 0; l < known.levels(); ++l) learner.set_known_group(l, known.group_squares(l));
  return learner;
}

}  // namespace sharelearn
