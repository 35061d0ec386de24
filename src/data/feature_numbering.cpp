#include "sharelearn/data/feature_numbering.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <limits>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

std::uint32_t checked(std::uint64_t id) {
  if (id >= FeatureNumbering::kNone)
    throw InputError("more than 4 billion features: use hashed ids (`hash` bits)");
  return static_cast<std::uint32_t>(id);
}

}  // namespace

FeatureNumbering::FeatureNumbering(bool by_name, int hash_bits, bool bias)
    : by_name_(by_name), hash_bits_(hash_bits), bias_(bias) {
  if (hash_bits < 0 || hash_bits > 30) {
    throw InputError(fmt::format("hash bits: expected 1 to 30 (0: no hashing), got {}", hash_bits));
  }
}

std::uint32_t FeatureNumbering::hashed(std::uint64_t hash) const {
  return static_cast<std::uint32_t>(hash & ((std::uint64_t{1} << hash_bits_) - 1)) + (bias_ ? 1 : 0);
}

std::uint32_t FeatureNumbering::find_other_index(std::uint64_t index) const {
  if (hash_bits_ > 0) return hashed(XXH64(&index, sizeof index, 0));
  const auto found = id_of_large_.find(index);
  return found == id_of_large_.end() ? kNone : found->second;
}

std::uint32_t FeatureNumbering::find_name(std::string_view name) const {
  if (hash_bits_ > 0) return hashed(XXH64(name.data(), name.size(), 0));
  const auto found = id_of_name_.find(name);
  return found == id_of_name_.end() ? kNone : found->second;
}

std::uint32_t FeatureNumbering::add_index(std::uint64_t index) {
  const std::uint32_t id = checked(kDirect + 1 + large_.size());
  large_.push_back(index);
  id_of_large_.emplace(index, id);
  return id;
}

std::uint32_t FeatureNumbering::of_name(std::string_view name) {
  if (const std::uint32_t known = find_name(name); known != kNone) return known;
  const std::uint32_t id = checked(names_.size() + (bias_ ? 1 : 0));
  names_.emplace_back(name);
  id_of_name_.emplace(names_.back(), id);
  return id;
}

std::string FeatureNumbering::name_of(std::uint32_t id) const {
  if (bias_ && id == 0) return "(bias)";
  if (hash_bits_ > 0) return fmt::format("hash {}", id - (bias_ ? 1 : 0));
  if (by_name_) return names_[id - (bias_ ? 1 : 0)];
  return std::to_string(id <= kDirect ? id - (bias_ ? 1 : 0) : large_[id - kDirect - 1]);
}

void FeatureNumbering::write(ByteWriter& out) const {
  out.u8(by_name_);
  out.u8(static_cast<std::uint8_t>(hash_bits_));
  out.u8(bias_);
  out.texts(std::vector<std::string>(names_.begin(), names_.end()));
  out.indices(std::vector<Index>(large_.begin(), large_.end()));
}

FeatureNumbering FeatureNumbering::read(ByteReader& in) {
  const bool by_name = in.u8() != 0;
  const std::uint8_t bits = in.u8();
  if (bits > 30) in.damaged("hash bits above 30");
  FeatureNumbering ids(by_name, bits, in.u8() != 0);
  const std::vector<std::string> names = in.texts();
  const std::vector<Index> large = in.indices(kDirect, std::numeric_limits<Index>::max());
  for (const std::string& name : names) ids.of_name(name);
  for (const Index index : large) ids.of_index(static_cast<std::uint64_t>(index));
  // Hashed features and those of the other kind are not stored, and each of the rest is stored once.
  if (ids.names_.size() != names.size() || ids.large_.size() != large.size() ||
      !(by_name ? large.empty() : names.empty())) {
    in.damaged("its numbering of features contradicts itself");
  }
  return ids;
}

std::uint64_t FeatureNumbering::end() const {
  if (hash_bits_ > 0) return (std::uint64_t{1} << hash_bits_) + (bias_ ? 1 : 0);
  return by_name_ ? names_.size() + (bias_ ? 1 : 0) : kDirect + 1 + large_.size();
}

}  // namespace sharelearn
