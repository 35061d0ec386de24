#include "data/cache_format.hpp"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Numbers of the header behind magic, version and kind; the last one is the header's own checksum.
constexpr std::size_t kNumbers = 8;

void write_labels(ByteWriter& out, const LabelColumn& labels) {
  out.texts(labels.names);
  const std::vector<std::int64_t> ids(labels.id.begin(), labels.id.end());
  out.indices(ids);
}

LabelColumn read_labels(ByteReader& in, Index rows) {
  LabelColumn labels;
  labels.names = in.texts();
  if (std::ssize(labels.names) > std::numeric_limits<std::int32_t>::max())
    in.damaged("it has too many labels");
  const std::vector<std::int64_t> ids = in.indices(-1, std::ssize(labels.names) - 1);
  if (!ids.empty() && std::ssize(ids) != rows) in.damaged("it does not have one label per row");
  labels.id.assign(ids.begin(), ids.end());
  return labels;
}

std::vector<Category> read_categories(ByteReader& in, Index columns) {
  std::vector<Category> categories;
  Index free = 0;  // the first column that may be the next category's
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    Category& category = categories.emplace_back();
    category.name = in.text();
    category.first = in.index(free, columns);
    category.levels = in.texts();
    free = category.first + std::ssize(category.levels);
    if (category.levels.empty() || free > columns) in.damaged("a category in it does not fit the columns");
  }
  return categories;
}

}  // namespace

Index CacheHeader::dense_block(Index rows, Index columns, Index values_at_once) {
  const auto fit =
      static_cast<std::uint64_t>(std::max<Index>(values_at_once / std::max<Index>(columns, 1), 1));
  return std::clamp<Index>(static_cast<Index>(std::bit_floor(fit)), 1, std::max<Index>(rows, 1));
}

std::string CacheHeader::to_bytes() const {
  ByteWriter out;
  out.u32(kVersion);
  out.u32(sparse ? 1 : 0);
  for (const Index number : {rows, columns, entries, block, file_bytes}) out.index(number);
  out.u64(table_sum);
  out.u64(description_sum);
  std::string bytes = std::string(kMagic) + out.bytes();
  const std::uint64_t sum = cache_checksum(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes;
}

CacheHeader CacheHeader::from_bytes(std::string_view bytes, Index file_bytes, const std::string& name) {
  const auto refuse = [&](const std::string& why) -> InputError {
    return InputError(fmt::format("'{}': {}; write it again with sharelearn cache", name, why));
  };
  if (std::ssize(bytes) < kBytes || !bytes.starts_with(kMagic))
    throw refuse("it is cut off within its header");
  std::uint32_t version = 0, kind = 0;
  std::uint64_t number[kNumbers];
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
  std::memcpy(&kind, bytes.data() + kMagic.size() + sizeof version, sizeof kind);
  std::memcpy(number, bytes.data() + kBytes - sizeof number, sizeof number);
  if (cache_checksum(bytes.data(), kBytes - sizeof(std::uint64_t)) != number[kNumbers - 1])
    throw refuse("its header does not match its checksum: the file is damaged");
  if (version != kVersion)
    throw refuse(fmt::format("it has version {} of the format, expected {}", version, kVersion));
  CacheHeader header;
  header.sparse = kind == 1;
  // 2^56 of anything is more than a file can hold, and far from overflow when multiplied by 8.
  constexpr std::uint64_t most = std::uint64_t{1} << 56;
  bool fits = kind <= 1 && number[0] > 0 && number[3] > 0 && (kind == 1 || number[1] > 0);
  for (std::size_t i = 0; i < 5; ++i) fits &= number[i] < most;
  if (!fits) throw refuse("the sizes in its header are impossible");
  header.rows = static_cast<Index>(number[0]);
  header.columns = static_cast<Index>(number[1]);
  header.entries = static_cast<Index>(number[2]);
  header.block = static_cast<Index>(number[3]);
  header.file_bytes = static_cast<Index>(number[4]);
  header.table_sum = number[5];
  header.description_sum = number[6];
  if (header.file_bytes != file_bytes) {
    throw refuse(fmt::format("its header promises {} bytes, but it has {}; it is {}", header.file_bytes,
                             file_bytes,
                             file_bytes < header.file_bytes ? "cut off" : "not what its header says"));
  }
  Index product = 0;
  fits = header.sparse
             ? header.rows <= Index{std::numeric_limits<std::uint32_t>::max()}
             : !__builtin_mul_overflow(header.rows, header.columns, &product) && product == header.entries;
  // Each of these is checked before the next, which is computed from it.
  fits = fits && header.columns < file_bytes && header.entries < file_bytes &&
         header.matrix_bytes() < file_bytes && header.description_offset() <= file_bytes;
  if (!fits) throw refuse("the sizes in its header do not fit its length");
  return header;
}

std::uint64_t cache_checksum(const void* bytes, std::size_t count) {
  return XXH64(bytes, count, 0);
}

std::string cache_description(const Dataset& data) {
  ByteWriter out;
  out.texts(data.column_names);
  write_labels(out, data.label);
  write_labels(out, data.task);
  out.doubles(data.weight);
  out.index(data.image_width);
  out.u64(data.categories.size());
  for (const Category& category : data.categories) {
    out.text(category.name);
    out.index(category.first);
    out.texts(category.levels);
  }
  out.text(data.label_place.name);
  out.index(data.label_place.column);
  out.index(data.label_place.columns);
  out.u8(data.zero_based ? 1 : 0);
  return out.bytes();
}

Dataset read_cache_description(std::string_view bytes, const CacheHeader& header, const std::string& name) {
  ByteReader in(bytes, fmt::format("the description in '{}'", name));
  Dataset data;
  data.source = name;
  data.column_names = in.texts();
  if (!data.column_names.empty() && std::ssize(data.column_names) != header.columns)
    in.damaged("it does not have one name per column");
  data.label = read_labels(in, header.rows);
  data.task = read_labels(in, header.rows);
  data.weight = in.doubles();
  if (!data.weight.empty() && std::ssize(data.weight) != header.rows)
    in.damaged("it does not have one weight per row");
  data.image_width = in.index(0, header.columns);
  data.categories = read_categories(in, header.columns);
  data.label_place.name = in.text();
  constexpr Index most = Index{1} << 56;
  data.label_place.column = in.index(-1, most);
  data.label_place.columns = in.index(0, most);
  data.zero_based = in.u8() != 0;
  in.expect_end();
  return data;
}

}  // namespace sharelearn
