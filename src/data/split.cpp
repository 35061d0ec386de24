#include "sharelearn/data/split.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "data/to_size.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

struct WeightedRow {
  Index row;
  double weight;
};

/// Rows of each class, shuffled by the seed.
std::vector<std::vector<WeightedRow>> shuffled_by_class(std::span<const std::int32_t> class_of_row,
                                                        std::uint64_t seed, std::span<const double> weights) {
  std::vector<std::vector<WeightedRow>> rows;
  for (std::size_t i = 0; i < class_of_row.size(); ++i) {
    const auto c = static_cast<std::size_t>(class_of_row[i]);
    if (c >= rows.size()) rows.resize(c + 1);
    rows[c].push_back({static_cast<Index>(i), weights.empty() ? 1.0 : weights[i]});
  }
  for (std::size_t c = 0; c < rows.size(); ++c) Random(seed, c).shuffle(rows[c]);
  return rows;
}

double weight_of(std::span<const WeightedRow> rows) {
  double sum = 0;
  for (const WeightedRow& row : rows) sum += row.weight;
  return sum;
}

Split split_by_mark(const std::vector<char>& is_test) {
  Split split;
  for (std::size_t i = 0; i < is_test.size(); ++i) {
    (is_test[i] != 0 ? split.test : split.train).push_back(static_cast<Index>(i));
  }
  return split;
}

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Hash of each row: a sum over the values that are not 0, so that dense and sparse rows agree.
std::vector<std::uint64_t> row_hashes(const Matrix& x, std::uint64_t seed) {
  std::vector<std::uint64_t> hash(to_size(x.rows()), 0);
  const auto add = [&](std::size_t row, Index column, float value) {
    if (value == 0) return;
    const std::uint64_t place = mixed(seed + 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(column) + 1));
    hash[row] += mixed(place ^ std::bit_cast<std::uint32_t>(value));
  };
  for (Index j = 0; j < x.cols(); ++j) {
    if (x.is_sparse()) {
      const auto rows = x.sparse().column_rows(j);
      const auto values = x.sparse().column_values(j);
      for (std::size_t e = 0; e < rows.size(); ++e) add(rows[e], j, values[e]);
    } else {
      const auto values = x.dense().column_span(j);
      for (std::size_t i = 0; i < values.size(); ++i) add(i, j, values[i]);
    }
  }
  return hash;
}

}  // namespace

Split stratified_holdout(std::span<const std::int32_t> class_of_row, double fraction, std::uint64_t seed,
                         std::span<const double> weights) {
  std::vector<char> is_test(class_of_row.size(), 0);
  for (const auto& of_class : shuffled_by_class(class_of_row, seed, weights)) {
    const double wanted = fraction * weight_of(of_class);
    double taken = 0;
    for (const WeightedRow& row : of_class) {
      if (taken + row.weight / 2 > wanted) break;
      is_test[to_size(row.row)] = 1;
      taken += row.weight;
    }
  }
  return split_by_mark(is_test);
}

Split task_holdout(std::span<const std::int32_t> task_of_row, std::span<const std::int32_t> label_of_row,
                   double fraction, std::uint64_t seed, std::span<const double> weights) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> number;
  std::map<std::int32_t, Index> left;  // rows of each task that are still in the training part
  std::vector<std::int32_t> stratum;
  for (std::size_t i = 0; i < task_of_row.size(); ++i) {
    const auto next = static_cast<std::int32_t>(number.size());
    stratum.push_back(number.try_emplace({task_of_row[i], label_of_row[i]}, next).first->second);
    ++left[task_of_row[i]];
  }
  std::vector<std::vector<WeightedRow>> strata = shuffled_by_class(stratum, seed, weights);
  Random(seed, strata.size()).shuffle(strata);
  // A stratum may have only one or two rows. Rows that rounding leaves out of one stratum are taken from the
  // next.
  std::vector<char> is_test(task_of_row.size(), 0);
  double seen = 0, taken = 0;
  for (const auto& of_stratum : strata) {
    seen += weight_of(of_stratum);
    Index& of_task = left[task_of_row[to_size(of_stratum.front().row)]];
    for (const WeightedRow& row : of_stratum) {
      if (taken + row.weight / 2 > fraction * seen || of_task == 1) break;
      is_test[to_size(row.row)] = 1;
      taken += row.weight;
      --of_task;
    }
  }
  return split_by_mark(is_test);
}

std::vector<Split> stratified_folds(std::span<const std::int32_t> class_of_row, int folds, std::uint64_t seed,
                                    std::span<const double> weights) {
  const auto count = static_cast<std::size_t>(folds);
  std::vector<std::size_t> fold_of_row(class_of_row.size(), 0);
  std::vector<double> all(count, 0.0);  // weight dealt to each fold, so that folds differ by one row at most
  for (const auto& of_class : shuffled_by_class(class_of_row, seed, weights)) {
    std::vector<double> own(count, 0.0);  // of this class
    for (const WeightedRow& row : of_class) {
      std::size_t least = 0;
      for (std::size_t f = 1; f < count; ++f) {
        if (std::pair(own[f], all[f]) < std::pair(own[least], all[least])) least = f;
      }
      fold_of_row[to_size(row.row)] = least;
      own[least] += row.weight;
      all[least] += row.weight;
    }
  }
  std::vector<Split> splits;
  for (std::size_t fold = 0; fold < count; ++fold) {
    std::vector<char> is_test(class_of_row.size(), 0);
    for (std::size_t i = 0; i < is_test.size(); ++i) is_test[i] = fold_of_row[i] == fold ? 1 : 0;
    splits.push_back(split_by_mark(is_test));
  }
  return splits;
}

Split hashed_holdout(const Matrix& x, double fraction, std::uint64_t seed) {
  const double limit = fraction * 0x1p64;
  std::vector<char> is_test;
  for (const std::uint64_t hash : row_hashes(x, seed)) {
    is_test.push_back(static_cast<double>(mixed(hash)) < limit ? 1 : 0);
  }
  return split_by_mark(is_test);
}

}  // namespace sharelearn
