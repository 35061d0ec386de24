// Columns of text beside numbers: the levels that rows to learn from have, or those that a model knows.
#include <fmt/core.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::python {
namespace {

using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NamedLevels = std::tuple<std::string, Index, std::vector<std::string>>;  // name, first column, levels

void add_text(Data& data, const std::string& name, Index place, const std::vector<std::string>& texts,
              const Ids& ids) {
  if (place < 0 || place > data.set.columns() || (!data.texts.empty() && place < data.texts.back().place))
    throw InputError("the columns of text are not in order");
  LabelColumn raw{texts, {ids.data(), ids.data() + ids.shape(0)}};
  for (const std::int32_t id : raw.id) {
    if (id >= std::ssize(texts)) throw InputError("a level is out of range");
  }
  if (std::ssize(raw.id) != data.set.rows())
    throw InputError(fmt::format("there are {} texts for {} rows", raw.id.size(), data.set.rows()));
  data.texts.push_back({name, place, std::move(raw)});
}

/// Names of the table's columns, text among numbers.
std::vector<std::string> table_names(const Data& data) {
  std::vector<std::string> names = data.set.column_names;
  for (std::size_t c = data.texts.size(); c-- > 0;)
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(data.texts[c].place), data.texts[c].name);
  return names;
}

/// A category must have few levels, and one at least.
void require_levels(const TextColumn& column) {
  const auto count = std::ssize(column.values.names);
  if (count > 0 && count <= kMostCategoryLevels) return;
  if (count == 0)
    throw InputError(fmt::format("column '{}' has no value in any row: leave it out", column.name));
  throw InputError(
      fmt::format("column '{}' holds text with {} different values ('{}', for example), and a category can "
                  "have {} at most: leave the column out, or encode it as numbers",
                  column.name, count, column.values.names.front(), kMostCategoryLevels));
}

/// The columns of a table in the layout that was learned from.
class KnownLayout {
 public:
  KnownLayout(Data& data, const std::vector<NamedLevels>& known) : data_(data) {
    Index width = data.set.columns() + std::ssize(data.texts);
    for (const auto& [name, first, levels] : known) {
      categories_.push_back({name, first, levels});
      width += std::ssize(levels) - 1;
    }
    x_ = DenseMatrix(data.set.rows(), width);
  }

  void fill() {
    const Index tables = data_.set.columns() + std::ssize(data_.texts);
    for (Index j = 0; j < tables; ++j) {
      if (category_ < categories_.size() && categories_[category_].first == std::ssize(names_)) {
        take_category(categories_[category_++]);
      } else {
        take_numbers();
      }
    }
    data_.set.x = std::move(x_);
    data_.set.column_names = std::move(names_);
    data_.set.categories = std::move(categories_);
    data_.texts.clear();
  }

 private:
  const TextColumn* next_text() const {
    const bool here = text_ < data_.texts.size() && data_.texts[text_].place == numeric_;
    return here ? &data_.texts[text_] : nullptr;
  }

  void take_numbers() {
    if (const TextColumn* text = next_text()) {
      throw InputError(
          fmt::format("column '{}' holds text, but held numbers when the model was learned", text->name));
    }
    data_.set.x.copy_column(numeric_, x_.column(std::ssize(names_)));
    names_.push_back(data_.set.column_names[static_cast<std::size_t>(numeric_++)]);
  }

  void take_category(const Category& category) {
    if (const TextColumn* text = next_text()) {
      write_levels(text->values, category, x_);
      ++text_;
    } else {
      take_empty(category);
    }
    const std::vector<std::string> of_levels = level_names(category);
    names_.insert(names_.end(), of_levels.begin(), of_levels.end());
  }

  /// A column without a single value has no type: its category is missing in all rows.
  void take_empty(const Category& category) {
    std::vector<float> values(static_cast<std::size_t>(data_.set.rows()));
    data_.set.x.copy_column(numeric_++, values.data());
    if (!std::ranges::all_of(values, [](float value) { return std::isnan(value); })) {
      throw InputError(
          fmt::format("column '{}' holds numbers, but held text when the model was learned", category.name));
    }
    for (Index level = 0; level < std::ssize(category.levels); ++level)
      std::fill_n(x_.column(category.first + level), x_.rows(), std::numeric_limits<float>::quiet_NaN());
  }

  Data& data_;
  std::vector<Category> categories_;
  DenseMatrix x_;
  std::vector<std::string> names_;
  std::size_t category_ = 0, text_ = 0;
  Index numeric_ = 0;
};

/// Makes columns of numbers of the columns of text.
void expand_categories(Data& data, const std::optional<std::vector<NamedLevels>>& known) {
  for (TextColumn& column : data.texts) column.values = text_as_read(column.values);
  if (known) {
    KnownLayout(data, *known).fill();
    return;
  }
  std::ranges::for_each(data.texts, require_levels);
  data.set.source = "X";
  add_categories(data.set, data.texts);
  data.texts.clear();
}

std::vector<NamedLevels> categories(const Data& data) {
  std::vector<NamedLevels> list;
  for (const Category& category : data.set.categories)
    list.emplace_back(category.name, category.first, category.levels);
  return list;
}

}  // namespace

void bind_categories(nb::class_<Data>& data) {
  data.def("add_text", add_text, nb::arg("name"), nb::arg("place"), nb::arg("texts"), nb::arg("ids"),
           "A column of text that `place` columns of numbers precede; an id below 0 is a missing value.")
      .def("expand_categories", expand_categories, nb::arg("known").none() = nb::none(),
           "Columns of text become one column of zeros and ones per level: of the rows, or of `known`.")
      .def_prop_ro("has_text", [](const Data& self) { return !self.texts.empty(); })
      .def_prop_ro("table_names", table_names, "Names of all columns, of text and of numbers.")
      .def_prop_ro("categories", categories, "Name, first column and levels of each category.");
}

}  // namespace sharelearn::python
