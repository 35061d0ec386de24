// What the page of a model of `sharing` shows: the words that matter most, and the sets of classes.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "report/page_parts.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostWords = 80;

/// What x_i = 1 adds to the score of a class (eq. 7): the class's own weight, and phi of the shared sets.
double contribution(const SharingModel& model, Index feature, Index cls) {
  double shared = 0;
  const auto at = static_cast<std::size_t>(feature);
  if (at < model.weights.common.size()) shared = model.weights.common[at];
  for (const std::uint32_t group : model.sets.groups_of(cls)) {
    shared += model.weights.group.value(feature, static_cast<Index>(group));
  }
  const double phi = shared == 0 ? 0 : model.options.map(1, model.mean(feature, cls));
  return model.weights.own.value(feature, cls) + shared * phi;
}

/// Rows of the features whose contributions differ most between classes.
WeightRows strongest_words(const SharingModel& model) {
  const auto k = static_cast<std::size_t>(model.class_count());
  struct Word {
    Index feature;
    double strength;
    std::vector<double> weights;
  };
  std::vector<Word> words;
  const auto stronger = [](const Word& a, const Word& b) {
    return a.strength != b.strength ? a.strength > b.strength : a.feature < b.feature;
  };
  for (Index f = 0; f < model.feature_count; ++f) {
    Word word{f, 0, std::vector<double>(k)};
    for (std::size_t c = 0; c < k; ++c) {
      word.weights[c] = contribution(model, f, static_cast<Index>(c));
      word.strength = std::max(word.strength, std::abs(word.weights[c]));
    }
    if (word.strength == 0) continue;
    words.push_back(std::move(word));
    if (words.size() < 4 * kMostWords) continue;  // keeps memory small with many words
    std::ranges::sort(words, stronger);
    words.resize(kMostWords);
  }
  std::ranges::sort(words, stronger);
  if (words.size() > kMostWords) words.resize(kMostWords);
  WeightRows rows;
  for (const Word& word : words) {
    rows.features.push_back(word.feature);
    rows.values.insert(rows.values.end(), word.weights.begin(), word.weights.end());
  }
  return rows;
}

/// The feature's name, the name of its column, or its number.
std::string word_of(const SharingModel& model, Index feature) {
  const std::string text = model.features.name_of(static_cast<std::uint32_t>(feature));
  if (model.features.by_name()) return text;
  std::size_t column = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), column).ptr;
  if (end != text.data() + text.size()) return text;  // the bias
  return column < model.column_names().size() ? model.column_names()[column] : "column " + text;
}

nlohmann::json sets_json(const SharingModel& model) {
  nlohmann::json sets = nlohmann::json::array();
  for (const ClassGroup& group : model.sets.groups()) {
    if (!group.members.empty()) sets.push_back({{"name", group.name}, {"members", group.members}});
  }
  return sets;
}

}  // namespace

void add_sharing(const SharingModel& model, nlohmann::json& page) {
  const auto k = static_cast<std::size_t>(model.class_count());
  WeightRows rows;
  if (!model.uses_kernel()) rows = strongest_words(model);
  page["features"] = nlohmann::json::array();
  for (Index& f : rows.features) {  // the page numbers the features that it shows
    page["features"].push_back({{"text", word_of(model, f)}, {"pool", "columns"}});
    f = static_cast<Index>(page["features"].size()) - 1;
  }
  page["stages"].push_back({{"number", 0},
                            {"features", model.features_used()},
                            {"parameter", 0},
                            {"columnsRead", model.features_used()},
                            {"bytes", model.payload().size()}});
  page["stageCount"] = 1;
  page["chosen"] = 0;
  page["axis"] = "none";
  page["weights"].push_back(weights_json(rows, k));
  page["order"] = order_json(rows, rows.features.size(), k);
  page["sharing"] = {{"examples", model.examples},
                     {"mistakes", model.mistakes},
                     {"firstOccurrences", model.first_occurrences},
                     {"updates", model.updates},
                     {"hypotheses", name_of(model.sets.kind())},
                     {"common", model.sets.common()},
                     {"sets", sets_json(model)},
                     {"votes", nlohmann::json::array()},  // the page of models that learned their sets
                     {"examplesOf", std::vector<double>(model.examples_of.begin(),
                                                        model.examples_of.begin() + model.class_count())}};
}

}  // namespace sharelearn
