#include "sharelearn/data/line_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 28;

}  // namespace

/// Bytes of the file, unpacked if it is gzip. read() gives what is there, so that a pipe is answered at once.
struct LineSource::Input {
  std::string name;
  int file = -1;
  bool started = false;
  bool packed = false;
  z_stream unpacker{};
  std::vector<unsigned char> raw = std::vector<unsigned char>(kChunk);

  explicit Input(const std::string& path) : name(path == "-" ? "standard input" : path) {
    file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw InputError(fmt::format("{}: cannot open it: {}", name, std::strerror(errno)));
  }
  ~Input() {
    if (packed) inflateEnd(&unpacker);
    if (file > STDIN_FILENO) ::close(file);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  std::size_t read_raw() {
    for (;;) {
      const ssize_t got = ::read(file, raw.data(), raw.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EISDIR) throw InputError(fmt::format("{}: is a folder, expected a file", name));
      if (errno != EINTR) throw Failure(fmt::format("{}: cannot read it: {}", name, std::strerror(errno)));
    }
  }

  void start(std::size_t got) {
    started = true;
    packed = got >= 2 && raw[0] == 0x1f && raw[1] == 0x8b;
    if (packed && inflateInit2(&unpacker, 15 + 16) != Z_OK) throw Failure("cannot start zlib");
  }

  /// Appends what comes next; false at the end.
  bool append(std::string& out) {
    const std::size_t got = read_raw();
    if (!started) start(got);
    if (!packed) {
      out.append(reinterpret_cast<const char*>(raw.data()), got);
      return got > 0;
    }
    if (got == 0) {
      if (between_) return false;
      throw InputError(fmt::format("{}: the gzip file is cut off", name));
    }
    unpack(got, out);
    return true;
  }

 private:
  void unpack(std::size_t got, std::string& out) {
    unpacker.next_in = raw.data();
    unpacker.avail_in = static_cast<uInt>(got);
    unpacker.avail_out = 1;
    // A full output buffer may leave more behind even where all input is taken.
    while (unpacker.avail_in > 0 || unpacker.avail_out == 0) {
      if (between_ && unpacker.avail_in == 0) break;
      if (between_ && inflateReset(&unpacker) != Z_OK) throw Failure("cannot restart zlib");
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      unpacker.next_out = reinterpret_cast<unsigned char*>(out.data() + before);
      unpacker.avail_out = static_cast<uInt>(kChunk);
      const int status = inflate(&unpacker, Z_NO_FLUSH);
      out.resize(before + kChunk - unpacker.avail_out);
      between_ = status == Z_STREAM_END;  // another member may follow
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        throw InputError(fmt::format("{}: the gzip file is damaged", name));
      }
    }
  }
  bool between_ = false;  ///< a gzip member has just ended
};

LineSource::LineSource(const std::string& path) : input_(std::make_unique<Input>(path)) {}
LineSource::~LineSource() = default;

bool LineSource::fill() {
  if (ended_) return false;
  if (buffer_.size() - begin_ > kLongestLine) {
    throw InputError(
        fmt::format("{}, line {}: longer than 256 MB, is this a text file?", input_->name, lines_ + 1));
  }
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  ended_ = !input_->append(buffer_);
  return !ended_;
}

bool LineSource::has_line() {
  if (ended_) return true;
  const std::size_t at = buffer_.find('\n', searched_);
  searched_ = at == std::string::npos ? buffer_.size() : at;
  return at != std::string::npos;
}

bool LineSource::next(std::string_view& line) {
  while (!has_line()) {
    if (!fill()) break;
  }
  const std::size_t end = std::min(buffer_.find('\n', searched_), buffer_.size());
  if (end == buffer_.size() && begin_ >= buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  begin_ = std::min(end + 1, buffer_.size());
  searched_ = begin_;
  ++lines_;
  return true;
}

}  // namespace sharelearn
