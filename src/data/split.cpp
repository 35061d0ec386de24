#include "sharelearn/data/split.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Rows of each class, shuffled by the seed.
std::vector<std::vector<Index>> shuffled_by_class(std::span<const std::int32_t> class_of_row,
                                                  std::uint64_t seed) {
  std::vector<std::vector<Index>> rows;
  for (std::size_t i = 0; i < class_of_row.size(); ++i) {
    const auto c = static_cast<std::size_t>(class_of_row[i]);
    if (c >= rows.size()) rows.resize(c + 1);
    rows[c].push_back(static_cast<Index>(i));
  }
  for (std::size_t c = 0; c < rows.size(); ++c) Random(seed, c).shuffle(rows[c]);
  return rows;
}

Split split_by_mark(const std::vector<char>& is_test) {
  Split split;
  for (std::size_t i = 0; i < is_test.size(); ++i) {
    (is_test[i] != 0 ? split.test : split.train).push_back(static_cast<Index>(i));
  }
  return split;
}

}  // namespace

Split stratified_holdout(std::span<const std::int32_t> class_of_row, double fraction, std::uint64_t seed) {
  std::vector<char> is_test(class_of_row.size(), 0);
  for (const auto& rows : shuffled_by_class(class_of_row, seed)) {
    const auto take = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(rows.size())));
    for (std::size_t i = 0; i < std::min(take, rows.size()); ++i)
      is_test[static_cast<std::size_t>(rows[i])] = 1;
  }
  return split_by_mark(is_test);
}

Split task_holdout(std::span<const std::int32_t> task_of_row, std::span<const std::int32_t> label_of_row,
                   double fraction, std::uint64_t seed) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> number;
  std::map<std::int32_t, Index> left;  // rows of each task that are learned from
  std::vector<std::int32_t> stratum;
  for (std::size_t i = 0; i < task_of_row.size(); ++i) {
    const auto next = static_cast<std::int32_t>(number.size());
    stratum.push_back(number.try_emplace({task_of_row[i], label_of_row[i]}, next).first->second);
    ++left[task_of_row[i]];
  }
  std::vector<std::vector<Index>> strata = shuffled_by_class(stratum, seed);
  Random(seed, strata.size()).shuffle(strata);
  // A stratum may be a row or two: what rounding leaves out of one is taken from the next.
  std::vector<char> is_test(task_of_row.size(), 0);
  Index seen = 0, taken = 0;
  for (const auto& rows : strata) {
    seen += std::ssize(rows);
    Index& of_task = left[task_of_row[static_cast<std::size_t>(rows.front())]];
    const Index wanted = std::llround(fraction * static_cast<double>(seen)) - taken;
    const Index take = std::min({wanted, Index{std::ssize(rows)}, of_task - 1});
    for (Index i = 0; i < take; ++i) is_test[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])] = 1;
    taken += take;
    of_task -= take;
  }
  return split_by_mark(is_test);
}

std::vector<Split> stratified_folds(std::span<const std::int32_t> class_of_row, int folds,
                                    std::uint64_t seed) {
  std::vector<int> fold_of_row(class_of_row.size(), 0);
  std::size_t dealt = 0;  // dealing goes on from class to class, so that folds differ by one row at most
  for (const auto& rows : shuffled_by_class(class_of_row, seed)) {
    for (const Index row : rows) {
      fold_of_row[static_cast<std::size_t>(row)] =
          static_cast<int>(dealt++ % static_cast<std::size_t>(folds));
    }
  }
  std::vector<Split> splits;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<char> is_test(class_of_row.size(), 0);
    for (std::size_t i = 0; i < is_test.size(); ++i) is_test[i] = fold_of_row[i] == fold ? 1 : 0;
    splits.push_back(split_by_mark(is_test));
  }
  return splits;
}

}  // namespace sharelearn
