#include "data/line_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "data/gzip.hpp"
#include "data/readers.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;
constexpr std::size_t kLongestLine = std::size_t{1} << 28;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kWaitMilliseconds = 200;  // interval between checks for cancellation

ByteBuffer copy_of(std::string_view text) {
  ByteBuffer bytes;
  std::memcpy(bytes.room(static_cast<Index>(text.size())), text.data(), text.size());
  bytes.grown(static_cast<Index>(text.size()));
  return bytes;
}

/// The first line that is neither blank nor a comment, without its line end; empty if there is none.
std::string_view first_content(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.substr(0, line.find('#')).find_first_not_of(" \t\r") != std::string_view::npos) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

/// A label without features is valid svmlight too, but it is weaker evidence than a line of CSV.
bool is_lone_word(std::string_view line) {
  const std::size_t end = line.find_first_of(" \t\r,;");
  return end == std::string_view::npos || line.find_first_not_of(" \t\r", end) == std::string_view::npos;
}

}  // namespace

/// The bytes of the file, unpacked if it is gzip. Each read takes what is available, so a pipe is answered at
/// once.
struct LineSource::Input {
  std::string path, name;
  const Monitor& monitor;
  int file = -1;
  bool started = false;
  bool packed = false;
  z_stream unpacker{};
  std::vector<unsigned char> raw = std::vector<unsigned char>(kChunk);

  Input(const std::string& from, const Monitor& watching)
      : path(from), name(path == "-" ? "standard input" : path), monitor(watching) {
    file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw InputError(fmt::format("{}: cannot open it: {}", name, std::strerror(errno)));
  }
  ~Input() {
    if (packed) inflateEnd(&unpacker);
    if (file > STDIN_FILENO) ::close(file);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// True for a file that can be opened again by its name.
  bool reopens() const {
    struct stat status {};
    return path != "-" && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  }

  /// Waits for input. False once reading was cancelled.
  bool wait() const {
    pollfd input{file, POLLIN, 0};
    while (!monitor.cancelled()) {
      const int ready = ::poll(&input, 1, kWaitMilliseconds);
      if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    }
    return false;
  }

  /// Reads into raw[have] and after it. Returns the number of bytes read.
  std::size_t read_raw(std::size_t have) {
    for (;;) {
      const ssize_t got = wait() ? ::read(file, raw.data() + have, raw.size() - have) : 0;
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EISDIR) throw InputError(fmt::format("{}: is a folder, expected a file", name));
      if (errno != EINTR) throw Failure(fmt::format("{}: cannot read it: {}", name, std::strerror(errno)));
    }
  }

  /// Detects gzip from the first bytes and returns how many bytes there are. A pipe may give the two bytes of
  /// gzip's mark one by one.
  std::size_t start(std::size_t got) {
    started = true;
    if (got == 1 && raw[0] == 0x1f) got += read_raw(1);
    packed = is_gzip({reinterpret_cast<const char*>(raw.data()), got});
    if (packed && inflateInit2(&unpacker, 15 + 16) != Z_OK) throw Failure("cannot start zlib");
    return got;
  }

  /// Appends the next bytes; false at the end.
  bool append(std::string& out) {
    std::size_t got = read_raw(0);
    if (!started) got = start(got);
    if (!packed) {
      out.append(reinterpret_cast<const char*>(raw.data()), got);
      return got > 0;
    }
    if (got == 0) {
      if (between_ || monitor.cancelled()) return false;
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
    // When the output buffer is full, zlib may hold more output even after it has taken all input.
    while (unpacker.avail_in > 0 || unpacker.avail_out == 0) {
      if (between_ && (padding_ || unpacker.avail_in == 0)) break;
      if (between_) {
        padding_ = !begins_gzip_member(*unpacker.next_in, name);
        if (padding_) break;
        if (inflateReset(&unpacker) != Z_OK) throw Failure("cannot restart zlib");
      }
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
  bool padding_ = false;  ///< only padding follows the last member
};

LineSource::LineSource(const std::string& path, const Monitor& monitor)
    : input_(std::make_unique<Input>(path, monitor)), monitor_(monitor) {}
LineSource::~LineSource() = default;

const std::string& LineSource::name() const {
  return input_->name;
}

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
  if (!begun_) pass_mark();
  return !ended_;
}

// The byte order mark may arrive in pieces, like any data of a pipe.
void LineSource::pass_mark() {
  begun_ = true;
  while (!ended_ && buffer_.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(buffer_)) {
    ended_ = !input_->append(buffer_);
  }
  if (buffer_.starts_with(kByteOrderMark)) begin_ = searched_ = kByteOrderMark.size();
}

/// Text that was read but not given out yet: whole lines only, or all of it at the end of the input or once a
/// whole chunk is there.
std::string_view LineSource::ahead() const {
  const std::string_view text = std::string_view(buffer_).substr(begin_, kChunkBytes);
  if (ended_ || text.size() == kChunkBytes) return text;
  return text.substr(0, text.rfind('\n') + 1);
}

std::string_view LineSource::first_line() {
  while (first_content(ahead()).empty() && ahead().size() < kChunkBytes && fill()) {
  }
  return first_content(ahead());
}

Format LineSource::format(bool at_once) {
  if (first_line().empty()) return Format::svmlight;
  // One line of svmlight decides. Text that may be CSV is examined again each time its size has doubled.
  for (std::size_t looked_at = 0;; fill()) {
    const std::string_view text = ahead();
    if (text.size() < 2 * looked_at && !ended_) continue;
    looked_at = text.size();
    const Format format = detect_format(ByteSource(name(), copy_of(text)));
    if (at_once && format == Format::csv && is_lone_word(first_content(text))) return Format::svmlight;
    if (format != Format::csv || at_once || ended_ || text.size() == kChunkBytes) return format;
  }
}

Dataset LineSource::read_all(const ReadOptions& options, ThreadPool& threads) {
  if (!begun_ || input_->reopens()) return read_dataset(input_->path, options, threads);
  while (!ended_) ended_ = !input_->append(buffer_);
  if (monitor_.cancelled()) throw Failure(fmt::format("{}: interrupted before all of it was read", name()));
  if (begin_ == buffer_.size()) throw InputError(fmt::format("'{}' is empty: expected data", name()));
  const ByteSource bytes(name(), copy_of(std::string_view(buffer_).substr(begin_)));
  buffer_ = {};
  begin_ = searched_ = 0;
  return read_dataset(bytes, input_->path, options, threads);
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
  if (monitor_.cancelled()) return false;  // the last bytes read may be half a line
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
