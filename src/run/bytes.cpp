#include "sharelearn/run/bytes.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "sharelearn/run/error.hpp"

namespace sharelearn {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

namespace {

template <class T>
void require_finite(std::span<const T> numbers) {
  for (const T x : numbers) {
    if (!std::isfinite(x)) {
      throw Failure("the model holds a number that is not finite and is not saved; check the data's values");
    }
  }
}

}  // namespace

void ByteWriter::raw(const void* p, std::size_t n) {
  bytes_.append(static_cast<const char*>(p), n);
}

void ByteWriter::text(std::string_view s) {
  u64(s.size());
  raw(s.data(), s.size());
}

void ByteWriter::f32(float v) {
  require_finite<float>({&v, 1});
  raw(&v, sizeof v);
}

void ByteWriter::f64(double v) {
  require_finite<double>({&v, 1});
  raw(&v, sizeof v);
}

void ByteWriter::floats(std::span<const float> v) {
  require_finite(v);
  u64(v.size());
  raw(v.data(), v.size_bytes());
}

void ByteWriter::doubles(std::span<const double> v) {
  require_finite(v);
  u64(v.size());
  raw(v.data(), v.size_bytes());
}

void ByteWriter::indices(std::span<const std::int64_t> v) {
  u64(v.size());
  raw(v.data(), v.size_bytes());
}

ByteWriter::Share ByteWriter::share(const void* object) {
  const auto [at, is_new] = shared_.try_emplace(object, static_cast<std::uint32_t>(shared_.size()));
  u32(at->second);
  return {at->second, is_new};
}

void ByteWriter::texts(const std::vector<std::string>& v) {
  u64(v.size());
  for (const std::string& s : v) text(s);
}

void ByteReader::damaged(std::string_view why) const {
  throw InputError(fmt::format("{} is damaged or no sharelearn model: {}", what_, why));
}

void ByteReader::raw(void* p, std::size_t n) {
  if (n > rest_.size()) damaged("it ends too early");
  if (n > 0) std::memcpy(p, rest_.data(), n);
  rest_.remove_prefix(n);
}

std::size_t ByteReader::count(std::size_t bytes_each) {
  const std::uint64_t n = u64();
  if (n > rest_.size() / bytes_each) damaged("a list in it is longer than the file");
  return static_cast<std::size_t>(n);
}

std::uint8_t ByteReader::u8() {
  std::uint8_t v = 0;
  raw(&v, sizeof v);
  return v;
}

std::uint32_t ByteReader::u32() {
  std::uint32_t v = 0;
  raw(&v, sizeof v);
  return v;
}

std::uint64_t ByteReader::u64() {
  std::uint64_t v = 0;
  raw(&v, sizeof v);
  return v;
}

std::int64_t ByteReader::index(std::int64_t low, std::int64_t high) {
  std::int64_t v = 0;
  raw(&v, sizeof v);
  if (v < low || v > high) damaged(fmt::format("the number {} is outside [{}, {}]", v, low, high));
  return v;
}

float ByteReader::f32() {
  float v = 0;
  raw(&v, sizeof v);
  if (!std::isfinite(v)) damaged("a number in it is not finite");
  return v;
}

double ByteReader::f64() {
  double v = 0;
  raw(&v, sizeof v);
  if (!std::isfinite(v)) damaged("a number in it is not finite");
  return v;
}

std::string ByteReader::text() {
  std::string s(count(1), '\0');
  raw(s.data(), s.size());
  return s;
}

std::vector<float> ByteReader::floats() {
  std::vector<float> v(count(sizeof(float)));
  raw(v.data(), v.size() * sizeof(float));
  for (const float x : v) {
    if (!std::isfinite(x)) damaged("a number in it is not finite");
  }
  return v;
}

std::vector<double> ByteReader::doubles() {
  std::vector<double> v(count(sizeof(double)));
  raw(v.data(), v.size() * sizeof(double));
  for (const double x : v) {
    if (!std::isfinite(x)) damaged("a number in it is not finite");
  }
  return v;
}

std::vector<std::int64_t> ByteReader::indices(std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> v(count(sizeof(std::int64_t)));
  raw(v.data(), v.size() * sizeof(std::int64_t));
  for (const std::int64_t x : v) {
    if (x < low || x > high) damaged(fmt::format("the number {} is outside [{}, {}]", x, low, high));
  }
  return v;
}

std::vector<std::string> ByteReader::texts() {
  const std::size_t n = count(sizeof(std::uint64_t));
  std::vector<std::string> v;
  v.reserve(n);
  for (std::size_t i = 0; i < n; ++i) v.push_back(text());
  return v;
}

void ByteReader::expect_end() const {
  if (!rest_.empty()) damaged(fmt::format("{} bytes follow its end", rest_.size()));
}

}  // namespace sharelearn
