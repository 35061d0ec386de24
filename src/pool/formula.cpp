#include "sharelearn/pool/formula.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace sharelearn::formula {

using nlohmann::json;

namespace {

/// Counts multiply-adds; operator() returns the length of the node's list.
struct Counter {
  std::set<const void*>& counted;
  Index total = 0;

  Index length(const Formula& formula) {
    return std::visit([&](const auto& node) { return (*this)(node); },
                      static_cast<const Node::variant&>(*formula));
  }
  Index longest(const std::vector<Formula>& of) {
    Index result = 1;
    for (const Formula& each : of) result = std::max(result, length(each));
    return result;
  }
  Index each(const Formula& of) {
    const Index count = length(of);
    total += count;
    return count;
  }

  Index operator()(const Columns& n) { return std::ssize(n.columns); }
  Index operator()(const AllColumns& n) { return n.count; }
  Index operator()(const Constant&) { return 1; }
  Index operator()(const Affine& n) { return each(n.of); }
  Index operator()(const LessThan& n) { return each(n.of); }
  Index operator()(const Exp& n) { return each(n.of); }
  Index operator()(const Cos& n) { return each(n.of); }
  Index operator()(const Sum& n) { return combined(n.of); }
  Index operator()(const Product& n) { return combined(n.of); }
  Index operator()(const SquaredDistance& n) {
    each(n.of);
    return 1;
  }
  Index operator()(const Projection& n) {
    const Index count = std::ssize(n.directions);
    if (n.identity != nullptr && !counted.insert(n.identity).second) return count;
    total += length(n.of) * count;
    return count;
  }
  Index operator()(const Concatenation& n) {
    Index count = 0;
    for (const Formula& of : n.of) count += length(of);
    return count;
  }
  Index operator()(const TemplateMaximum& n) {
    const auto nonzero = [](const std::vector<std::int16_t>& mask) {
      return std::ssize(mask) - std::count(mask.begin(), mask.end(), 0);
    };
    total += nonzero(n.row_mask) * nonzero(n.column_mask) * n.size * n.size;
    return 1;
  }

 private:
  Index combined(const std::vector<Formula>& of) {
    const Index count = longest(of);
    total += count * (std::ssize(of) - 1);
    return count;
  }
};

}  // namespace

Index multiply_adds(const Formula& formula, std::set<const void*>& counted) {
  Counter counter{counted};
  counter.length(formula);
  return counter.total;
}

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
