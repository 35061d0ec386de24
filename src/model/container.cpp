// The model file (docs/model-format.md specifies all of it):
//   8 bytes "SHLEARN\n", u32 format version, text kind, text metadata (JSON), text payload, [from version 2
//   on: floats means,] [from version 3 on: u8 link,] [from version 4 on: u32 sections, each text name, text
//   bytes,] u64 XXH64 of all before it. A model without sections is written as version 3.
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_set>

#include "model/early_section.hpp"
#include "model/input_sections.hpp"
#include "sharelearn/model/linear_model.hpp"
#include "sharelearn/model/model.hpp"
#include "sharelearn/model/online_cascade_model.hpp"
#include "sharelearn/model/sharing_model.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/json_text.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kMagic = "SHLEARN\n";
constexpr std::uint32_t kWithMeans = 2, kWithLink = 3, kWithSections = 4;  // format versions

struct Entry {
  std::string_view kind;
  ModelPtr (*read)(std::string_view payload, const std::string& path);
};

/// The readers of stored models: one line per kind.
constexpr std::array kKinds{
    Entry{"linear", LinearModel::read},
    Entry{"online-cascade", OnlineCascadeModel::read},
    Entry{"sharing", SharingModel::read},
};

/// The whole content of a model file. Of any other file only the first bytes, because a device may have no
/// end.
std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  int reason = file ? 0 : errno;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) reason = EISDIR;
  if (!file || reason != 0) {
    throw InputError(fmt::format("{}: cannot open it as a model file: {}", path, std::strerror(reason)));
  }
  std::string bytes(kMagic.size(), '\0');
  file.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes == kMagic) {
    bytes.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (file.bad()) throw Failure(fmt::format("{}: cannot read the model file", path));
  return bytes;
}

/// Files before version 3 do not store the link; it follows from the name of the loss.
Link link_in(const nlohmann::json& metadata, const Model& model) {
  const nlohmann::json::json_pointer loss("/options/loss");
  if (!metadata.contains(loss) || !metadata[loss].is_string()) return model.link();
  if (!metadata[loss].get<std::string>().ends_with("-exp")) return model.link();
  return exponential_link(model.outputs_are());
}

Link read_link(ByteReader& in) {
  const std::uint8_t link = in.u8();
  if (link > static_cast<std::uint8_t>(Link::logistic_of_twice)) in.damaged("its link is unknown");
  return static_cast<Link>(link);
}

/// What the program reads in a description must have its type; the rest is only shown.
bool has_right_types(const nlohmann::json& metadata) {
  const auto fits = [](const nlohmann::json& in, const char* key,
                       bool (nlohmann::json::*is)()
                           const noexcept) { return !in.contains(key) || (in[key].*is)(); };
  using Json = nlohmann::json;
  if (!metadata.is_object() || !fits(metadata, "method", &Json::is_string)) return false;
  for (const char* part : {"options", "data", "summary", "task_labels"}) {
    if (!fits(metadata, part, &Json::is_object)) return false;
  }
  const Json none = Json::object();
  const Json& data = metadata.contains("data") ? metadata["data"] : none;
  const Json& summary = metadata.contains("summary") ? metadata["summary"] : none;
  return fits(data, "m", &Json::is_number) && fits(data, "d", &Json::is_number) &&
         fits(summary, "candidates", &Json::is_number) && fits(summary, "train_error", &Json::is_number);
}

// A description is copied and printed by recursion, and takes up to 30 times the memory of its text.
constexpr int kDeepestMetadata = 200;
constexpr std::size_t kLongestMetadata = std::size_t{32} << 20;

nlohmann::json read_metadata(ByteReader& in) {
  const std::string text = in.text();
  if (text.size() > kLongestMetadata || depth_of(text) > kDeepestMetadata) {
    in.damaged("its description is too long or nested too deeply");
  }
  nlohmann::json metadata = nlohmann::json::parse(text, nullptr, false);
  if (metadata.is_discarded()) in.damaged("its description is not valid JSON");
  if (!has_right_types(metadata)) in.damaged("its description has an entry of the wrong type");
  return metadata;
}

