#include "export/onnx_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using Templates = std::span<const formula::TemplateMaximum* const>;

/// floor((a b + 16384) / 32768) of the product a b, in double.
std::string fixed(OnnxGraph& graph, const std::string& product) {
  const std::string sum = graph.add("Add", {product, graph.number(16384, true)});
  return graph.add("Floor", {graph.add("Mul", {sum, graph.number(1.0 / 32768, true)})});
}

/// Pixels 0 to 127: rows x 1 x height x width, float32.
std::string pixels(OnnxGraph& graph, const formula::TemplateMaximum& node, const std::string& grey) {
  const std::string image = graph.add("Reshape", {grey, graph.axes({0, 1, node.height, node.width})});
  const float factor = 127.0F / (node.high - node.low);
  std::string value = graph.add("Sub", {image, graph.number(node.low, false)});
  value = graph.add("Mul", {value, graph.number(factor, false)});
  value = graph.add("Add", {value, graph.number(0.5, false)});
  return graph.add("Floor", {graph.add("Clip", {value, graph.number(0, false), graph.number(127, false)})});
}

/// The contrast factor of every position, in double: rows x 1 x positions; a constant without local contrast.
std::string contrast(OnnxGraph& graph, const formula::TemplateMaximum& node, const std::string& image) {
  if (!(node.contrast > 0)) return graph.number(32767, true);
  const std::vector<double> ones(to_size(node.size * node.size), 1.0);
  const std::string window = graph.floats(ones, {1, 1, node.size, node.size});
  const auto sum = [&](const std::string& of) {
    return graph.cast(graph.add("Conv", {of, window}), Element::float64);
  };
  const auto area = static_cast<float>(node.size * node.size), epsilon = static_cast<float>(node.contrast);
  const std::string total = sum(image), squares = sum(graph.add("Mul", {image, image}));
  const std::string spread =
      graph.cast(graph.add("Sub", {graph.add("Mul", {squares, graph.number(static_cast<double>(area), true)}),
                                   graph.add("Mul", {total, total})}),
                 Element::float32);
  const float unit = 1.0F / (area * 127.0F * 127.0F * epsilon * epsilon);
  // A fused multiply-add: the product of two float32 is exact in double.
  std::string root = graph.add("Mul", {graph.cast(spread, Element::float64), graph.number(unit, true)});
  root = graph.cast(graph.add("Add", {root, graph.number(1, true)}), Element::float32);
  root = graph.add("Sqrt", {root});
  const std::string factor = graph.add("Div", {graph.number(32767, false), root});
  return graph.cast(graph.add("Floor", {graph.add("Add", {factor, graph.number(0.5, false)})}),
                    Element::float64);
}

/// contrast x row mask at every position, for every template. Masks that several templates share are used
/// once.
std::string row_factors(OnnxGraph& graph, Templates templates, const std::string& contrasts) {
  std::vector<std::vector<std::int16_t>> masks;
  std::vector<Index> mask_of;
  for (const auto* node : templates) {
    const auto found = std::ranges::find(masks, node->row_mask);
    mask_of.push_back(found - masks.begin());
    if (found == masks.end()) masks.push_back(node->row_mask);
  }
  std::vector<double> flat;
  for (const auto& mask : masks) flat.insert(flat.end(), mask.begin(), mask.end());
  const Shape shape{1, std::ssize(masks), std::ssize(masks[0]), 1};
  const std::string factors = fixed(graph, graph.add("Mul", {contrasts, graph.doubles(flat, shape)}));
  return masks.size() == templates.size()
             ? factors
             : graph.add("Gather", {factors, graph.axes(mask_of)}, {{"axis", 1}});
}

std::string responses(OnnxGraph& graph, Templates templates, const std::string& image) {
  std::vector<double> weights;
  for (const auto* node : templates)
    weights.insert(weights.end(), node->weights.begin(), node->weights.end());
  const Index size = templates[0]->size;
  const std::string kernel = graph.floats(weights, {std::ssize(templates), 1, size, size});
  return graph.cast(graph.add("Conv", {image, kernel}), Element::float64);
}

}  // namespace

void check_templates(const formula::TemplateMaximum& node) {
  if (node.deskew) {
    throw InputError(
        "ONNX cannot express the removal of slant (`deskew`); export to c, js or python, or train without it "
        "on images whose slant you remove before");
  }
  if (node.size * node.size * 127 * 128 >= Index{1} << 24)
    throw InputError("ONNX: image templates above 32 x 32 pixels exceed float32; export to c, js or python");
}

std::string template_maxima(OnnxGraph& graph, std::map<std::string, std::string>& known, Templates templates,
                            const std::string& grey) {
  const formula::TemplateMaximum& node = *templates[0];
  std::string& image = known[fmt::format("pixels {} {} {} {}", grey, node.height, node.low, node.high)];
  if (image.empty()) image = pixels(graph, node, grey);
  const std::string factors = row_factors(graph, templates, contrast(graph, node, image));
  std::vector<double> column_masks, multipliers;
  for (const auto* each : templates) {
    column_masks.insert(column_masks.end(), each->column_mask.begin(), each->column_mask.end());
    multipliers.push_back(each->multiplier / 65536.0);
  }
  const Index count = std::ssize(templates), across = std::ssize(node.column_mask);
  // Every step grows with the one before it, so the maximum over the rows of positions may be taken first.
  const std::string weighted = graph.add("Mul", {responses(graph, templates, image), factors});
  std::string best = graph.add("ReduceMax", {weighted, graph.axes({2})}, {{"keepdims", 0}});
  best = graph.add("Max", {fixed(graph, best), graph.number(0, true)});
  best = fixed(graph, graph.add("Mul", {best, graph.doubles(column_masks, {1, count, across})}));
  best = graph.add("ReduceMax", {best, graph.axes({2})});
  best = graph.add("Floor", {graph.add("Mul", {best, graph.doubles(multipliers, {1, count, 1})})});
  best = graph.add("Min", {best, graph.number(255, true)});
  return graph.add("Div", {best, graph.number(255, true)});
}

}  // namespace sharelearn
