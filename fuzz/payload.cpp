// The part of a model file that depends on its kind: one byte for the kind, one for the link, the payload.
// The container around it is always right, so that mutations that change the payload's length get through.
#include "sharelearn/run/bytes.hpp"
#include "use_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sharelearn;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string kind = std::array{"linear", "online-cascade", "sharing"}[fuzz::take_choice(input) % 3];
  const unsigned link = fuzz::take_choice(input);
  ByteWriter out;
  out.u32(link == 0 ? 2 : 3);
  out.text(kind);
  out.text("{}");
  out.text(input);
  out.floats({});
  if (link != 0) out.u8(static_cast<std::uint8_t>(link - 1));
  fuzz::use_model(fuzz::with_checksum("SHLEARN\n" + out.bytes()));
  return 0;
}
