// Reads a data file as the command line does; prints its size and the CPU seconds it took:
//   read_file FILE [THREADS]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: read_file FILE [THREADS]\n");
    return 2;
  }
  try {
    sharelearn::ThreadPool threads(argc > 2 ? std::atoi(argv[2]) : 1);
    const double cpu = cpu_seconds();
    const auto wall = std::chrono::steady_clock::now();
    const sharelearn::Dataset data = sharelearn::read_dataset(argv[1], {}, threads);
    const double wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    std::printf("rows %lld columns %lld bytes %lld cpu %.3f wall %.3f\n", static_cast<long long>(data.rows()),
                static_cast<long long>(data.columns()), static_cast<long long>(data.x.bytes()),
                cpu_seconds() - cpu, wall_seconds);
  } catch (const sharelearn::Error& error) {
    std::fprintf(stderr, "read_file: %s\n", error.what());
    return 2;
  }
}