bool fits(Link link, OutputKind outputs) {
  switch (link) {
    case Link::none:
      return true;
    case Link::identity:
      return outputs == OutputKind::value;
    case Link::logistic:
    case Link::logistic_of_twice:
      return outputs == OutputKind::tasks;
    default:
      return outputs == OutputKind::classes;
  }
}

/// What holds for a model of any kind.
void check_whole(const Model& model, const ByteReader& in) {
  if (!fits(model.link(), model.outputs_are())) in.damaged("its link does not fit its outputs");
  const std::vector<std::string>& names = model.output_names();
  const std::unordered_set<std::string_view> distinct(names.begin(), names.end());
  if (distinct.size() != names.size()) in.damaged("two of its outputs have one name");
}

/// Files of older versions have no task labels. Then each data set is interpreted by its own labels.
TaskLabels task_labels_in(const nlohmann::json& metadata, const ByteReader& in) {
  if (!metadata.contains("task_labels")) return {};
  const nlohmann::json& labels = metadata["task_labels"];
  const auto one = [&](const char* which) {
    if (!labels.contains(which) || !labels[which].is_string()) in.damaged("its task labels are not text");
    return labels[which].get<std::string>();
  };
  return {one("negative"), one("positive")};
}

bool is_valid(const ConfidenceMap& map) {
  const auto& [from, to] = map;
  return !from.empty() && from.size() == to.size() &&
         std::ranges::all_of(from, [](double p) { return p >= 0 && p <= 1; }) &&
         std::ranges::all_of(to, [](double p) { return p > 0 && p < 1; }) &&
         std::ranges::adjacent_find(from, std::ranges::greater_equal{}) == from.end() &&
         std::ranges::is_sorted(to);
}

/// What only some models have: one line per section.
struct Section {
  std::string_view name;
  std::string (*bytes)(const Model& model);  ///< empty: this model does not have it
  void (*apply)(Model& model, ByteReader& in);
};

constexpr std::array kSections{
    Section{"categories", write_categories, read_categories},
    Section{"indicators", write_indicators, read_indicators},
    Section{"transform", write_transform, read_transform},
    Section{"early", write_early, read_early},
    Section{"temperature",
            [](const Model& model) {
              ByteWriter out;
              if (model.temperature != 1) out.f64(model.temperature);
              return out.bytes();
            },
            [](Model& model, ByteReader& in) {
              model.temperature = in.f64();
              if (!(model.temperature > 0 && std::isfinite(model.temperature)))
                in.damaged("its temperature is not a number above 0");
            }},
    Section{"confidence",
            [](const Model& model) {
              ByteWriter out;
              if (!model.confidence.from.empty()) {
                out.doubles(model.confidence.from);
                out.doubles(model.confidence.to);
              }
              return out.bytes();
            },
            [](Model& model, ByteReader& in) {
              model.confidence = {in.doubles(), in.doubles()};
              if (!is_valid(model.confidence))
                in.damaged("its map of confidence is not ascending within 0 and 1");
            }},
};

std::vector<std::pair<std::string, std::string>> sections_of(const Model& model) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (const Section& section : kSections) {
    std::string bytes = section.bytes(model);
    if (!bytes.empty()) sections.emplace_back(section.name, std::move(bytes));
  }
  return sections;
}

void apply_section(Model& model, const std::string& name, const std::string& bytes, const std::string& path) {
  const auto* section = std::ranges::find(kSections, name, &Section::name);
  if (section == kSections.end()) {
    throw InputError(
        fmt::format("{}: has a section '{}' and needs a newer sharelearn to be read", path, name));
  }
  ByteReader in(bytes, path);
  section->apply(model, in);
  in.expect_end();
}

}  // namespace

