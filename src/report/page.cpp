#include "sharelearn/report/page.hpp"

#include <fmt/core.h>

#include "report/page_html.hpp"
#include "report/page_parts.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/json_text.hpp"
#include "sharelearn/version.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kMostOutputs = 65'000;  // the page numbers them with 16 bits

void check_fit(const Model& model, const nlohmann::json& fit) {
  if (fit.is_null()) return;
  const bool is_report =
      fit.is_object() && fit.contains("method") && fit.contains("rounds") && fit.contains("data");
  if (!is_report) throw InputError("`fit`: expected the JSON report of a fit, with method, data and rounds");
  const std::string ours = model.metadata.value("method", ""),
                    theirs = fit["method"].is_string() ? fit["method"] : "";
  if (!ours.empty() && ours != theirs) {
    throw InputError(
        fmt::format("`fit`: is the report of '{}', but the model was learned by '{}'", theirs, ours));
  }
}

/// The report without the chosen features, which the page takes from the model.
nlohmann::json without_features(nlohmann::json fit) {
  if (fit.is_null()) return fit;
  fit.erase("features");
  for (nlohmann::json& round : fit["rounds"]) {
    if (round.is_object()) round.erase("features");
  }
  return fit;
}

/// JSON inside a script element: without `<` it can neither end the element nor open a comment.
std::string script_text(const nlohmann::json& value) {
  const std::string text = json_text(value);
  std::string safe;
  safe.reserve(text.size());
  for (const char letter : text) {
    if (letter == '<') {
      safe += "\\u003c";
    } else {
      safe += letter;
    }
  }
  return safe;
}

}  // namespace

nlohmann::json page_data(const Model& model, const PageOptions& options, const Dataset* test,
                         ThreadPool& threads) {
  check_fit(model, options.fit);
  if (model.output_names().size() > kMostOutputs) {
    throw InputError(fmt::format("a page shows at most {} classes, the model has {}", kMostOutputs,
                                 model.output_names().size()));
  }
  nlohmann::json page{{"version", kVersion},
                      {"title", options.title},
                      {"kind", model.kind()},
                      {"outputsAre", name_of(model.outputs_are())},
                      {"outputs", model.output_names()},
                      {"columns", model.columns()},
                      {"metadata", model.metadata},
                      {"fit", without_features(options.fit)},
                      {"imageWidth", options.image_width}};
  const auto* online = dynamic_cast<const OnlineCascadeModel*>(&model);
  std::shared_ptr<LinearModel> converted = online != nullptr ? online->to_linear(false) : nullptr;
  if (converted) {
    converted->task_labels = model.task_labels;
    page["online"] = {{"examples", online->cascade.examples()},
                      {"mistakes", online->cascade.mistakes()},
                      {"predictions", online->cascade.predictions()}};
  }
  const auto* linear = converted ? converted.get() : dynamic_cast<const LinearModel*>(&model);
  PageStages stages;
  if (linear != nullptr) {
    stages = page_stages(*linear, test == nullptr ? 0 : test->rows());
    add_linear(*linear, stages, page);
  } else if (const auto* sharing = dynamic_cast<const SharingModel*>(&model)) {
    add_sharing(*sharing, page);
  }
  add_early(model, test, threads, page);
  if (test != nullptr) page["data"] = data_json(model, stages, options, *test, threads);
  if (page.contains("data") && page["data"].contains("examples") &&
      page["data"]["examples"].contains("image")) {
    page["imageWidth"] = page["data"]["examples"]["image"]["width"];
  }
  return page;
}

std::string report_page(const Model& model, const PageOptions& options, const Dataset* test,
                        ThreadPool& threads) {
  constexpr std::string_view mark = "{{data}}";
  const std::string_view html = page_html();
  const std::size_t at = html.find(mark);
  std::string page(html.substr(0, at));
  page += script_text(page_data(model, options, test, threads));
  page += html.substr(at + mark.size());
  return page;
}

}  // namespace sharelearn
