// Little-endian byte streams for model files. The reader trusts nothing: every length is checked against the
// bytes that are left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace sharelearn {

/// Throws Failure on a number that is not finite, because the reader would refuse it.
class ByteWriter {
 public:
  void u8(std::uint8_t v) { raw(&v, 1); }
  void u32(std::uint32_t v) { raw(&v, sizeof v); }
  void u64(std::uint64_t v) { raw(&v, sizeof v); }
  void index(std::int64_t v) { raw(&v, sizeof v); }
  void f32(float v);
  void f64(double v);
  void text(std::string_view s);
  void floats(std::span<const float> v);
  void doubles(std::span<const double> v);
  void indices(std::span<const std::int64_t> v);
  void texts(const std::vector<std::string>& v);
  /// Number of an object that several parts of the file refer to. If is_new, the object's bytes must follow.
  /// shared() of the reader is the counterpart.
  struct Share {
    std::uint32_t number;
    bool is_new;
  };
  Share share(const void* object);
  const std::string& bytes() const { return bytes_; }

 private:
  void raw(const void* p, std::size_t n);
  std::string bytes_;
  std::map<const void*, std::uint32_t> shared_;
};

/// Throws InputError("... is damaged ...") if the bytes do not have the expected form.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}
  std::uint8_t u8();
  std::uint32_t u32();
  std::uint64_t u64();
  /// A number in [low, high].
  std::int64_t index(std::int64_t low, std::int64_t high);
  float f32();
  /// A finite number.
  double f64();
  std::string text();
  std::vector<float> floats();
  std::vector<double> doubles();
  std::vector<std::int64_t> indices(std::int64_t low, std::int64_t high);
  std::vector<std::string> texts();
  /// An object that several parts of the file refer to: the one already read under its number, or a new one
  /// read by `read`.
  template <class T>
  std::shared_ptr<const T> shared(const std::function<T()>& read) {
    const std::uint32_t number = u32();
    if (number > shared_.size()) damaged("it refers to something that was not stored");
    if (number == shared_.size()) {
      auto made = std::make_shared<const T>(read());
      shared_.push_back({&typeid(T), made});
      return made;
    }
    if (*shared_[number].type != typeid(T)) damaged("it refers to something of another kind");
    return std::static_pointer_cast<const T>(shared_[number].object);
  }
  bool at_end() const { return rest_.empty(); }
  /// Throws unless everything was read.
  void expect_end() const;
  [[noreturn]] void damaged(std::string_view why) const;

 private:
  void raw(void* p, std::size_t n);
  std::size_t count(std::size_t bytes_each);
  struct Shared {
    const std::type_info* type;
    std::shared_ptr<const void> object;
  };
  std::string_view rest_;
  std::string what_;
  std::vector<Shared> shared_;
};

}  // namespace sharelearn
