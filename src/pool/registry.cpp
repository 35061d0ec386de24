// The readers of stored features: one line per pool.
#include <fmt/core.h>

#include <array>

#include "pool/fourier.hpp"
#include "pool/induced_products.hpp"
#include "pool/kernel.hpp"
#include "pool/patch_feature.hpp"
#include "pool/pieces.hpp"
#include "sharelearn/pool/columns.hpp"
#include "sharelearn/pool/feature.hpp"
#include "sharelearn/pool/products.hpp"
#include "sharelearn/pool/stumps.hpp"

namespace sharelearn {
namespace {

struct Entry {
  std::string_view pool;
  FeaturePtr (*read)(ByteReader& in, Index columns);
};

// clang-format off
constexpr std::array kReaders{
    Entry{"columns", ColumnFeature::read},
    Entry{"stumps", StumpFeature::read},
    Entry{"products", ProductFeature::read},
    Entry{"monomials", MonomialFeature::read},
    Entry{"kernel", KernelFeature::read},
    Entry{"pieces", PieceFeature::read},
    Entry{"patches", PatchFeature::read},
    Entry{"fourier", FourierFeature::read},
};
// clang-format on

}  // namespace

void write_feature(ByteWriter& out, const Feature& feature) {
  out.text(feature.pool());
  feature.write(out);
}

FeaturePtr read_feature(ByteReader& in, Index columns) {
  const std::string pool = in.text();
  for (const Entry& entry : kReaders) {
    if (entry.pool == pool) return entry.read(in, columns);
  }
  in.damaged(fmt::format("it has a feature of the unknown pool '{}'", pool));
}

}  // namespace sharelearn
