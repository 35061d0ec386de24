#include "sharelearn/data/categories.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "data/labels.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// The levels that occur, ascending.
std::vector<std::string> levels_of(const TextColumn& column, const std::string& source) {
  std::vector<std::string> levels = column.values.names;
  if (std::ssize(levels) > kMostCategoryLevels) {
    throw InputError(
        fmt::format("{}: column '{}' holds text with {} different values ('{}', for example), and a category "
                    "can have {} at most; leave the column out with `ignore-columns` {}",
                    source, column.name, levels.size(), levels.front(), kMostCategoryLevels, column.name));
  }
  if (levels.empty()) {
    throw InputError(
        fmt::format("{}: column '{}' has no value in any row; leave it out with "
                    "`ignore-columns` {}",
                    source, column.name, column.name));
  }
  sort_labels(levels);
  return levels;
}

void require_distinct(const std::vector<std::string>& names, const std::string& source) {
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    throw InputError(
        fmt::format("{}: two columns would be named '{}' once the categories have a column per "
                    "level; rename one",
                    source, name));
  }
}

}  // namespace

LabelColumn text_as_read(const LabelColumn& raw) {
  LabelCollector read;
  for (const std::int32_t id : raw.id) {
    const std::string_view text = id < 0 ? "" : std::string_view(raw.names[static_cast<std::size_t>(id)]);
    if (is_missing_text(text)) {
      read.add_none();
    } else {
      read.add(text);
    }
  }
  return read.take(true);
}

std::vector<std::string> level_names(const Category& category) {
  std::vector<std::string> names;
  for (const std::string& level : category.levels)
    names.push_back(fmt::format("{}={}", category.name, level));
  return names;
}

void write_levels(const LabelColumn& values, const Category& category, DenseMatrix& x) {
  std::unordered_map<std::string, Index> place;
  for (const std::string& level : category.levels) place.emplace(level, std::ssize(place));
  std::vector<Index> of_id;
  for (const std::string& name : values.names) {
    const auto found = place.find(name);
    of_id.push_back(found == place.end() ? -1 : category.first + found->second);
  }
  for (std::size_t i = 0; i < values.id.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (values.id[i] < 0) {
      for (Index level = 0; level < std::ssize(category.levels); ++level)
        x(row, category.first + level) = std::numeric_limits<float>::quiet_NaN();
    } else if (const Index column = of_id[static_cast<std::size_t>(values.id[i])]; column >= 0) {
      x(row, column) = 1;
    }
  }
}

void add_categories(Dataset& data, const std::vector<TextColumn>& columns) {
  if (columns.empty()) return;
  Index width = data.columns();
  std::vector<Category> categories;
  for (const TextColumn& column : columns) {
    categories.push_back({column.name, 0, levels_of(column, data.source)});
    width += std::ssize(categories.back().levels);
  }
  DenseMatrix x(data.rows(), width);
  std::vector<std::string> names;
  Index numeric = 0;
  const auto copy_up_to = [&](Index end) {
    for (; numeric < end; ++numeric) {
      data.x.copy_column(numeric, x.column(std::ssize(names)));
      names.push_back(data.column_names[static_cast<std::size_t>(numeric)]);
    }
  };
  for (std::size_t c = 0; c < columns.size(); ++c) {
    copy_up_to(columns[c].place);
    categories[c].first = std::ssize(names);
    write_levels(columns[c].values, categories[c], x);
    const std::vector<std::string> of_levels = level_names(categories[c]);
    names.insert(names.end(), of_levels.begin(), of_levels.end());
  }
  copy_up_to(data.columns());
  require_distinct(names, data.source);
  data.x = std::move(x);
  data.column_names = std::move(names);
  data.categories = std::move(categories);
}

}  // namespace sharelearn
