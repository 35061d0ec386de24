// Transforms of counts, such as the words of documents: fitted on the training rows, kept in the model,
// applied before the scaling. Zero stays zero, so sparse data stays sparse.
//
//   log1p   ln(1 + x)
//   binary  1 where x > 0
//   tfidf   x * idf_j, then each row divided by its Euclidean length; idf_j = ln((1 + n) / (1 + n_j)) + 1,
//           n the rows and n_j the rows with x_j > 0 (a row of weight 3 counts as three)
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

enum class CountTransformKind { none, log1p, binary, tfidf };
CountTransformKind count_transform_from(std::string_view name);
std::string_view name_of(CountTransformKind kind);

struct CountTransform {
  CountTransformKind kind = CountTransformKind::none;
  std::vector<double> idf;  ///< tfidf: one per column

  static CountTransform fit(const Matrix& x, CountTransformKind kind, ThreadPool& threads,
                            std::span<const double> row_weights = {});
  bool is_identity() const { return kind == CountTransformKind::none; }
  /// A value of the result depends on all columns of its row.
  bool reads_whole_rows() const { return kind == CountTransformKind::tfidf; }
  /// Throws InputError that names row and column of a negative value; `source` begins the message.
  void apply(Matrix& x, ThreadPool& threads, const std::string& source) const;
};

}  // namespace sharelearn
