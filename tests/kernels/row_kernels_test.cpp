// The kernels over packed rows, with AVX2 and with AVX-512: the same bits.
#include <cmath>

#include "kernels/byte_correlation.hpp"
#include "kernels/class_rows.hpp"
#include "kernels/entry_rows.hpp"
#include "kernels/instruction_sets.hpp"
#include "kernels/local_rows.hpp"
#include "kernels/nearest.hpp"
#include "kernels/outer_sums.hpp"
#include "kernels/patch_response.hpp"
#include "kernels/row_sums.hpp"
#include "kernels/support_rows.hpp"

namespace sharelearn {
namespace {

template <class T>
AlignedVector<T> random_numbers(Index count, Random& random) {
  AlignedVector<T> out(static_cast<std::size_t>(count));
  for (T& v : out) v = static_cast<T>(random.uniform(-1, 1));
  return out;
}

template <class... Vectors>
std::vector<double> joined(const Vectors&... vectors) {
  std::vector<double> out;
  (out.insert(out.end(), vectors.begin(), vectors.end()), ...);
  return out;
}

std::vector<std::uint32_t> every_other(Index rows) {
  std::vector<std::uint32_t> index;
  for (Index i = 0; i < rows; i += 2) index.push_back(static_cast<std::uint32_t>(i));
  return index;
}

TEST_F(InstructionSets, outer_sums) {
  Random random(1);
  for (Index rows = 1; rows <= 40; ++rows) {
    const auto left = random_numbers<float>(rows * kernels::kTileLeft, random);
    const auto right = random_numbers<float>(rows * kernels::kTileRightFloat, random);
    const AlignedVector<double> wide_left(left.begin(), left.end());
    const auto wide_right = random_numbers<double>(rows * kernels::kTileRightDouble, random);
    const auto index = every_other(rows);
    same_bits([&] {
      AlignedVector<float> a(kernels::kTileLeft * kernels::kTileRightFloat), b(a.size());
      AlignedVector<double> c(kernels::kTileLeft * kernels::kTileRightDouble);
      kernels::outer_sums(left.data(), right.data(), rows, a.data());
      kernels::outer_sums_at(left.data(), kernels::kTileLeft, right.data(), kernels::kTileRightFloat,
                             index.data(), std::ssize(index), b.data());
      kernels::outer_sums(wide_left.data(), wide_right.data(), rows, c.data());
      return joined(a, b, c);
    });
  }
}

TEST_F(InstructionSets, products_and_sums_of_the_entries_of_rows) {
  constexpr Index rows = 3;
  const std::vector<std::uint32_t> first = {0, 2, 3, 9}, output = {0, 4, 4, 0, 1, 2, 3, 4, 5};
  const std::vector<kernels::EntryPlace> places = {{0, 0}, {3, 2}, {4, 2}, {5, 2}, {6, 2},
                                                   {1, 0}, {2, 1}, {7, 2}, {8, 2}};
  Random random(9);
  for (Index columns = kernels::kEntryPad; columns <= 20 * kernels::kEntryPad;
       columns += kernels::kEntryPad) {
    const auto x = random_numbers<float>(rows * columns, random);
    const auto weights = random_numbers<float>(6 * columns, random);
    const kernels::EntryRows entries{x.data(), columns, rows, first.data(), output.data()};
    std::vector<float> exact(output.size(), 0.0F);
    for (const auto [entry, row] : places) {
      double sum = 0;
      for (Index j = 0; j < columns; ++j) {
        sum += static_cast<double>(x[static_cast<std::size_t>(row * columns + j)]) *
               static_cast<double>(weights[static_cast<std::size_t>(output[entry] * columns + j)]);
      }
      exact[entry] = static_cast<float>(sum);
    }
    same_bits([&] {
      std::vector<float> products(output.size()), sums(weights.begin(), weights.end());
      kernels::entry_products(entries, weights.data(), products.data());
      for (std::size_t e = 0; e < exact.size(); ++e) EXPECT_NEAR(products[e], exact[e], 1e-4);
      kernels::add_entries(entries, places.data(), std::ssize(places), products.data(), sums.data());
      // Output 4 has an entry of each row.
      for (Index j = 0; j < columns; j += 7) {
        const auto at = static_cast<std::size_t>(4 * columns + j), of = static_cast<std::size_t>(j);
        const float expected = weights[at] + products[1] * x[of] +
                               products[2] * x[of + static_cast<std::size_t>(columns)] +
                               products[7] * x[of + static_cast<std::size_t>(2 * columns)];
        EXPECT_NEAR(sums[at], expected, 1e-3);
      }
      return joined(products, sums);
    });
  }
}

TEST_F(InstructionSets, products_and_sums_at_rows_by_number) {
  Random random(2);
  for (Index rows = 1; rows <= 40; ++rows) {
    const Index width = 1 + random.below(9), outputs = kernels::kOutputPad * (1 + random.below(5));
    const auto x = random_numbers<double>(rows * width, random);
    const auto weights = random_numbers<double>(width * outputs, random);
    const auto residual = random_numbers<double>(rows * outputs, random);
    const auto narrow = random_numbers<float>(rows * outputs, random);
    const auto index = every_other(rows);
    const std::vector<std::uint8_t> code(static_cast<std::size_t>(rows), 1);
    same_bits([&] {
      AlignedVector<double> scores(static_cast<std::size_t>(rows * outputs), 0.5);
      AlignedVector<double> sums(static_cast<std::size_t>(width * outputs), 0.5);
      AlignedVector<double> totals(static_cast<std::size_t>(2 * outputs), 0.0);
      const kernels::IndexedRows at{x.data(), width, width, index.data(), std::ssize(index)};
      kernels::add_products_at(at, weights.data(), outputs, 0, scores.data());
      kernels::add_outer_sums_at(at, residual.data(), outputs, sums.data());
      kernels::add_rows(narrow.data(), outputs, index.data(), std::ssize(index), totals.data());
      kernels::add_rows_by_code(narrow.data(), outputs, code.data(), rows, totals.data());
      return joined(scores, sums, totals);
    });
  }
}

TEST_F(InstructionSets, nearest_centres) {
  Random random(3);
  Grid<float> centres(7, 21);
  for (Index c = 0; c < 21; ++c) {
    for (float& v : centres.column_span(c)) v = static_cast<float>(random.uniform(-1, 1));
  }
  const kernels::PackedCentres packed = kernels::pack_centres(centres);
  for (Index rows = 1; rows <= 20; ++rows) {
    const auto points = random_numbers<float>(rows * 7, random);
    same_bits([&] {
      std::vector<std::int32_t> nearest(static_cast<std::size_t>(rows));
      std::vector<float> best(nearest.size());
      kernels::nearest_centres(points.data(), rows, packed, nearest.data(), best.data());
      return joined(nearest, best);
    });
  }
}

TEST_F(InstructionSets, correlations_of_bytes) {
  Random random(4);
  for (Index pairs = 1; pairs <= 150; pairs += 7) {
    const Index outputs = 1 + random.below(11);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2 * pairs * kernels::kByteColumns));
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random.below(256));
    std::vector<std::int32_t> rows(static_cast<std::size_t>(2 * pairs));
    for (auto& row : rows) row = static_cast<std::int32_t>(random.below(2 * pairs));
    std::vector<std::int16_t> residual(static_cast<std::size_t>(2 * pairs * outputs));
    for (auto& r : residual) {
      r = static_cast<std::int16_t>(random.below(2 * kernels::kResidualLimit + 1) - kernels::kResidualLimit);
    }
    same_bits([&] {
      std::vector<double> sums(static_cast<std::size_t>(kernels::kByteColumns * outputs), 0.0);
      kernels::correlate_bytes(bytes.data(), rows.data(), pairs, residual.data(), outputs, sums.data());
      return sums;
    });
  }
}

