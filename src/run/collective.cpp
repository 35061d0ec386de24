#include "sharelearn/run/collective.hpp"

#include <algorithm>

namespace sharelearn {
namespace {

class ThisProcess final : public Collective {
 public:
  int ranks() const override { return 1; }
  int rank() const override { return 0; }
  void gather(std::span<std::byte>, std::span<const std::int64_t>) override {}
  void exchange(std::span<const std::byte> send, std::span<const std::int64_t>, std::span<std::byte> receive,
                std::span<const std::int64_t>) override {
    std::ranges::copy(send, receive.begin());
  }
};

}  // namespace

Collective& this_process() {
  static ThisProcess alone;
  return alone;
}

}  // namespace sharelearn
