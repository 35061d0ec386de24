// What a model file stores of the data that a model was trained on, where there is something to store.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sharelearn/model/model.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

/// Sections of the file; empty: the model has nothing of this kind.
std::string write_categories(const Model& model);
void read_categories(Model& model, ByteReader& in);
std::string write_indicators(const Model& model);
void read_indicators(Model& model, ByteReader& in);
std::string write_transform(const Model& model);
void read_transform(Model& model, ByteReader& in);

/// Where the labels were, and how indices count, as part of the metadata. Files of earlier versions have
/// neither.
void add_layout(const Model& model, nlohmann::json& metadata);
void read_layout(const nlohmann::json& metadata, const ByteReader& in, Model& model);

}  // namespace sharelearn