TEST_F(InstructionSets, support_and_class_rows) {
  Random random(5);
  for (Index dims = 1; dims <= 20; ++dims) {
    const auto narrow = random_numbers<float>(dims * kernels::kSupportLanes, random);
    const auto wide = random_numbers<double>(dims * kernels::kSupportLanes, random);
    const auto z = random_numbers<double>(6 * dims, random);
    std::vector<const double*> rows;
    for (Index r = 0; r < 6; ++r) rows.push_back(z.data() + r * dims);
    const Index classes = kernels::padded_classes(dims * 3);
    const auto per_class = random_numbers<double>(2 * classes, random);
    const double* of_class[] = {per_class.data(), per_class.data() + classes};
    const AlignedVector<double> count(static_cast<std::size_t>(classes), 3.0), inverse(count.size(), 1.0 / 3);
    const double x[] = {0.3, -0.7}, weight[] = {1.7, 0.1};
    same_bits([&] {
      AlignedVector<double> a(48), b(48), c(48), d(48);
      kernels::block_distances(narrow.data(), dims, rows.data(), 6, dims, a.data());
      kernels::block_distances(wide.data(), dims, rows.data(), 6, dims, b.data());
      kernels::block_dots(narrow.data(), dims, rows.data(), 6, c.data());
      kernels::block_dots(wide.data(), dims, rows.data(), 6, d.data());
      AlignedVector<double> scores(static_cast<std::size_t>(classes), 0.1);
      kernels::add_rows(scores.data(), classes, of_class, x, 2);
      for (const MapKind kind : {MapKind::product, MapKind::frequency, MapKind::difference}) {
        FeatureMap map;
        map.kind = kind;
        kernels::add_mapped(map, scores.data(), classes, of_class, x, weight, 2,
                            {count.data(), inverse.data()});
        kernels::add_mapped_each(map, scores.data(), classes, of_class[0], 0.4, of_class[1],
                                 {count.data(), inverse.data()});
      }
      return joined(a, b, c, d, scores);
    });
  }
}

TEST_F(InstructionSets, contrast_of_image_patches) {
  Random random(6);
  for (Index count = 1; count <= 40; ++count) {
    const Index size = 3;
    std::vector<std::int32_t> sums(static_cast<std::size_t>(count + size + 16)), squares(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = static_cast<std::int32_t>(random.below(300));
      squares[i] = sums[i] * sums[i] + static_cast<std::int32_t>(random.below(3000));
    }
    same_bits([&] {
      std::vector<float> spread(static_cast<std::size_t>(count + 8));
      std::vector<std::int16_t> contrast(spread.size()), scaled(spread.size());
      kernels::contrast_row(sums.data(), squares.data(), size, 0.013F, count, spread.data(), contrast.data());
      kernels::scale_factors(contrast.data(), 12345, count, scaled.data());
      return joined(std::vector<float>(spread.begin(), spread.begin() + count),
                    std::vector<std::int16_t>(contrast.begin(), contrast.begin() + count), scaled);
    });
  }
}

}  // namespace
}  // namespace sharelearn
