// The binary file of a data set ("cache"), little-endian and without gaps; docs/scale.md describes it:
//
//   header        80 bytes, see CacheHeader
//   matrix        dense: column after column, `rows` floats each
//                 sparse: columns + 1 offsets (64 bits), the rows of all entries (32 bits), their values
//                 (float)
//   checksums     one per block of the matrix (XXH64, 64 bits). Dense: `block` rows of a column, column after
//                 column. Sparse: `block` bytes of the offsets, then of the rows, then of the values
//   description   names, labels, tasks, weights and whatever else belongs to the rows and columns
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct CacheHeader {
  static constexpr std::string_view kMagic = "\x8ASHD\r\n\x1A\n";
  static constexpr Index kBytes = 80;
  static constexpr std::uint32_t kVersion = 1;
  static constexpr Index kSparseBlock = Index{1} << 20;

  bool sparse = false;
  Index rows = 0;
  Index columns = 0;
  Index entries = 0;  ///< stored values; dense: rows * columns
  Index block = 1;    ///< dense: rows, sparse: bytes
  Index file_bytes = 0;
  std::uint64_t table_sum = 0;        ///< checksum of the checksums
  std::uint64_t description_sum = 0;  ///< checksum of the description

  Index starts_bytes() const { return sparse ? 8 * (columns + 1) : 0; }
  Index matrix_bytes() const { return sparse ? starts_bytes() + 8 * entries : 4 * entries; }
  Index blocks_of_column() const { return (rows + block - 1) / block; }
  Index blocks_of_bytes(Index bytes) const { return (bytes + block - 1) / block; }
  Index blocks() const {
    return sparse ? blocks_of_bytes(starts_bytes()) + 2 * blocks_of_bytes(4 * entries)
                  : columns * blocks_of_column();
  }
  Index table_offset() const { return kBytes + matrix_bytes(); }
  Index description_offset() const { return table_offset() + 8 * blocks(); }
  /// Rows per checksum of dense columns: as many as a writer keeps in memory at once.
  static Index dense_block(Index rows, Index columns, Index values_at_once);

  std::string to_bytes() const;
  /// Throws InputError that begins with `name` unless the bytes are a header and all sizes in it fit a file
  /// of `file_bytes` bytes.
  static CacheHeader from_bytes(std::string_view bytes, Index file_bytes, const std::string& name);
};

std::uint64_t cache_checksum(const void* bytes, std::size_t count);

/// All of `data` but its matrix.
std::string cache_description(const Dataset& data);
/// Throws InputError where the description does not fit data of this size.
Dataset read_cache_description(std::string_view bytes, const CacheHeader& header, const std::string& name);

}  // namespace sharelearn
