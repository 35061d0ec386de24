#include "export/c_export.hpp"

#include "export/c_file.hpp"
#include "export/literals.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

Exported export_c(const LinearModel& model, const std::filesystem::path& path, const TestVector* vector,
                  Arithmetic arithmetic) {
  const std::string name = path.string() == "-" ? "model" : identifier_of(path);
  if (path.string() != "-" && path.filename().string() != name + ".h") {
    throw InputError(fmt::format("{}: a C header needs a name such as {}.h", path.string(), name));
  }
  const EarlyStop early = early_of(model);
  const CParts parts = arithmetic == Arithmetic::single_precision
                           ? float_parts(model, early)
                           : fixed_parts(model, early, arithmetic == Arithmetic::int8 ? 8 : 16, vector);
  Exported result;
  result.text = c_header(model, parts, name);
  result.cost = c_cost(model, parts, vector);
  if (vector != nullptr) result.check = c_check(model, parts, *vector, name);
  return result;
}

}  // namespace sharelearn
