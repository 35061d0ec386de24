#include "fit/splits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// What a split must not divide; empty: nothing.
const LabelColumn& blocks_of(const Dataset& rows) {
  return rows.group.empty() ? rows.fold : rows.group;
}

/// The rows' names as numbers from 0, ascending as classes are: they do not depend on the order of the rows.
struct Numbered {
  explicit Numbered(const LabelColumn& column) : of_row(column.id.size()) {
    std::vector<char> occurs(column.names.size(), 0);
    for (const std::int32_t id : column.id) occurs[static_cast<std::size_t>(id)] = 1;
    for (std::size_t id = 0; id < occurs.size(); ++id) {
      if (occurs[id] != 0) names.push_back(column.names[id]);
    }
    sort_labels(names);
    std::unordered_map<std::string_view, std::int32_t> number;
    for (const std::string& name : names) number.emplace(name, static_cast<std::int32_t>(number.size()));
    for (std::size_t i = 0; i < of_row.size(); ++i)
      of_row[i] = number.at(column.names[static_cast<std::size_t>(column.id[i])]);
  }
  int count() const { return static_cast<int>(names.size()); }
  std::vector<std::string> names;
  std::vector<std::int32_t> of_row;
};

/// Labels as strata; one stratum where most rows have labels of their own.
std::vector<std::int32_t> label_strata(const Dataset& rows) {
  std::vector<std::int32_t> strata(to_size(rows.rows()), 0);
  if (std::ssize(rows.label.names) * 2 > rows.rows()) return strata;
  for (std::size_t i = 0; i < rows.label.id.size(); ++i) strata[i] = rows.label.id[i] + 1;
  return strata;
}

/// Throws if rows of a group are in different folds.
void check_groups_in_folds(const Dataset& rows) {
  std::vector<std::int32_t> fold_of(rows.group.names.size(), -1);
  for (std::size_t i = 0; i < rows.group.id.size(); ++i) {
    const auto group = static_cast<std::size_t>(rows.group.id[i]);
    const std::int32_t fold = rows.fold.id[i];
    if (fold_of[group] < 0) fold_of[group] = fold;
    if (fold_of[group] == fold) continue;
    throw InputError(fmt::format(
        "{}: group '{}' is in fold '{}' and in fold '{}'; expected all rows of a group in one fold",
        rows.source, rows.group.names[group], rows.fold.names[static_cast<std::size_t>(fold_of[group])],
        rows.fold.names[static_cast<std::size_t>(fold)]));
  }
}

}  // namespace

std::vector<Split> folds_for(const Dataset& rows, std::span<const std::int32_t> strata, Index folds,
                             std::uint64_t seed) {
  const int count = static_cast<int>(folds);
  if (!rows.fold.empty()) {
    const Numbered fold(rows.fold);
    return splits_by_fold(fold.of_row, fold.count());
  }
  if (rows.group.empty()) return stratified_folds(strata, count, seed, rows.weight, row_hashes(rows.x, seed));
  const Numbered group(rows.group);
  if (group.count() < count) {
    throw OptionError::of_value("folds", fmt::format("{}", folds),
                                fmt::format("expected at most {}, the number of groups", group.count()));
  }
  return group_folds(group.of_row, strata, count, seed, rows.weight);
}

Split holdout_for(const Dataset& rows, std::span<const std::int32_t> strata, double fraction,
                  std::uint64_t seed, bool equal_together) {
  const LabelColumn& blocks = blocks_of(rows);
  if (!blocks.empty()) return group_holdout(Numbered(blocks).of_row, strata, fraction, seed, rows.weight);
  if (!equal_together) return stratified_holdout(strata, fraction, seed, rows.weight);
  // With the hashes of the side splits, these rows would be the very ones that a side split of the rest
  // takes.
  return stratified_holdout(strata, fraction, seed, rows.weight, row_hashes(rows.x, ~seed));
}

Split side_holdout(const Dataset& rows, double fraction, std::uint64_t seed) {
  const LabelColumn& blocks = blocks_of(rows);
  if (blocks.empty()) return hashed_holdout(rows.x, fraction, seed);
  return group_holdout(Numbered(blocks).of_row, label_strata(rows), fraction, seed, rows.weight);
}

std::vector<Split> side_folds(const Dataset& rows, int folds, std::uint64_t seed) {
  const LabelColumn& blocks = blocks_of(rows);
  if (blocks.empty()) return hashed_folds(rows.x, folds, seed);
  const Numbered block(blocks);
  if (block.count() < 2) return {};
  return group_folds(block.of_row, label_strata(rows), std::min(folds, block.count()), seed, rows.weight);
}

void take_folds(const Dataset& train, const FieldTable& table) {
  if (train.fold.empty()) return;
  const Field* field = table.find("folds");
  if (field == nullptr) throw OptionError("fold-column", "the method has no cross-validation");
  if (!field->applies()) throw OptionError("fold-column", field->requirement());
  const int count = Numbered(train.fold).count();
  if (count < 2) throw OptionError("fold-column", "expected at least 2 different folds, found 1");
  if (field->is_set() && field->get() != count) {
    throw OptionError::of_value("folds", field->get().dump(), fmt::format("the data has {} folds", count));
  }
  field->set(count);
  if (!train.group.empty()) check_groups_in_folds(train);
}

}  // namespace sharelearn
