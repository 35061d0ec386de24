// An ONNX graph under construction: constants and operations, and the file at the end. Field numbers are
// those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/protobuf.hpp"
#include "sharelearn/data/matrix.hpp"

namespace sharelearn {

/// Types of elements, by their numbers in the file.
enum class Element { float32 = 1, int64 = 7, text = 8, boolean = 9, float64 = 11 };

using Shape = std::vector<Index>;
/// Integer attributes of a node.
using Attributes = std::vector<std::pair<std::string_view, Index>>;

class OnnxGraph {
 public:
  /// Constants; each returns its name. An equal constant is stored once. An empty shape: one number.
  std::string floats(std::span<const double> values, const Shape& shape);  ///< rounded to float32
  std::string doubles(std::span<const double> values, const Shape& shape);
  std::string integers(std::span<const Index> values, const Shape& shape);
  std::string texts(std::span<const std::string> values);
  std::string number(double value, bool wide);
  std::string axes(const Shape& list) { return integers(list, {std::ssize(list)}); }

  /// Adds an operation and returns the name of its result: `name`, or a new one.
  std::string add(std::string_view operation, const std::vector<std::string>& inputs,
                  const Attributes& attributes = {}, std::string name = "");
  std::string cast(const std::string& from, Element to) {
    return add("Cast", {from}, {{"to", static_cast<Index>(to)}});
  }

  /// Inputs and outputs of the graph have the shape rows x `columns`, or rows if `columns` is 0.
  void input(std::string_view name, Element element, Index columns);
  void output(std::string_view name, Element element, Index columns);
  void property(std::string_view key, std::string_view value);
  /// The content of the file. Throws InputError if it exceeds the 2 GB that the format allows.
  std::string file() const;

 private:
  std::string constant(Element element, const Shape& shape, const Message& data, std::size_t count);
  std::map<std::string, std::string> constants_;  ///< content -> name
  Message graph_, model_;
  Index results_ = 0;
};

}  // namespace sharelearn
