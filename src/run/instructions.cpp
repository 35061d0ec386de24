#include "sharelearn/run/instructions.hpp"

#include <fmt/core.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include <cstdint>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Highway's bit for the name.
std::int64_t target_of(std::string_view name) {
#if HWY_ARCH_X86
  if (name == "avx2") return HWY_AVX2;
  if (name == "avx512") return HWY_AVX3;
#endif
  throw InputError(fmt::format("expected avx2, avx512 or best as instructions, found '{}'", name));
}

}  // namespace

void limit_instructions(std::string_view name) {
  const std::int64_t target = name == "best" ? 0 : target_of(name);
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  if (target == 0) return;
  if ((hwy::SupportedTargets() & HWY_TARGETS & target) == 0) {
    throw InputError(fmt::format("this processor, or this build, does not have the instructions '{}'", name));
  }
  hwy::SetSupportedTargetsForTest(target);
}

}  // namespace sharelearn
