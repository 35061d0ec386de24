// The binary file of a data set. Checksums would stop nearly every input at the door, so they are made right
// first: what comes behind them is tested. Inputs whose sizes make no sense are given as they are.
#include <cstring>

#include "data/cache_format.hpp"
#include "fuzz.hpp"
#include "sharelearn/data/read.hpp"

namespace sharelearn::fuzz {
namespace {

constexpr std::size_t kHeader = 80;

/// Makes magic, version, length and the header's checksum right. False: the input is shorter than a header.
bool seal_header(std::string& bytes) {
  if (bytes.size() < kHeader) return false;
  std::memcpy(bytes.data(), CacheHeader::kMagic.data(), CacheHeader::kMagic.size());
  const std::uint32_t version = CacheHeader::kVersion;
  std::memcpy(bytes.data() + 8, &version, sizeof version);
  const std::uint64_t size = bytes.size();
  std::memcpy(bytes.data() + 48, &size, sizeof size);
  const std::uint64_t sum = cache_checksum(bytes.data(), kHeader - 8);
  std::memcpy(bytes.data() + kHeader - 8, &sum, sizeof sum);
  return true;
}

/// Checksums of the pieces of `block` bytes of an array; moves `at` behind it.
void add_sums(const std::string& bytes, Index& at, Index count, Index block,
              std::vector<std::uint64_t>& sums) {
  for (Index from = 0; from < count; from += block) {
    const Index some = std::min(block, count - from);
    sums.push_back(cache_checksum(bytes.data() + at + from, static_cast<std::size_t>(some)));
  }
  at += count;
}

void seal(std::string& bytes) {
  if (!seal_header(bytes)) return;
  CacheHeader header = CacheHeader::from_bytes(bytes, std::ssize(bytes), "fuzz");
  std::vector<std::uint64_t> sums;
  Index at = CacheHeader::kBytes;
  if (header.sparse) {
    for (const Index array : {header.starts_bytes(), 4 * header.entries, 4 * header.entries})
      add_sums(bytes, at, array, header.block, sums);
  } else {
    for (Index j = 0; j < header.columns; ++j) add_sums(bytes, at, 4 * header.rows, 4 * header.block, sums);
  }
  std::memcpy(bytes.data() + at, sums.data(), sums.size() * sizeof sums[0]);
  const auto described = static_cast<std::size_t>(header.description_offset());
  header.table_sum = cache_checksum(sums.data(), sums.size() * sizeof sums[0]);
  header.description_sum = cache_checksum(bytes.data() + described, bytes.size() - described);
  bytes.replace(0, kHeader, header.to_bytes());
}

}  // namespace
}  // namespace sharelearn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sharelearn;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const unsigned choice = fuzz::take_choice(input);
  std::string bytes(input);
  fuzz::expect_errors_only([&] { fuzz::seal(bytes); });
  const fuzz::MemoryFile file(bytes);
  ReadOptions options;
  options.format = Format::cache;
  options.missing = static_cast<Missing>(choice % 4);
  options.labels_required = choice / 4 % 2 == 0;
  if (choice / 8 % 2 == 1) options.label_column = "none";
  fuzz::expect_errors_only([&] {
    const Dataset read = read_dataset(file.path(), options, fuzz::threads());
    if (read.rows() * std::max<Index>(read.columns(), 1) > (Index{1} << 20)) return;
    const Index rows[] = {read.rows() - 1, 0};
    (void)select_rows(read, rows);
    (void)read.x.to_dense();
    fuzz::expect_errors_only([&] { (void)classes_of(read); });
    fuzz::expect_errors_only([&] { (void)tasks_of(read); });
  });
  return 0;
}
