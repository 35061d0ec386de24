#include "model/input_sections.hpp"

#include <algorithm>

#include "sharelearn/data/categories.hpp"

namespace sharelearn {

std::string write_categories(const Model& model) {
  const std::vector<Category>& categories = model.preprocessing.categories;
  if (categories.empty()) return "";
  ByteWriter out;
  out.u64(categories.size());
  for (const Category& category : categories) {
    out.text(category.name);
    out.index(category.first);
    out.texts(category.levels);
  }
  return out.bytes();
}

void read_categories(Model& model, ByteReader& in) {
  Preprocessing& to = model.preprocessing;
  Index free = 0;  // the first column that no category before has
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    Category category;
    category.name = in.text();
    category.first = in.index(free, std::max(free, to.width()));
    category.levels = in.texts();
    free = category.first + std::ssize(category.levels);
    if (category.levels.empty() || free > to.width() || std::ssize(to.names) < free) {
      in.damaged("the levels of a category do not fit its columns");
    }
    if (!std::ranges::equal(
            level_names(category),
            std::span(to.names).subspan(static_cast<std::size_t>(category.first), category.levels.size()))) {
      in.damaged("the levels of a category do not fit the names of its columns");
    }
    to.categories.push_back(std::move(category));
  }
}

std::string write_indicators(const Model& model) {
  ByteWriter out;
  if (!model.preprocessing.indicators.empty()) out.indices(model.preprocessing.indicators);
  return out.bytes();
}

void read_indicators(Model& model, ByteReader& in) {
  Preprocessing& to = model.preprocessing;
  to.indicators = in.indices(0, std::max<Index>(0, to.width() - 1));
  const Index data = to.width() - std::ssize(to.indicators);
  const bool distinct =
      std::ranges::adjacent_find(to.indicators, std::ranges::greater_equal{}) == to.indicators.end();
  if (to.indicators.empty() || data < 1 || to.indicators.back() >= data || !distinct || to.means.empty()) {
    in.damaged("its indicators of missing values do not fit its columns");
  }
}

std::string write_transform(const Model& model) {
  const CountTransform& transform = model.preprocessing.transform;
  ByteWriter out;
  if (transform.is_identity()) return "";
  out.u8(static_cast<std::uint8_t>(transform.kind));
  out.doubles(transform.idf);
  return out.bytes();
}

void read_transform(Model& model, ByteReader& in) {
  CountTransform& transform = model.preprocessing.transform;
  const std::uint8_t kind = in.u8();
  if (kind > static_cast<std::uint8_t>(CountTransformKind::tfidf)) in.damaged("its transform is unknown");
  transform.kind = static_cast<CountTransformKind>(kind);
  transform.idf = in.doubles();
  const Index expected = transform.kind == CountTransformKind::tfidf ? model.preprocessing.width() : 0;
  if (std::ssize(transform.idf) != expected) in.damaged("its transform does not fit its columns");
}

void add_layout(const Model& model, nlohmann::json& metadata) {
  const LabelPlace& place = model.label_place;
  if (!place.name.empty()) {
    metadata["label_place"] = {{"name", place.name}};
  } else if (place.column != place.columns - 1) {  // the last column is the default
    metadata["label_place"] = {{"column", place.column}, {"columns", place.columns}};
  }
  if (model.zero_based) metadata["zero_based"] = true;
}

void read_layout(const nlohmann::json& metadata, const ByteReader& in, Model& model) {
  const auto fits = [](const nlohmann::json& entries, const char* key, bool is_text) {
    return entries.contains(key) && (is_text ? entries[key].is_string() : entries[key].is_number_integer());
  };
  if (metadata.contains("zero_based")) {
    if (!metadata["zero_based"].is_boolean()) in.damaged("its description has an entry of the wrong type");
    model.zero_based = metadata["zero_based"].get<bool>();
  }
  if (!metadata.contains("label_place")) return;
  const nlohmann::json& place = metadata["label_place"];
  LabelPlace& to = model.label_place;
  if (place.is_object() && fits(place, "name", true)) {
    to.name = place["name"].get<std::string>();
    return;
  }
  if (place.is_object() && fits(place, "column", false) && fits(place, "columns", false)) {
    to.column = place["column"].get<Index>();
    to.columns = place["columns"].get<Index>();
  }
  if (to.column < 0 || to.column >= to.columns) in.damaged("the place of its label is not a column");
}

}  // namespace sharelearn
