// The file: 8 bytes "SHLCKPT\n", u32 version, u64 hash of the run, u64 entries, each text name and text
// bytes, u64 XXH64 of all before it.
#include "sharelearn/run/checkpoint.hpp"

#include <fmt/core.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "run/ranks.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kMagic = "SHLCKPT\n";
constexpr std::uint32_t kVersion = 1;

/// The bytes between the mark and the checksum. Of a file that is not a checkpoint only the first bytes are
/// read: a device may have no end.
std::string read_content(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  const int reason = std::filesystem::is_directory(path, ignored) ? EISDIR : file ? 0 : errno;
  if (reason != 0) throw InputError(fmt::format("{}: cannot open it: {}", path, std::strerror(reason)));
  std::string bytes(kMagic.size(), '\0');
  file.read(bytes.data(), std::ssize(bytes));
  if (file.gcount() != std::ssize(bytes) || bytes != kMagic) {
    throw InputError(
        fmt::format("{}: is not a checkpoint of sharelearn; give another name to `checkpoint`", path));
  }
  bytes.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (file.bad()) throw Failure(fmt::format("{}: cannot read it", path));
  std::uint64_t sum = 0;
  const std::size_t end = bytes.size() < kMagic.size() + sizeof sum ? 0 : bytes.size() - sizeof sum;
  if (end > 0) std::memcpy(&sum, bytes.data() + end, sizeof sum);
  if (end == 0 || sum != XXH64(bytes.data(), end, 0)) {
    throw InputError(
        fmt::format("{}: the checkpoint is damaged; remove it to start from the beginning", path));
  }
  return bytes.substr(kMagic.size(), end - kMagic.size());
}

}  // namespace

Checkpoint::Checkpoint(std::string path, std::uint64_t run, double pause, Collective& ranks)
    : path_(std::move(path)), run_(run), pause_(pause), ranks_(ranks) {
  if (path_ == "-") throw OptionError("checkpoint", "expected the name of a file, found '-'");
  require_writable(path_);
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  const std::string content = read_content(path_);
  ByteReader in = reader(content);
  if (in.u32() != kVersion || in.u64() != run_) {
    throw InputError(fmt::format(
        "{}: is the checkpoint of another run: the data, the options or the version of sharelearn "
        "differ; remove it to start from the beginning, or give another name to `checkpoint`",
        path_));
  }
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    std::string name = in.text();
    entries_[std::move(name)] = in.text();
  }
  in.expect_end();
  resumed_ = true;
}

const std::string* Checkpoint::find(const std::string& name) const {
  const auto found = entries_.find(within(name));
  return found == entries_.end() ? nullptr : &found->second;
}

ByteReader Checkpoint::reader(const std::string& bytes) const {
  return {bytes, fmt::format("{}: the checkpoint", path_)};
}

void Checkpoint::put(const std::string& name, const ByteWriter& result) {
  const std::string key = within(name), below = key + '/';
  entries_.erase(entries_.lower_bound(below), entries_.lower_bound(key + static_cast<char>('/' + 1)));
  entries_[key] = result.bytes();
  if (is_due()) write();
}

void Checkpoint::offer(const std::string& name, const std::function<void(ByteWriter&)>& state) {
  if (!is_due()) return;
  const auto start = Clock::now();
  ByteWriter out;
  state(out);
  entries_[within(name)] = out.bytes();
  write();
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
}

bool Checkpoint::is_due() const {
  const double since = std::chrono::duration<double>(Clock::now() - written_).count();
  const char due = since >= std::max(pause_, pause_ > 0 ? kCheckpointShare * seconds_ : 0) ? 1 : 0;
  return gather_all(std::span(&due, 1), ranks_).front() != 0;
}

void Checkpoint::write() {
  const auto start = Clock::now();
  ByteWriter out;
  out.u32(kVersion);
  out.u64(run_);
  out.u64(entries_.size());
  for (const auto& [name, bytes] : entries_) {
    out.text(name);
    out.text(bytes);
  }
  std::string content(kMagic);
  content += out.bytes();
  const std::uint64_t sum = XXH64(content.data(), content.size(), 0);
  content.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  if (ranks_.rank() == 0) write_file(path_, content);
  written_ = Clock::now();
  seconds_ = std::chrono::duration<double>(written_ - start).count();
}

CheckpointStep::CheckpointStep(Checkpoint* checkpoint, const std::string& name) : checkpoint_(checkpoint) {
  if (checkpoint_ == nullptr) return;
  outer_ = checkpoint_->prefix_.size();
  checkpoint_->prefix_ += name + '/';
}

CheckpointStep::~CheckpointStep() {
  if (checkpoint_ != nullptr) checkpoint_->prefix_.resize(outer_);
}

}  // namespace sharelearn
