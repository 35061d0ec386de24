// A writer of Protocol Buffers messages. ONNX files are such messages. The library of Protocol Buffers would
// be the heaviest dependency of this project, a compiler of its own included; writing needs only the three
// encodings below (https://protobuf.dev/programming-guides/encoding), and reading is not needed at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sharelearn {

/// The bytes of one message. Fields are written in the order of the calls.
class Message {
 public:
  /// An int32, int64 or enum field. Negative numbers take ten bytes, as the format wants.
  void integer(std::uint32_t field, std::int64_t value);
  /// A string or bytes field.
  void text(std::uint32_t field, std::string_view bytes);
  void message(std::uint32_t field, const Message& part) { text(field, part.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  std::string bytes_;
};

}  // namespace sharelearn
