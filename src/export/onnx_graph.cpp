#include "export/onnx_graph.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "sharelearn/run/error.hpp"
#include "sharelearn/version.hpp"

namespace sharelearn {
namespace {

constexpr std::int64_t kIrVersion = 8, kOpset = 18;  // IR version 8 is the one of opset 18 (ONNX 1.13)
constexpr std::int64_t kIntegerAttribute = 2;

/// The number's bytes, least significant first.
template <class Unsigned>
void append(std::string& bytes, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

Message raw_data(const std::string& bytes) {
  Message data;
  data.text(9, bytes);
  return data;
}

Message value_info(std::string_view name, Element element, Index columns) {
  Message rows, shape, tensor, type, info;
  rows.text(2, "rows");  // a name instead of a number: any number
  shape.message(1, rows);
  if (columns > 0) {
    Message width;
    width.integer(1, columns);
    shape.message(1, width);
  }
  tensor.integer(1, static_cast<std::int64_t>(element));
  tensor.message(2, shape);
  type.message(1, tensor);
  info.text(1, name);
  info.message(2, type);
  return info;
}

}  // namespace

std::string OnnxGraph::constant(Element element, const Shape& shape, const Message& data, std::size_t count) {
  Message tensor;
  Index expected = 1;
  for (const Index length : shape) {
    tensor.integer(1, length);
    expected *= length;
  }
  if (expected != static_cast<Index>(count)) throw std::logic_error("a constant does not fit its shape");
  tensor.integer(2, static_cast<std::int64_t>(element));
  const auto [known, is_new] =
      constants_.try_emplace(tensor.bytes() + data.bytes(), fmt::format("c{}", constants_.size()));
  if (is_new) {
    Message name;
    name.text(8, known->second);
    graph_.text(5, known->first + name.bytes());  // a message is its fields, one after the other
  }
  return known->second;
}

std::string OnnxGraph::floats(std::span<const double> values, const Shape& shape) {
  std::string bytes;
  for (const double value : values) {
    const auto single = static_cast<float>(value);
    if (!std::isfinite(single) && std::isfinite(value))
      throw InputError("the model has numbers that are too large for float32");
    append(bytes, std::bit_cast<std::uint32_t>(single));
  }
  return constant(Element::float32, shape, raw_data(bytes), values.size());
}

std::string OnnxGraph::doubles(std::span<const double> values, const Shape& shape) {
  std::string bytes;
  for (const double value : values) append(bytes, std::bit_cast<std::uint64_t>(value));
  return constant(Element::float64, shape, raw_data(bytes), values.size());
}

std::string OnnxGraph::integers(std::span<const Index> values, const Shape& shape) {
  std::string bytes;
  for (const Index value : values) append(bytes, static_cast<std::uint64_t>(value));
  return constant(Element::int64, shape, raw_data(bytes), values.size());
}

std::string OnnxGraph::texts(std::span<const std::string> values) {
  Message data;
  for (const std::string& value : values) data.text(6, value);
  return constant(Element::text, {std::ssize(values)}, data, values.size());
}

std::string OnnxGraph::number(double value, bool wide) {
  const std::span<const double> one(&value, 1);
  return wide ? doubles(one, {}) : floats(one, {});
}

std::string OnnxGraph::add(std::string_view operation, const std::vector<std::string>& inputs,
                           const Attributes& attributes, std::string name) {
  if (name.empty()) name = fmt::format("v{}", results_++);
  Message node;
  for (const std::string& input : inputs) node.text(1, input);
  node.text(2, name);
  node.text(4, operation);
  for (const auto& [key, value] : attributes) {
    Message attribute;
    attribute.text(1, key);
    attribute.integer(3, value);
    attribute.integer(20, kIntegerAttribute);
    node.message(5, attribute);
  }
  graph_.message(1, node);
  return name;
}

void OnnxGraph::input(std::string_view name, Element element, Index columns) {
  graph_.message(11, value_info(name, element, columns));
}

void OnnxGraph::output(std::string_view name, Element element, Index columns) {
  graph_.message(12, value_info(name, element, columns));
}

void OnnxGraph::property(std::string_view key, std::string_view value) {
  Message entry;
  entry.text(1, key);
  entry.text(2, value);
  model_.message(14, entry);
}

std::string OnnxGraph::file() const {
  Message named, opset, model;
  named.text(2, "sharelearn");
  opset.text(1, "");
  opset.integer(2, kOpset);
  model.integer(1, kIrVersion);
  model.text(2, "sharelearn");
  model.text(3, kVersion);
  model.text(7, graph_.bytes() + named.bytes());
  model.message(8, opset);
  std::string content = model.bytes() + model_.bytes();
  if (content.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError("the model is too large for ONNX, whose files have at most 2 GB");
  return content;
}

}  // namespace sharelearn
