#include "sharelearn/export/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "export/c_export.hpp"
#include "export/literals.hpp"
#include "export/onnx_export.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kPythonRuntime =
#include "export/python_runtime.inc"
    ;
constexpr std::string_view kJavascriptRuntime =
#include "export/javascript_runtime.inc"
    ;

/// The model's JSON (docs/model-json.md) as a string literal of Python or JavaScript.
std::string model_literal(const Model& model) {
  return string_literal(model.to_json().dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

/// The test vector as a string literal: rows, scores, and where rows stop.
std::string vector_literal(const Model& model, const TestVector& vector) {
  nlohmann::json rows = nlohmann::json::array(), scores = rows, early = rows, features = rows;
  std::vector<Work> work;
  if (model.early != nullptr) work = early_work(*as_linear(model, "export"), *model.early);
  const auto row_of = [](const auto& grid, Index i) {
    nlohmann::json row = nlohmann::json::array();
    for (Index c = 0; c < grid.cols(); ++c) row.push_back(grid(i, c));
    return row;
  };
  for (Index i = 0; i < vector.rows.rows(); ++i) {
    rows.push_back(row_of(vector.rows, i));
    scores.push_back(row_of(vector.scores, i));
    if (vector.early.stop.empty()) continue;
    early.push_back(row_of(vector.early.scores, i));
    const auto stop = static_cast<std::size_t>(vector.early.stop[static_cast<std::size_t>(i)]);
    features.push_back(work[stop].features);
  }
  return string_literal(nlohmann::json{
      {"rows", std::move(rows)},
      {"scores", std::move(scores)},
      {"early", std::move(early)},
      {"features",
       std::move(features)}}.dump());
}

constexpr std::string_view kPythonCheck = R"py(
worst = 0.0
for what, found in [("scores", model.scores(vector["rows"]))] + (
        [("early", model.scores_early(vector["rows"])[0])] if vector["early"] else []):
    expected = np.asarray(vector[what], float)
    largest = np.maximum(1e-3, np.abs(expected).max(axis=1, keepdims=True))
    worst = max(worst, float((np.abs(found - expected) / largest).max(initial=0)))
same = not vector["early"] or list(model.scores_early(vector["rows"])[1]) == vector["features"]
print(f"{len(vector['rows'])} rows: largest relative difference of scores {worst:.3g}" + ("" if same else "; rows stop elsewhere"))
sys.exit(0 if worst < 1e-6 and same else 1)
)py";

constexpr std::string_view kJavascriptCheck = R"js(
let worst = 0, same = true;
const compare = (found, expected) => {
  const largest = Math.max(1e-3, ...expected.map(Math.abs));
  expected.forEach((v, c) => { worst = Math.max(worst, Math.abs(found[c] - v) / largest); });
};
vector.rows.forEach((row, i) => {
  compare(model.scores(row), vector.scores[i]);
  if (!vector.early.length) return;
  const early = model.predictEarly(row);
  compare(early.scores, vector.early[i]);
  same = same && early.features.length === vector.features[i];
});
console.log(`${vector.rows.length} rows: largest relative difference of scores ${worst.toPrecision(3)}${same ? "" : "; rows stop elsewhere"}`);
process.exit(worst < 1e-6 && same ? 0 : 1);
)js";

constexpr std::string_view kOnnxCheck = R"py(
folder = os.path.dirname(os.path.abspath(__file__))
session = onnxruntime.InferenceSession(os.path.join(folder, MODEL), providers=["CPUExecutionProvider"])
rows = np.asarray(vector["rows"], np.float32)
expected = np.asarray(vector["scores"], float)
found = np.concatenate([session.run(None, {"x": rows[i:i + 50]})[-1] for i in range(0, len(rows), 50)])
largest = np.maximum(1e-3, np.abs(expected).max(axis=1, keepdims=True))
worst = float((np.abs(found - expected) / largest).max(initial=0))
print(f"{len(rows)} rows: largest relative difference of scores {worst:.3g}")
sys.exit(0 if worst < 1e-5 else 1)
)py";

