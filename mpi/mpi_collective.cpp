#include "mpi_collective.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// MPI counts bytes in 32 bits. Beyond this many, parts go one by one, in pieces of this size.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

/// Sizes and offsets of parts that end at `ends`, for MPI.
struct Parts {
  explicit Parts(std::span<const std::int64_t> ends) {
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      size.push_back(static_cast<int>(end - begin));
      offset.push_back(static_cast<int>(begin));
      begin = end;
    }
  }
  std::vector<int> size, offset;
};

std::int64_t begin_of(std::span<const std::int64_t> ends, int rank) {
  return rank == 0 ? 0 : ends[static_cast<std::size_t>(rank - 1)];
}

std::span<std::byte> part_of(std::span<std::byte> all, std::span<const std::int64_t> ends, int rank) {
  const std::int64_t begin = begin_of(ends, rank);
  return all.subspan(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(ends[static_cast<std::size_t>(rank)] - begin));
}

/// Calls work(bytes of the piece, its size) for pieces that MPI can count.
template <class Work>
void in_pieces(std::int64_t size, Work work) {
  for (std::int64_t at = 0; at < size; at += kMostBytes)
    work(at, static_cast<int>(std::min(kMostBytes, size - at)));
}

}  // namespace

bool MpiCollective::started() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

MpiCollective::MpiCollective() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw Failure("MPI could not be started");
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}

MpiCollective::~MpiCollective() {
  MPI_Finalize();
}

void MpiCollective::gather(std::span<std::byte> all, std::span<const std::int64_t> ends) {
  if (ends.back() <= kMostBytes) {
    const Parts parts(ends);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), parts.size.data(), parts.offset.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    return;
  }
  for (int from = 0; from < ranks_; ++from) {
    const auto part = part_of(all, ends, from);
    in_pieces(std::ssize(part), [&](std::int64_t at, int count) {
      MPI_Bcast(part.data() + at, count, MPI_BYTE, from, MPI_COMM_WORLD);
    });
  }
}

void MpiCollective::exchange(std::span<const std::byte> send, std::span<const std::int64_t> sent,
                             std::span<std::byte> receive, std::span<const std::int64_t> received) {
  // All ranks must take the same way, so the largest of them decides.
  std::int64_t largest = std::max(sent.back(), received.back());
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (largest <= kMostBytes) {
    const Parts from(sent), to(received);
    MPI_Alltoallv(send.data(), from.size.data(), from.offset.data(), MPI_BYTE, receive.data(), to.size.data(),
                  to.offset.data(), MPI_BYTE, MPI_COMM_WORLD);
    return;
  }
  for (int step = 0; step < ranks_; ++step) {
    const int next = (rank_ + step) % ranks_, before = (rank_ - step + ranks_) % ranks_;
    const std::int64_t out = begin_of(sent, next), in = begin_of(received, before);
    const std::int64_t out_size = sent[static_cast<std::size_t>(next)] - out;
    const std::int64_t in_size = received[static_cast<std::size_t>(before)] - in;
    std::vector<MPI_Request> requests;
    in_pieces(in_size, [&](std::int64_t at, int count) {
      MPI_Irecv(receive.data() + in + at, count, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                &requests.emplace_back());
    });
    in_pieces(out_size, [&](std::int64_t at, int count) {
      MPI_Isend(send.data() + out + at, count, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests.emplace_back());
    });
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

void MpiCollective::abort(int code) noexcept {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace sharelearn
