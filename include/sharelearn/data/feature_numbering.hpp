// Numbers the features of a stream whose vocabulary is not known in advance: by index, by name, or by hash.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

class FeatureNumbering {
 public:
  /// Returned for a feature that is unknown and is not to be learned.
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// `hash_bits` > 0: ids are hashes of that many bits, and nothing is stored. `bias`: id 0 is a constant
  /// feature.
  explicit FeatureNumbering(bool by_name = false, int hash_bits = 0, bool bias = false);

  /// Features are identified by name, not by index.
  bool by_name() const { return by_name_; }
  bool bias() const { return bias_; }
  int hash_bits() const { return hash_bits_; }

  /// Id of column `index` (from 0) or of a name; kNone if it was never seen. Indices below 4 million are
  /// their own ids, so rows of small indices need no lookup.
  std::uint32_t find_index(std::uint64_t index) const {
    const bool direct = hash_bits_ == 0 && index < kDirect;
    return direct ? static_cast<std::uint32_t>(index) + (bias_ ? 1 : 0) : find_other_index(index);
  }
  std::uint32_t find_name(std::string_view name) const;
  /// The same; an unknown feature gets the next id.
  std::uint32_t of_index(std::uint64_t index) {
    const std::uint32_t known = find_index(index);
    return known != kNone ? known : add_index(index);
  }
  std::uint32_t of_name(std::string_view name);

  /// All ids given so far, or that need no storing, are below this.
  std::uint64_t end() const;
  /// Name of a feature in a report: its name, or its index from 0.
  std::string name_of(std::uint32_t id) const;
  /// Names in order of their ids; empty unless by name.
  const std::deque<std::string>& names() const { return names_; }
  /// Indices that are not their own ids, in the order of the ids they have instead, from 4194305 on.
  const std::vector<std::uint64_t>& large_indices() const { return large_; }

  void write(ByteWriter& out) const;
  static FeatureNumbering read(ByteReader& in);

 private:
  static constexpr std::uint64_t kDirect = std::uint64_t{1} << 22;
  std::uint32_t hashed(std::uint64_t hash) const;
  std::uint32_t find_other_index(std::uint64_t index) const;  ///< hashed, or not its own id
  std::uint32_t add_index(std::uint64_t index);

  bool by_name_;
  int hash_bits_;
  bool bias_;
  std::deque<std::string> names_;  ///< a deque keeps the string views below valid
  std::unordered_map<std::string_view, std::uint32_t> id_of_name_;
  std::vector<std::uint64_t> large_;  ///< indices from kDirect on, in order of their ids
  std::unordered_map<std::uint64_t, std::uint32_t> id_of_large_;
};

}  // namespace sharelearn
