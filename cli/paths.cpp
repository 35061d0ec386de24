#include "paths.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn::cli {
namespace {

namespace fs = std::filesystem;

/// True for what a write replaces: devices, pipes and standard streams can be named twice.
bool is_replaceable(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && path != "-" && (!fs::exists(path, ignored) || fs::is_regular_file(path, ignored));
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (!is_replaceable(a) || !is_replaceable(b)) return false;
  std::error_code failed;
  const fs::path first = fs::weakly_canonical(fs::absolute(a), failed);
  return !failed && first == fs::weakly_canonical(fs::absolute(b), failed);
}

void refuse_same(const NamedPath& output, const NamedPath& other) {
  if (!is_same_file(output.path, other.path)) return;
  throw InputError(fmt::format("{} {}: is the same file as {}, and would replace it; name another",
                               output.option, output.path, other.option));
}

void refuse_standard_input_twice(const std::vector<NamedPath>& inputs) {
  const NamedPath* first = nullptr;
  for (const NamedPath& input : inputs) {
    if (input.path != "-") continue;
    if (first != nullptr) {
      throw InputError(fmt::format("{} and {}: both are standard input (-), which can be read only once",
                                   first->option, input.option));
    }
    first = &input;
  }
}

}  // namespace

void check_paths(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
  refuse_standard_input_twice(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    require_writable(outputs[i].path);
    for (std::size_t before = 0; before < i; ++before) {
      refuse_same(outputs[i], outputs[before]);
      if (outputs[i].path == "-" && outputs[before].path == "-") {
        throw InputError(fmt::format("{} and {} cannot both go to standard output; name a file for one",
                                     outputs[before].option, outputs[i].option));
      }
    }
    for (const NamedPath& input : inputs) refuse_same(outputs[i], input);
  }
}

}  // namespace sharelearn::cli