Exported export_python(const Model& model, const std::filesystem::path& path, const TestVector* vector) {
  Exported result;
  result.text = fmt::format(
      "\"\"\"A predictor exported by sharelearn. It needs NumPy.\"\"\"\nimport json\nimport math\n\nimport "
      "numpy as "
      "np\n\nMODEL = json.loads({})\n{}",
      model_literal(model), kPythonRuntime);
  if (vector == nullptr) return result;
  const std::string name = identifier_of(path);
  if (path.stem().string() != name || path.extension() != ".py") {
    throw InputError(
        fmt::format("{}: a Python module that is checked needs a name such as {}.py", path.string(), name));
  }
  result.check = fmt::format(
      "import json\nimport sys\n\nimport numpy as np\n\nimport {} as model\n\nvector = json.loads({})\n{}",
      name, vector_literal(model, *vector), kPythonCheck);
  return result;
}

Exported export_javascript(const Model& model, const std::filesystem::path& path, const TestVector* vector) {
  Exported result;
  result.text = fmt::format("// A predictor exported by sharelearn.\nconst model = JSON.parse({});\n{}",
                            model_literal(model), kJavascriptRuntime);
  if (vector == nullptr) return result;
  result.check = fmt::format("import * as model from {};\nconst vector = JSON.parse({});\n{}",
                             string_literal("./" + path.filename().string()), vector_literal(model, *vector),
                             kJavascriptCheck);
  return result;
}

Exported export_onnx(const Model& model, const LinearModel& linear, const std::filesystem::path& path,
                     const TestVector* vector) {
  Exported result;
  result.text = export_onnx(linear);
  if (vector == nullptr) return result;
  result.check = fmt::format(
      "import json\nimport os\nimport sys\n\nimport numpy as np\nimport onnxruntime\n\nMODEL = {}\nvector = "
      "json.loads({})\n{}",
      string_literal(path.filename().string()), vector_literal(model, *vector), kOnnxCheck);
  return result;
}

}  // namespace

ExportTarget export_target_from(std::string_view name) {
  if (name == "c") return ExportTarget::c;
  if (name == "js") return ExportTarget::javascript;
  if (name == "python") return ExportTarget::python;
  if (name == "onnx") return ExportTarget::onnx;
  throw InputError(fmt::format("expected c, js, python or onnx, found '{}'", name));
}

Exported export_model(const Model& model, ExportTarget target, const std::string& path,
                      const TestVector* vector, Arithmetic arithmetic) {
  const auto linear = as_linear(model, "export");
  if (target != ExportTarget::c && arithmetic != Arithmetic::single_precision)
    throw InputError("integer arithmetic is for C only");
  if (const CountTransform& transform = model.preprocessing.transform; !transform.is_identity()) {
    throw InputError(
        fmt::format("a model with `transform` {} cannot be exported: the programs take columns as they are. "
                    "Transform the data beforehand and fit without the option",
                    name_of(transform.kind)));
  }
  const std::filesystem::path file(path);
  Exported result;
  std::string program;
  switch (target) {
    case ExportTarget::c:
      result = export_c(*linear, file, vector, arithmetic);
      program = "cc -std=c99 -O2 {0} -lm -o {1} && {1}";
      break;
    case ExportTarget::javascript:
      result = export_javascript(model, file, vector);
      program = "node {0}";
      break;
    case ExportTarget::python:
      result = export_python(model, file, vector);
      program = "python3 {0}";
      break;
    case ExportTarget::onnx:
      result = export_onnx(model, *linear, file, vector);
      program = "python3 {0}";
      break;
  }
  if (vector == nullptr) return result;
  std::filesystem::path check = file;
  const std::string extension = target == ExportTarget::c      ? ".c"
                                : target == ExportTarget::onnx ? ".py"
                                                               : file.extension().string();
  check.replace_filename(file.stem().string() + "_check" + extension);
  result.check_path = check.string();
  std::filesystem::path binary = check;
  binary.replace_extension();
  const std::string runnable = binary.has_parent_path() ? binary.string() : "./" + binary.string();
  result.command = fmt::format(fmt::runtime(program), result.check_path, runnable);
  return result;
}

}  // namespace sharelearn