std::string model_bytes(const Model& model) {
  const auto sections = sections_of(model);
  ByteWriter out;
  out.u32(sections.empty() ? kWithLink : kWithSections);
  out.text(model.kind());
  nlohmann::json metadata = model.metadata;
  if (!model.task_labels.empty()) {
    metadata["task_labels"] = {{"negative", model.task_labels.negative},
                               {"positive", model.task_labels.positive}};
  }
  add_layout(model, metadata);
  const std::string description = json_text(metadata);
  if (description.size() > kLongestMetadata || depth_of(description) > kDeepestMetadata) {
    throw Failure("the model's description is too long or nested too deeply to be saved");
  }
  out.text(description);
  out.text(model.payload());
  out.floats(model.preprocessing.means);
  out.u8(static_cast<std::uint8_t>(model.link()));
  if (!sections.empty()) out.u32(static_cast<std::uint32_t>(sections.size()));
  for (const auto& [name, bytes] : sections) {
    out.text(name);
    out.text(bytes);
  }
  std::string bytes(kMagic);
  bytes += out.bytes();
  const std::uint64_t checksum = XXH64(bytes.data(), bytes.size(), 0);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return bytes;
}

void save_model(const Model& model, const std::string& path) {
  write_file(path, model_bytes(model));
}

ModelPtr load_model(const std::string& path) {
  return model_from_bytes(read_whole(path), path);
}

ModelPtr model_from_bytes(std::string_view bytes, const std::string& path) {
  const ByteReader probe(bytes, path);
  if (bytes.size() < kMagic.size() + sizeof(std::uint64_t) || !bytes.starts_with(kMagic)) {
    probe.damaged("it does not begin as a model does");
  }
  const std::string_view body(bytes.data(), bytes.size() - sizeof(std::uint64_t));
  std::uint64_t checksum = 0;
  std::copy_n(bytes.data() + body.size(), sizeof checksum, reinterpret_cast<char*>(&checksum));
  if (checksum != XXH64(body.data(), body.size(), 0))
    probe.damaged("its checksum does not match its content");

  ByteReader in(body.substr(kMagic.size()), path);
  const std::uint32_t version = in.u32();
  if (version < 1 || version > kWithSections) {
    throw InputError(fmt::format("{}: its format version is {}, this sharelearn reads versions 1 to {}", path,
                                 version, kWithSections));
  }
  const std::string kind = in.text();
  const nlohmann::json metadata = read_metadata(in);
  const std::string payload = in.text();
  std::vector<float> means;
  if (version >= kWithMeans) means = in.floats();
  std::optional<Link> link;
  if (version >= kWithLink) link = read_link(in);
  std::vector<std::pair<std::string, std::string>> sections;
  for (std::uint32_t left = version >= kWithSections ? in.u32() : 0; left > 0; --left) {
    std::string name = in.text();
    if (std::ranges::find(sections, name, &std::pair<std::string, std::string>::first) != sections.end()) {
      in.damaged("it has a section twice");
    }
    sections.emplace_back(std::move(name), in.text());
  }
  in.expect_end();
  for (const Entry& entry : kKinds) {
    if (entry.kind != kind) continue;
    ModelPtr model = entry.read(payload, path);
    model->metadata = metadata;
    model->task_labels = task_labels_in(metadata, in);
    read_layout(metadata, in, *model);
    if (!means.empty() && model->columns() > 0 && std::ssize(means) != model->columns()) {
      in.damaged("it has means of another number of columns than its own");
    }
    model->preprocessing.means = std::move(means);
    model->set_link(link ? *link : link_in(metadata, *model));
    for (const auto& [name, content] : sections) apply_section(*model, name, content, path);
    check_whole(*model, in);
    return model;
  }
  throw InputError(fmt::format("{}: holds a model of the unknown kind '{}'", path, kind));
}

}  // namespace sharelearn
