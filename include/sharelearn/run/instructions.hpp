// Which instruction set the kernels run with. Results have the same bits for all sets with fused multiply-add
// (AVX2, AVX-512), so this is for tests and for support, not for users.
#pragma once

#include <string_view>

namespace sharelearn {

/// "avx2" or "avx512": only that set; "best": the best the processor has (the default). Holds for the whole
/// process; call it only while nothing is being computed. Throws InputError for another name, or if the
/// processor does not have the instructions.
void limit_instructions(std::string_view name);

}  // namespace sharelearn
