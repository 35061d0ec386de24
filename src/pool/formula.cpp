#include "sharelearn/pool/formula.hpp"

#include <map>
#include <nlohmann/json.hpp>

namespace sharelearn::formula {

using nlohmann::json;

struct JsonWriter::State {
  std::map<const void*, std::size_t> index;  // identity -> position in `shared`
  json shared = json::array();

  json list(const std::vector<Formula>& of) {
    json all = json::array();
    for (const Formula& each : of) all.push_back(write(each));
    return all;
  }
  json write(const Formula& formula) {
    return std::visit([&](const auto& node) { return (*this)(node); },
                      static_cast<const Node::variant&>(*formula));
  }

  json operator()(const Columns& n) { return {{"op", "columns"}, {"columns", n.columns}}; }
  json operator()(const AllColumns& n) { return {{"op", "all_columns"}, {"count", n.count}}; }
  json operator()(const Constant& n) { return {{"op", "constant"}, {"value", n.value}}; }
  json operator()(const Affine& n) {
    return {{"op", "affine"}, {"of", write(n.of)}, {"factor", n.factor}, {"offset", n.offset}};
  }
  json operator()(const Sum& n) { return {{"op", "sum"}, {"of", list(n.of)}}; }
  json operator()(const Product& n) { return {{"op", "product"}, {"of", list(n.of)}}; }
  json operator()(const LessThan& n) {
    return {{"op", "less_than"}, {"of", write(n.of)}, {"threshold", n.threshold}};
  }
  json operator()(const SquaredDistance& n) {
    return {{"op", "squared_distance"}, {"of", write(n.of)}, {"point", n.point}};
  }
  json operator()(const Exp& n) { return {{"op", "exp"}, {"of", write(n.of)}}; }
  json operator()(const Cos& n) { return {{"op", "cos"}, {"of", write(n.of)}}; }
  json operator()(const Concatenation& n) { return {{"op", "concatenation"}, {"of", list(n.of)}}; }
  json operator()(const Projection& n) {
    const auto whole = [&]() -> json {
      return {{"op", "projection"},
              {"of", write(n.of)},
              {"centre", n.centre},
              {"directions", n.directions},
              {"rounded", n.rounded}};
    };
    if (n.identity == nullptr) return whole();
    const auto [place, is_new] = index.try_emplace(n.identity, shared.size());
    if (is_new) shared.push_back(whole());
    return {{"op", "shared"}, {"index", place->second}};
  }
  json operator()(const TemplateMaximum& n) {
    return {{"op", "template_maximum"},  {"of", write(n.of)},      {"height", n.height},
            {"width", n.width},          {"low", n.low},           {"high", n.high},
            {"deskew", n.deskew},        {"contrast", n.contrast}, {"size", n.size},
            {"template", n.weights},     {"row_mask", n.row_mask}, {"column_mask", n.column_mask},
            {"multiplier", n.multiplier}};
  }
};

JsonWriter::JsonWriter() : state_(std::make_unique<State>()) {}
JsonWriter::~JsonWriter() = default;

json JsonWriter::operator()(const Formula& formula) {
  return state_->write(formula);
}

const json& JsonWriter::shared() const {
  return state_->shared;
}

}  // namespace sharelearn::formula
