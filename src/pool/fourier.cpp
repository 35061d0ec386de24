#include "pool/fourier.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "kernels/panel_products.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

namespace {

/// Raw columns held as floats at a time.
constexpr Index kColumnsAtOnce = 256;
/// A model file with more features is not read, and sizes are far from overflow.
constexpr Index kMostFeatures = Index{1} << 24;
/// Frequencies, columns x features: they are drawn anew for every few rows, so that a small file of a model
/// could ask for hours of work.
constexpr Index kMostFrequencies = Index{1} << 27;

}  // namespace

FourierFeature::FourierFeature(Index inputs, Index count, double sigma, std::uint64_t seed)
    : inputs_(inputs), count_(count), sigma_(sigma), seed_(seed) {
  if (count < 1 || count > kMostFeatures)
    throw InputError(fmt::format("expected 1 to {} random Fourier features, found {}", kMostFeatures, count));
  if (inputs > kMostFrequencies / count)
    throw InputError(
        fmt::format("{} random Fourier features of {} columns have too many frequencies: expected at most {}",
                    count, inputs, kMostFrequencies));
  if (!(sigma > 0 && std::isfinite(sigma))) {
    throw InputError(fmt::format("random Fourier features need sigma above 0, {} given", sigma));
  }
}

std::vector<double> FourierFeature::frequencies(Index column) const {
  Random random(seed_, static_cast<std::uint64_t>(column + 1));
  std::vector<double> out;
  for (Index a = 0; a < count_; ++a) out.push_back(random.normal() / std::sqrt(sigma_));
  return out;
}

std::vector<double> FourierFeature::phases() const {
  Random random(seed_, 0);
  std::vector<double> out;
  for (Index a = 0; a < count_; ++a) out.push_back(random.uniform(0, 2 * std::numbers::pi));
  return out;
}

double FourierFeature::scale() const {
  return std::sqrt(2.0 / static_cast<double>(count_));
}

void FourierFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  Grid<double> angle(x.rows(), count_);
  for (Index begin = 0; begin < inputs_; begin += kColumnsAtOnce) {
    const Index count = std::min(kColumnsAtOnce, inputs_ - begin);
    DenseMatrix columns(x.rows(), count);
    std::vector<const float*> pointers;
    std::vector<double> frequency;
    for (Index j = 0; j < count; ++j) {
      x.column(begin + j, columns.column(j));
      pointers.push_back(columns.column(j));
      const std::vector<double> of_column = frequencies(begin + j);
      frequency.insert(frequency.end(), of_column.begin(), of_column.end());
    }
    for (Index block = 0; block < blocks_of(x.rows()); ++block) {
      const RowRange rows = block_range(block, x.rows());
      kernels::add_products({pointers.data(), count, rows.begin, rows.size()}, frequency.data(), count_,
                            count_, angle.data() + rows.begin, angle.stride());
    }
  }
  const std::vector<double> phase = phases();
  const double height = scale();
  for (Index a = 0; a < count_; ++a) {
    float* to = out.column(first_column + a);
    for (Index i = 0; i < x.rows(); ++i) {
      to[i] = static_cast<float>(height * std::cos(angle(i, a) + phase[static_cast<std::size_t>(a)]));
    }
  }
}

nlohmann::json FourierFeature::describe(const std::vector<std::string>&) const {
  return {{"pool", "fourier"}, {"columns", inputs_}, {"count", count_}, {"sigma", sigma_}, {"seed", seed_}};
}

formula::Formula FourierFeature::formula() const {
  using formula::make;
  // Numbers, their JSON and a copy of it.
  require_memory(80.0 * static_cast<double>(inputs_) * static_cast<double>(count_),
                 fmt::format("the formula of {} random Fourier features of {} columns", count_, inputs_));
  formula::Projection projection{.of = make(formula::AllColumns{inputs_})};
  projection.directions.assign(static_cast<std::size_t>(count_), {});
  for (Index j = 0; j < inputs_; ++j) {
    const std::vector<double> of_column = frequencies(j);
    for (std::size_t a = 0; a < of_column.size(); ++a) projection.directions[a].push_back(of_column[a]);
  }
  const auto angle = make(formula::Affine{make(std::move(projection)), 1, phases()});
  return make(formula::Affine{make(formula::Cos{angle}), scale()});
}

std::vector<Index> FourierFeature::inputs() const {
  std::vector<Index> all(static_cast<std::size_t>(inputs_));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

void FourierFeature::write(ByteWriter& out) const {
  out.index(inputs_);
  out.index(count_);
  out.f64(sigma_);
  out.u64(seed_);
}

FeaturePtr FourierFeature::read(ByteReader& in, Index columns) {
  const Index inputs = in.index(0, columns);
  const Index count = in.index(1, kMostFeatures);
  const double sigma = in.f64();
  if (!(sigma > 0)) in.damaged("the width of its Fourier features is not positive");
  if (inputs > kMostFrequencies / count) in.damaged("its Fourier features have too many frequencies");
  // The file holds only the seed of the frequencies.
  require_memory(
      8.0 * static_cast<double>(inputs) +
          16.0 * static_cast<double>(std::min(inputs, kColumnsAtOnce)) * static_cast<double>(count),
      fmt::format("{} random Fourier features of {} columns", count, inputs));
  return std::make_shared<FourierFeature>(inputs, count, sigma, in.u64());
}

}  // namespace sharelearn
