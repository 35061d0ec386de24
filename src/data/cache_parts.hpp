// The matrix of a cache while it is written: dense or sparse rows come in batches, columns go to the file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/cache_format.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

class CachePart {
 public:
  virtual ~CachePart() = default;
  virtual void add(const Matrix& rows) = 0;
  virtual Index rows() const = 0;
  /// Writes what is left of the matrix; afterwards header() and checksums() are those of the file.
  virtual void finish() = 0;
  const CacheHeader& header() const { return header_; }
  const std::vector<std::uint64_t>& checksums() const { return checksums_; }

 protected:
  CacheHeader header_;
  std::vector<std::uint64_t> checksums_;
};

/// What a part works with.
struct CacheTarget {
  AtomicFile& file;
  std::string folder;  ///< for temporary files
  ThreadPool& threads;
  Index values_at_once;
};

/// `rows`: in all; -1: not known.
std::unique_ptr<CachePart> dense_cache_part(const CacheTarget& target, Index rows, Index columns);
std::unique_ptr<CachePart> sparse_cache_part(const CacheTarget& target);

}  // namespace sharelearn
