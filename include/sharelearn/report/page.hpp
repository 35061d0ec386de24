// A model as one self-contained HTML page: its path, who shares which feature, its mistakes on labelled data,
// and what its training reported.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sharelearn/model/model.hpp"

namespace sharelearn {

struct PageOptions {
  std::string title = "model";  ///< usually the name of the model's file
  nlohmann::json fit;     ///< the report of the fit (to_json of FitReport); null: panels that need it say so
  Index image_width = 0;  ///< pixels per image row where rows are images; 0: as the data or the model says
};

/// The page. `test`: labelled data for errors, confusions, examples and what losing a feature costs; may be
/// null. Throws InputError if the data does not fit the model, or if `fit` is not the report of such a model.
std::string report_page(const Model& model, const PageOptions& options, const Dataset* test,
                        ThreadPool& threads);

/// The data of the page as JSON (report/page/src/data.ts names its members).
nlohmann::json page_data(const Model& model, const PageOptions& options, const Dataset* test,
                         ThreadPool& threads);

}  // namespace sharelearn
