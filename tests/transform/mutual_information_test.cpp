#include "sharelearn/transform/mutual_information.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sharelearn {
namespace {

/// Four columns over eight rows: equal to the class, independent of it, constant, and present in half of one
/// class only.
Matrix columns() {
  DenseMatrix x(8, 4);
  for (Index i = 0; i < 8; ++i) {
    x(i, 0) = i < 4 ? 2.0F : 0.0F;
    x(i, 1) = i % 2 == 0 ? -1.0F : 0.0F;
    x(i, 2) = 1.0F;
    x(i, 3) = i < 2 ? 0.5F : 0.0F;
  }
  return Matrix(std::move(x));
}

const std::vector<std::int32_t> kClasses = {0, 0, 0, 0, 1, 1, 1, 1};

TEST(mutual_information, is_the_entropy_of_the_class_for_the_class_itself_and_zero_for_independent_columns) {
  const std::vector<double> information = mutual_information(columns(), kClasses, 2);
  EXPECT_NEAR(information[0], std::log(2.0), 1e-12);
  EXPECT_NEAR(information[1], 0.0, 1e-12);
  EXPECT_NEAR(information[2], 0.0, 1e-12);
  // H(class) - H(class | column): absent in 6 rows, 2 of them of the first class.
  const double conditional = -0.75 * (std::log(1.0 / 3) / 3 + 2 * std::log(2.0 / 3) / 3);
  EXPECT_NEAR(information[3], std::log(2.0) - conditional, 1e-12);
}

TEST(mutual_information, is_the_same_for_dense_and_sparse_columns) {
  const Matrix dense = columns();
  SparseMatrix sparse{8, 4, {0}, {}, {}};
  for (Index j = 0; j < 4; ++j) {
    for (Index i = 0; i < 8; ++i) {
      if (dense.dense()(i, j) == 0) continue;
      sparse.row.push_back(static_cast<std::uint32_t>(i));
      sparse.value.push_back(dense.dense()(i, j));
    }
    sparse.start.push_back(static_cast<Index>(sparse.row.size()));
  }
  EXPECT_EQ(mutual_information(dense, kClasses, 2), mutual_information(Matrix(sparse), kClasses, 2));
}

TEST(mutual_information, ranks_columns_most_informative_first) {
  EXPECT_EQ(most_informative_columns(columns(), kClasses, 2, 2), (std::vector<Index>{0, 3}));
}

}  // namespace
}  // namespace sharelearn
