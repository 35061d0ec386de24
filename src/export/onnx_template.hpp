// The responses of image templates as ONNX operations: a convolution, masks, maxima. The steps of
// docs/model-json.md are integers; here they are float32 below 2^24 and double below 2^53, which hold them
// exactly.
#pragma once

#include <map>
#include <span>
#include <string>

#include "export/onnx_graph.hpp"
#include "sharelearn/pool/formula.hpp"

namespace sharelearn {

/// Throws InputError for templates that ONNX cannot express.
void check_templates(const formula::TemplateMaximum& node);

/// rows x templates x 1, double. The templates differ only in weights, masks and multiplier. `grey`: rows x 1
/// x pixels. `known`: names of parts that several calls share, by what they are made of.
std::string template_maxima(OnnxGraph& graph, std::map<std::string, std::string>& known,
                            std::span<const formula::TemplateMaximum* const> templates,
                            const std::string& grey);

}  // namespace sharelearn
