// X' D X v in single precision against plain loops in double precision.
#include "solve/compact_hessian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sharelearn/loss/multiclass_logistic.hpp"
#include "support.hpp"

namespace sharelearn {
namespace {

constexpr Index kColumns = 21, kOutputs = 5;

struct Case {
  explicit Case(Index rows, double size)
      : x(test::random_dense(rows, kColumns, 3)),
        columns(rows),
        loss(test::random_labels(x, kOutputs, 4), kOutputs, test::equal_weights(rows), 1),
        scores(test::random_scores(rows, kOutputs, 5, size)) {
    for (Index j = 0; j < kColumns; ++j) columns.add(x.column(j));
    for (std::size_t at = 0; at < v.size(); ++at) v[at] = std::sin(static_cast<double>(at) + 1);
  }
  std::vector<double> product(const std::vector<Index>& named, int count) const {
    ThreadPool threads(count);
    CompactHessian hessian;
    hessian.reset(loss, columns, {0, 1}, scores, threads);  // memory of another size
    hessian.reset(loss, columns, named, scores, threads);
    std::vector<double> out(v.size(), 7.0);
    hessian.times(v, out, threads);
    return out;
  }
  std::vector<double> exactly(const std::vector<Index>& named) const {
    Grid<double> state(x.rows(), kOutputs), image(x.rows(), kOutputs);
    const auto weight = [&](Index j, Index c) { return v[static_cast<std::size_t>(j * kOutputs + c)]; };
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index c = 0; c < kOutputs; ++c) {
        for (const Index j : named) image(i, c) += static_cast<double>(x(i, j)) * weight(j, c);
      }
    }
    loss.hessian({0, x.rows()}, scores, state);
    loss.hessian_times(0, x.rows(), state, image.data(), image.stride());
    std::vector<double> out(v.size(), 0.0);
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index c = 0; c < kOutputs; ++c) {
        for (const Index j : named) {
          out[static_cast<std::size_t>(j * kOutputs + c)] += static_cast<double>(x(i, j)) * image(i, c);
        }
      }
    }
    return out;
  }

  DenseMatrix x;
  ColumnSet columns;
  MulticlassLogistic loss;
  Grid<double> scores;
  std::vector<double> v = std::vector<double>(kColumns * kOutputs);
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, size = 0;
  for (std::size_t at = 0; at < a.size(); ++at) {
    sum += (a[at] - b[at]) * (a[at] - b[at]);
    size += b[at] * b[at];
  }
  return std::sqrt(sum / size);
}

const std::vector<Index> kNamed = {0, 2, 3, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 1};

TEST(compact_hessian, is_the_whole_hessian_where_nothing_is_negligible) {
  for (const Index rows : {1, 31, 33, 1000, 2100}) {
    const Case of(rows, 0.3);
    EXPECT_LT(distance(of.product(kNamed, 1), of.exactly(kNamed)), 1e-5) << rows;
  }
}

TEST(compact_hessian, leaves_out_little_of_scores_that_are_almost_certain) {
  const Case of(2100, 12);
  const double missed = distance(of.product(kNamed, 1), of.exactly(kNamed));
  EXPECT_LT(missed, 0.02);
  EXPECT_GT(missed, 1e-5);
}

TEST(compact_hessian, has_the_same_bits_for_any_number_of_threads) {
  const Case of(5000, 4);
  EXPECT_EQ(of.product(kNamed, 1), of.product(kNamed, 3));
}

}  // namespace
}  // namespace sharelearn
