#include "sharelearn/pool/fourier.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "kernels/panel_products.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {

namespace {

/// Raw columns held as floats at a time.
constexpr Index kColumnsAtOnce = 256;

}  // namespace

FourierFeature::FourierFeature(Index inputs, Index count, double sigma, std::uint64_t seed)
    : inputs_(inputs), count_(count), sigma_(sigma), seed_(seed) {
  if (count < 1) throw InputError(fmt::format("random Fourier features: {} of them asked for", count));
  if (!(sigma > 0 && std::isfinite(sigma))) {
    throw InputError(fmt::format("random Fourier features need sigma above 0, {} given", sigma));
  }
}

void FourierFeature::evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const {
  // Column j's frequencies come from stream j + 1, the phases from stream 0.
  Grid<double> angle(x.rows(), count_);
  for (Index begin = 0; begin < inputs_; begin += kColumnsAtOnce) {
    const Index count = std::min(kColumnsAtOnce, inputs_ - begin);
    DenseMatrix columns(x.rows(), count);
    std::vector<const float*> pointers;
    std::vector<double> frequency;
    for (Index j = 0; j < count; ++j) {
      x.column(begin + j, columns.column(j));
      pointers.push_back(columns.column(j));
      Random random(seed_, static_cast<std::uint64_t>(begin + j + 1));
      for (Index a = 0; a < count_; ++a) frequency.push_back(random.normal() / std::sqrt(sigma_));
    }
    for (Index block = 0; block < blocks_of(x.rows()); ++block) {
      const RowRange rows = block_range(block, x.rows());
      kernels::add_products({pointers.data(), count, rows.begin, rows.size()}, frequency.data(), count_,
                            count_, angle.data() + rows.begin, angle.stride());
    }
  }
  Random random(seed_, 0);
  const double scale = std::sqrt(2.0 / static_cast<double>(count_));
  for (Index a = 0; a < count_; ++a) {
    const double phase = random.uniform(0, 2 * std::numbers::pi);
    float* to = out.column(first_column + a);
    for (Index i = 0; i < x.rows(); ++i) to[i] = static_cast<float>(scale * std::cos(angle(i, a) + phase));
  }
}

nlohmann::json FourierFeature::describe(const std::vector<std::string>&) const {
  return {{"pool", "fourier"}, {"columns", inputs_}, {"count", count_}, {"sigma", sigma_}, {"seed", seed_}};
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
  const Index count = in.index(1, Index{1} << 24);
  const double sigma = in.f64();
  if (!(sigma > 0)) in.damaged("the width of its Fourier features is not positive");
  return std::make_shared<FourierFeature>(inputs, count, sigma, in.u64());
}

}  // namespace sharelearn
