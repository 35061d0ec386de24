// A whole model file; its checksum is mended, so that the bytes behind it are reached.
#include "use_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  file.resize(size - std::min(size, sizeof(std::uint64_t)));
  sharelearn::fuzz::use_model(sharelearn::fuzz::with_checksum(std::move(file)));
  return 0;
}
