// Files for tests, in a temporary folder that is deleted with the test.
#pragma once

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sharelearn::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sharelearn-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name, std::string_view content) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.erase(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Big-endian, as in IDX.
inline std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// A version 1 (or 2) NPY file.
inline std::string npy(const std::string& type, const std::string& shape, std::string_view elements,
                       bool fortran = false, int version = 1) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header += std::string(63 - (header.size() + (version == 1 ? 10 : 12)) % 64, ' ') + '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + header + std::string(elements);
}

/// A zip archive as numpy.savez writes it, or numpy.savez_compressed (`packed`).
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members, bool packed = false) {
  const auto little = [](std::size_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value);
    return out;
  };
  std::string out, directory;
  for (const auto& [name, content] : members) {
    const std::string gzip = gzipped(content);
    // Without gzip header and trailer.
    const std::string data = packed ? gzip.substr(10, gzip.size() - 18) : content;
    const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    const std::string about = little(packed ? 8 : 0, 2) + little(0, 4) + little(checksum, 4) +
                              little(data.size(), 4) + little(content.size(), 4) + little(name.size(), 2);
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + little(0, 2) + about + little(0, 12) +
                 little(out.size(), 4) + name;
    out += "PK\x03\x04" + little(20, 2) + little(0, 2) + about + little(0, 2) + name + data;
  }
  const std::size_t begin = out.size();
  return out + directory + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

/// The bytes of numbers as they are in memory.
template <class T>
std::string bytes_of(std::initializer_list<T> numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T));
}

}  // namespace sharelearn::test
