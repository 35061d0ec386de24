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

/// Rows of each class, ascending.
std::vector<std::vector<WeightedRow>> rows_by_class(std::span<const std::int32_t> class_of_row,
                                                    std::span<const double> weights) {
  std::vector<std::vector<WeightedRow>> rows;
  for (std::size_t i = 0; i < class_of_row.size(); ++i) {
    const auto c = static_cast<std::size_t>(class_of_row[i]);
    if (c >= rows.size()) rows.resize(c + 1);
    rows[c].push_back({static_cast<Index>(i), weights.empty() ? 1.0 : weights[i]});
  }
  return rows;
}

/// Rows of each class, shuffled by the seed.
std::vector<std::vector<WeightedRow>> shuffled_by_class(std::span<const std::int32_t> class_of_row,
                                                        std::uint64_t seed, std::span<const double> weights) {
  auto rows = rows_by_class(class_of_row, weights);
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

/// What a split moves as a whole: rows of one class, in the order of the split.
struct Unit {
  std::vector<Index> rows;
  double weight = 0;
  std::uint64_t hash = 0;
};
using UnitsOfClass = std::vector<Unit>;

/// Every row a unit, shuffled by the seed.
std::vector<UnitsOfClass> single_rows(std::span<const std::int32_t> class_of_row, std::uint64_t seed,
                                      std::span<const double> weights) {
  std::vector<UnitsOfClass> units;
  for (const auto& of_class : shuffled_by_class(class_of_row, seed, weights)) {
    UnitsOfClass& into = units.emplace_back();
    for (const WeightedRow& row : of_class) into.push_back({{row.row}, row.weight, 0});
  }
  return units;
}

/// Equal rows of a class are one unit. Units, and the classes themselves, are in the order of the hashes,
/// which depends neither on how classes are numbered nor on rows of weight 0.
std::vector<UnitsOfClass> equal_rows(std::span<const std::int32_t> class_of_row,
                                     std::span<const std::uint64_t> hashes, std::span<const double> weights) {
  std::vector<UnitsOfClass> units;
  const auto hash = [&](const WeightedRow& row) { return mixed(hashes[to_size(row.row)]); };
  for (auto& of_class : rows_by_class(class_of_row, weights)) {
    std::ranges::stable_sort(of_class, {}, hash);
    UnitsOfClass& into = units.emplace_back();
    for (const WeightedRow& row : of_class) {
      if (into.empty() || hash(row) != into.back().hash) into.push_back({{}, 0, hash(row)});
      into.back().rows.push_back(row.row);
      into.back().weight += row.weight;
    }
  }
  const auto first_hash = [](const UnitsOfClass& of_class) {
    const auto first = std::ranges::find_if(of_class, [](const Unit& unit) { return unit.weight > 0; });
    return first == of_class.end() ? std::uint64_t{0} : first->hash;
  };
  std::ranges::stable_sort(units, {}, first_hash);
  return units;
}

/// Units of a split into `parts`. Rows are dealt one by one if no hashes are given, and if few of them
/// differ: a part would then lack whole patterns.
std::vector<UnitsOfClass> units_for(std::span<const std::int32_t> class_of_row, std::size_t parts,
                                    std::uint64_t seed, std::span<const double> weights,
                                    std::span<const std::uint64_t> hashes) {
  constexpr std::size_t most_copies = 4;  // of a row on average
  if (!hashes.empty()) {
    auto units = equal_rows(class_of_row, hashes, weights);
    std::size_t count = 0;
    for (const UnitsOfClass& of_class : units) count += of_class.size();
    if (count >= parts && count * most_copies >= class_of_row.size()) return units;
  }
  return single_rows(class_of_row, seed, weights);
}

}  // namespace

std::vector<std::uint64_t> row_hashes(const Matrix& x, std::uint64_t seed) {
  std::vector<std::uint64_t> hash(to_size(x.rows()), 0);
  for (Index j = 0; j < x.cols(); ++j) {
    const std::uint64_t place = mixed(seed + 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(j) + 1));
    // A sum over the values that are not 0, so that dense and sparse rows agree.
    const auto add = [&](std::size_t row, float value) {
      if (value != 0) hash[row] += mixed(place ^ std::bit_cast<std::uint32_t>(value));
    };
    if (x.is_sparse()) {
      const auto rows = x.sparse().column_rows(j);
      const auto values = x.sparse().column_values(j);
      for (std::size_t e = 0; e < rows.size(); ++e) add(rows[e], values[e]);
    } else {
      const auto values = x.dense().column_span(j);
      for (std::size_t i = 0; i < values.size(); ++i) add(i, values[i]);
    }
  }
  return hash;
}

Split stratified_holdout(std::span<const std::int32_t> class_of_row, double fraction, std::uint64_t seed,
                         std::span<const double> weights, std::span<const std::uint64_t> hashes) {
  std::vector<char> is_test(class_of_row.size(), 0);
  for (const UnitsOfClass& of_class : units_for(class_of_row, 2, seed, weights, hashes)) {
    double all = 0, taken = 0;
    for (const Unit& unit : of_class) all += unit.weight;
    for (const Unit& unit : of_class) {
      if (taken + unit.weight / 2 > fraction * all) break;
      for (const Index row : unit.rows) is_test[to_size(row)] = 1;
      taken += unit.weight;
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
                                    std::span<const double> weights, std::span<const std::uint64_t> hashes) {
  const auto count = static_cast<std::size_t>(folds);
  std::vector<std::size_t> fold_of_row(class_of_row.size(), 0);
  std::vector<double> all(count, 0.0);  // weight dealt to each fold, so that folds differ by one unit at most
  for (const UnitsOfClass& of_class : units_for(class_of_row, count, seed, weights, hashes)) {
    std::vector<double> own(count, 0.0);  // of this class
    for (const Unit& unit : of_class) {
      std::size_t least = 0;
      for (std::size_t f = 1; f < count; ++f) {
        if (std::pair(own[f], all[f]) < std::pair(own[least], all[least])) least = f;
      }
      for (const Index row : unit.rows) fold_of_row[to_size(row)] = least;
      own[least] += unit.weight;
      all[least] += unit.weight;
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

std::vector<Split> hashed_folds(const Matrix& x, int folds, std::uint64_t seed) {
  std::vector<int> fold_of_row;
  for (const std::uint64_t hash : row_hashes(x, seed)) {
    const auto fold = static_cast<int>(static_cast<double>(mixed(hash)) * 0x1p-64 * folds);
    fold_of_row.push_back(std::min(fold, folds - 1));
  }
  std::vector<Split> splits;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<char> is_test;
    for (const int of_row : fold_of_row) is_test.push_back(of_row == fold ? 1 : 0);
    splits.push_back(split_by_mark(is_test));
  }
  return splits;
}

}  // namespace sharelearn
