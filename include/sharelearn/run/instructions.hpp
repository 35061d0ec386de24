// Which instruction set the kernels run with. Results are the same bits for all that have fused multiply-add
// (AVX2, AVX-512), so this is for tests and for support, not for users.
#pragma once

#include <string_view>

namespace sharelearn {

/// "avx2" or "avx512": only that one; "best": what the processor has (the default). For the whole process, to
/// be called while nothing is being computed. Throws InputError for another name, or where the processor does
/// not have the instructions.
void limit_instructions(std::string_view name);

}  // namespace sharelearn
