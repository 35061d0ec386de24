// Every kernel with AVX2 and with AVX-512: the same bits, equal to the definition up to rounding, and no read
// or write beyond the given rows (their memory ends at a guard page).
#include "kernels/kernels.hpp"

#include <cmath>

#include "kernels/instruction_sets.hpp"
#include "kernels/panel.hpp"
#include "kernels/panel_products.hpp"
#include "kernels/soft_rows.hpp"
#include "kernels/softplus.hpp"

namespace sharelearn {
namespace {

using kernels::Block;

/// Every number of rows up to 100, and some numbers that need several blocks.
std::vector<Index> row_counts() {
  std::vector<Index> counts;
  for (Index rows = 1; rows <= 100; ++rows) counts.push_back(rows);
  for (const Index rows : {255, 256, 257, 505, 512}) counts.push_back(rows);
  return counts;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
}

/// Pointers to the columns of an unpadded block.
template <class T>
std::vector<const T*> pointers(Guarded<T>& block, Index rows, Index columns) {
  std::vector<const T*> out;
  for (Index j = 0; j < columns; ++j) out.push_back(block.data() + j * rows);
  return out;
}

/// sum_i x(i, a) r(i, c) at [a * outputs + c].
template <class T>
std::vector<double> products_of_columns(Guarded<float>& x, Guarded<T>& r, Index rows, Index columns,
                                        Index outputs) {
  std::vector<double> sums(static_cast<std::size_t>(columns * outputs), 0.0);
  for (Index a = 0; a < columns; ++a) {
    for (Index c = 0; c < outputs; ++c) {
      for (Index i = 0; i < rows; ++i) {
        sums[static_cast<std::size_t>(a * outputs + c)] +=
            static_cast<double>(x[a * rows + i]) * static_cast<double>(r[c * rows + i]);
      }
    }
  }
  return sums;
}

/// s(i, c) + sum_a x(i, a) w[a * outputs + c].
std::vector<double> combined(Guarded<float>& x, const std::vector<double>& w, Guarded<double>& s, Index rows,
                             Index columns, Index outputs) {
  std::vector<double> out = s.values();
  for (Index c = 0; c < outputs; ++c) {
    for (Index i = 0; i < rows; ++i) {
      for (Index a = 0; a < columns; ++a) {
        out[static_cast<std::size_t>(c * rows + i)] +=
            static_cast<double>(x[a * rows + i]) * w[static_cast<std::size_t>(a * outputs + c)];
      }
    }
  }
  return out;
}

std::vector<double> random_weights(Index count, Random& random) {
  std::vector<double> weights;
  for (Index i = 0; i < count; ++i) weights.push_back(random.uniform(-1, 1));
  return weights;
}

template <class T>
void correlations_agree(
    const std::function<void(Guarded<float>&, Guarded<T>&, Index rows, Index columns, Index outputs,
                             double*)>& kernel,
    double tolerance,
    const std::function<std::vector<double>(const std::function<std::vector<double>()>&)>& same_bits) {
  Random random(7);
  for (const Index rows : row_counts()) {
    const Index columns = 1 + random.below(9), outputs = 1 + random.below(8);
    Guarded<float> x(rows * columns);
    Guarded<T> r(rows * outputs);
    x.fill(random), r.fill(random);
    const auto sums = same_bits([&] {
      std::vector<double> out(static_cast<std::size_t>(columns * outputs), 0.0);
      kernel(x, r, rows, columns, outputs, out.data());
      return out;
    });
    expect_near(sums, products_of_columns(x, r, rows, columns, outputs), tolerance);
  }
}

TEST_F(InstructionSets, correlate_in_float) {
  correlations_agree<float>(
      [](auto& x, auto& r, Index rows, Index columns, Index outputs, double* out) {
        kernels::correlate(Block<float>{x.data(), rows, columns}, Block<float>{r.data(), rows, outputs}, rows,
                           out);
      },
      1e-4, same_bits);
}

TEST_F(InstructionSets, correlate_in_double) {
  correlations_agree<double>(
      [](auto& x, auto& r, Index rows, Index columns, Index outputs, double* out) {
        kernels::correlate(Block<float>{x.data(), rows, columns}, Block<double>{r.data(), rows, outputs},
                           rows, out);
      },
      1e-12, same_bits);
}

TEST_F(InstructionSets, add_correlations) {
  correlations_agree<double>(
      [](auto& x, auto& r, Index rows, Index columns, Index outputs, double* out) {
        kernels::add_correlations({pointers(x, rows, columns).data(), columns, 0, rows}, r.data(), rows,
                                  outputs, out, outputs);
      },
      1e-12, same_bits);
}

TEST_F(InstructionSets, add_correlations_over_more_rows_than_are_cached) {
  Random random(8);
  const Index rows = 1301;
  Guarded<float> x(rows * 5);
  Guarded<double> r(rows * 4);
  x.fill(random), r.fill(random);
  const auto sums = same_bits([&] {
    std::vector<double> out(20, 0.0);
    kernels::add_correlations({pointers(x, rows, 5).data(), 5, 0, rows}, r.data(), rows, 4, out.data(), 4);
    return out;
  });
  expect_near(sums, products_of_columns(x, r, rows, 5, 4), 1e-11);
}

using Combine = std::function<void(Guarded<float>&, const double* weights, Index rows, Index columns,
                                   Index outputs, double* scores)>;

TEST_F(InstructionSets, products_with_weights_add_to_scores) {
  const Combine kernels_of_this_kind[] = {
      [](auto& x, const double* w, Index rows, Index columns, Index outputs, double* s) {
        kernels::multiply_add({x.data(), rows, columns}, w, outputs, rows, s, rows);
      },
      [](auto& x, const double* w, Index rows, Index columns, Index outputs, double* s) {
        kernels::add_products({pointers(x, rows, columns).data(), columns, 0, rows}, w, outputs, outputs, s,
                              rows);
      }};
  Random random(9);
  for (const Combine& kernel : kernels_of_this_kind) {
    for (const Index rows : row_counts()) {
      const Index columns = 1 + random.below(70), outputs = 1 + random.below(8);
      Guarded<float> x(rows * columns);
      Guarded<double> scores(rows * outputs);
      x.fill(random), scores.fill(random);
      const std::vector<double> weights = random_weights(columns * outputs, random);
      const auto sums = same_bits([&] {
        Guarded<double> out(rows * outputs);
        std::copy_n(scores.data(), scores.size(), out.data());
        kernel(x, weights.data(), rows, columns, outputs, out.data());
        return out.values();
      });
      expect_near(sums, combined(x, weights, scores, rows, columns, outputs), 1e-12);
    }
  }
}

/// Value and residual, by the definition.
std::vector<double> softmax_by_definition(Guarded<double>& scores, Guarded<std::int32_t>& label,
                                          Guarded<double>& weight, double margin, Index classes) {
  const Index rows = label.size();
  std::vector<double> out(static_cast<std::size_t>(rows * classes + 1), 0.0);
  for (Index i = 0; i < rows; ++i) {
    double sum = 0;
    for (Index c = 0; c < classes; ++c) {
      sum += std::exp(scores[c * rows + i] - scores[label[i] * rows + i] + (c == label[i] ? 0 : margin));
    }
    out[0] += weight[i] * std::log(sum);
    for (Index c = 0; c < classes; ++c) {
      const double own = c == label[i] ? 0 : margin;
      const double rho = std::exp(scores[c * rows + i] - scores[label[i] * rows + i] + own) / sum;
      out[static_cast<std::size_t>(1 + c * rows + i)] = weight[i] * (rho - (c == label[i] ? 1 : 0));
    }
  }
  return out;
}

TEST_F(InstructionSets, softmax_loss_and_residual) {
  Random random(10);
  for (const Index rows : row_counts()) {
    const Index classes = 2 + random.below(10);
    Guarded<double> scores(rows * classes), weight(rows);
    Guarded<std::int32_t> label(rows);
    scores.fill(random), weight.fill(random);
    for (Index i = 0; i < rows * classes; ++i) scores[i] *= 10;
    for (Index i = 0; i < rows; ++i) label[i] = static_cast<std::int32_t>(random.below(classes));
    const auto given = same_bits([&] {
      Guarded<double> residual(rows * classes);
      std::vector<double> out{kernels::softmax_loss({scores.data(), rows, classes}, label.data(),
                                                    weight.data(), 1.0, rows, residual.data(), rows)};
      EXPECT_EQ(out[0], kernels::softmax_loss({scores.data(), rows, classes}, label.data(), weight.data(),
                                              1.0, rows, nullptr, 0));
      const auto values = residual.values();
      out.insert(out.end(), values.begin(), values.end());
      return out;
    });
    expect_near(given, softmax_by_definition(scores, label, weight, 1.0, classes), 1e-11);
  }
}

TEST_F(InstructionSets, softmax_hessian) {
  Random random(11);
  for (const Index rows : row_counts()) {
    const Index classes = 1 + random.below(10);
    Guarded<double> rho(rows * classes), weight(rows), direction(rows * classes);
    rho.fill(random), weight.fill(random), direction.fill(random);
    std::vector<double> expected = direction.values();
    for (Index i = 0; i < rows; ++i) {
      double mean = 0;
      for (Index c = 0; c < classes; ++c) mean += rho[c * rows + i] * direction[c * rows + i];
      for (Index c = 0; c < classes; ++c) {
        expected[static_cast<std::size_t>(c * rows + i)] =
            weight[i] * rho[c * rows + i] * (direction[c * rows + i] - mean);
      }
    }
    const auto given = same_bits([&] {
      Guarded<double> u(rows * classes);
      std::copy_n(direction.data(), direction.size(), u.data());
      kernels::softmax_hessian({rho.data(), rows, classes}, weight.data(), rows, u.data(), rows);
      return u.values();
    });
    expect_near(given, expected, 1e-12);
  }
}

TEST_F(InstructionSets, sum_dot_softplus_and_exponential) {
  Random random(12);
  for (const Index rows : row_counts()) {
    Guarded<double> a(rows), b(rows);
    a.fill(random), b.fill(random);
    double sum = 0, dot = 0;
    for (Index i = 0; i < rows; ++i) sum += a[i], dot += a[i] * b[i];
    expect_near(
        same_bits([&] {
          return std::vector<double>{kernels::sum(a.data(), rows), kernels::dot(a.data(), b.data(), rows)};
        }),
        {sum, dot}, 1e-12);
    same_bits([&] {
      Guarded<double> value(rows), probability(rows), power(rows), entropy(rows);
      kernels::softplus(a.data(), rows, value.data(), probability.data());
      kernels::exponential(a.data(), rows, power.data());
      kernels::q_log_q(a.data(), rows, entropy.data());
      std::vector<double> out = value.values();
      for (Index i = 0; i < rows; ++i) {
        EXPECT_NEAR(entropy[i], a[i] > 0 ? a[i] * std::log(a[i]) : 0.0, 1e-15);
        out.insert(out.end(), {probability[i], power[i], entropy[i]});
      }
      return out;
    });
  }
}

TEST_F(InstructionSets, soft_thresholded_rows) {
  Random random(13);
  for (Index count = 8; count <= 96; count += 8) {
    AlignedVector<double> row(static_cast<std::size_t>(count));
    for (double& v : row) v = random.uniform(-1, 1);
    double squares = 0;
    for (const double v : row) squares += std::pow(std::max(std::abs(v) - 0.3, 0.0), 2);
    const auto given = same_bits([&] {
      AlignedVector<double> out(row.size(), 1.0);
      kernels::add_soft(row.data(), count, 0.3, 0.7, out.data());
      std::vector<double> all(out.begin(), out.end());
      all.push_back(kernels::soft_squares(row.data(), count, 0.3));
      return all;
    });
    EXPECT_NEAR(given.back(), squares, 1e-12);
  }
}

TEST_F(InstructionSets, panel_gram_and_axpy) {
  Random random(14);
  for (const Index columns : {1, 5, 17, 33, 40}) {
    const Index stride = (columns + kernels::kGramPad - 1) / kernels::kGramPad * kernels::kGramPad;
    const Index count = 1 + random.below(kernels::kGramRows);
    AlignedVector<float> t(static_cast<std::size_t>(count * stride)), weight(static_cast<std::size_t>(count));
    for (float& v : t) v = static_cast<float>(random.uniform(-1, 1));
    for (float& v : weight) v = static_cast<float>(random.uniform());
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
    same_bits([&] {
      AlignedVector<float> scratch(static_cast<std::size_t>(kernels::kGramRows * stride));
      AlignedVector<float> gram(static_cast<std::size_t>(stride * stride), 0.0F);
      kernels::panel_gram(t.data(), stride, rows.data(), weight.data(), count, 0, columns, scratch.data(),
                          gram.data(), stride);
      std::vector<double> target(static_cast<std::size_t>(stride), 1.0), out;
      const kernels::Axpy task{t.data(), 0.3, target.data()};
      kernels::axpy_all(&task, 1, stride);
      for (Index j = 0; j < columns; ++j) {
        for (Index l = 0; l <= j; ++l) out.push_back(gram[static_cast<std::size_t>(j * stride + l)]);
      }
      out.insert(out.end(), target.begin(), target.end());
      return out;
    });
  }
}

}  // namespace
}  // namespace sharelearn
