#include "pool/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pool/distances.hpp"

namespace sharelearn {
namespace {

float gaussian(double squared, double sigma) {
  return static_cast<float>(std::exp(-squared / (2 * sigma)));
}

Matrix kernel_matrix(const ColumnView& x, const Grid<float>& support, double sigma, ThreadPool& threads) {
  DenseMatrix kernel(x.rows(), support.cols());
  Distances(support).for_each_strip(x, threads, [&](RowRange rows, const double* squared) {
    for (Index n = 0; n < support.cols(); ++n) {
      float* out = kernel.column(n) + rows.begin;
      for (Index r = 0; r < rows.size(); ++r) out[r] = gaussian(squared[n * RowProducts::kRows + r], sigma);
    }
  });
  return Matrix(std::move(kernel));
}

}  // namespace

void KernelFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  Grid<float> point(static_cast<Index>(point_.size()), 1);
  std::copy(point_.begin(), point_.end(), point.column(0));
  ThreadPool alone(1);
  const Matrix values = kernel_matrix(x, point, sigma_, alone);
  values.copy_column(0, out.column(first_column));
}

nlohmann::json KernelFeature::describe(const std::vector<std::string>&) const {
  return {{"pool", "kernel"}, {"support", number_}, {"sigma", sigma_}};
}

formula::Formula KernelFeature::formula() const {
  using formula::make;
  const auto row = make(formula::AllColumns{std::ssize(point_)});
  const auto squared = make(formula::SquaredDistance{row, point_});
  return make(formula::Exp{make(formula::Affine{squared, -1 / (2 * sigma_)})});
}

std::vector<Index> KernelFeature::inputs() const {
  std::vector<Index> all(point_.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

void KernelFeature::write(ByteWriter& out) const {
  out.floats(point_);
  out.f64(sigma_);
  out.index(number_);
}

FeaturePtr KernelFeature::read(ByteReader& in, Index columns) {
  std::vector<float> point = in.floats();
  if (std::ssize(point) != columns)
    in.damaged("a kernel's point has another number of columns than the model");
  if (!std::all_of(point.begin(), point.end(), [](float v) { return std::isfinite(v); })) {
    in.damaged("a kernel's point has a value that is not a number");
  }
  const double sigma = in.f64();
  if (!(sigma > 0)) in.damaged("a kernel's sigma is not positive");
  return std::make_shared<KernelFeature>(std::move(point), sigma, in.index(0, Index{1} << 40));
}

KernelPool::KernelPool(const ColumnView& x, Grid<float> support, double sigma, ThreadPool& threads)
    : support_(std::move(support)),
      sigma_(sigma),
      kernel_(kernel_matrix(x, support_, sigma, threads)),
      columns_(kernel_) {}

void KernelPool::correlate(const Grid<float>& residual, ThreadPool& threads,
                           const BlockVisitor& visit) const {
  columns_.correlate(residual, threads, visit);
}

void KernelPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  columns_.values(candidate, out, first_column);
}

FeaturePtr KernelPool::feature(Index candidate) const {
  const auto point = support_.column_span(candidate);
  return std::make_shared<KernelFeature>(std::vector<float>(point.begin(), point.end()), sigma_, candidate);
}

}  // namespace sharelearn
