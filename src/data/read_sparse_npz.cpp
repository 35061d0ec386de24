// Sparse matrices as SciPy saves them: an NPZ archive with the arrays format (csr or csc), shape, data,
// indices and indptr.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "data/array.hpp"
#include "data/readers.hpp"
#include "data/to_size.hpp"
#include "data/zip.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/memory.hpp"

namespace sharelearn {
namespace {

/// The arrays of an archive: entries [start[i], start[i + 1]) belong to row i (csr) or column i (csc).
struct Compressed {
  std::vector<Index> start, index;
  std::vector<float> value;
  Index outer = 0, inner = 0;  ///< rows and columns (csr), or columns and rows (csc)
};

class SparseArchive {
 public:
  SparseArchive(const ByteSource& archive, const ReadOptions& options, ThreadPool& threads)
      : archive_(archive), options_(options), threads_(threads), members_(list_zip(archive)) {}

  SparseMatrix read() {
    const std::string format = format_name();
    if (format != "csr" && format != "csc") {
      fail(fmt::format("holds a sparse matrix of the format '{}'; expected csr or csc (x.tocsr())", format));
    }
    const std::vector<Index> shape = integers("shape");
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) fail("expected a matrix with rows and columns");
    const bool by_rows = format == "csr";
    Compressed all{integers("indptr"), integers("indices"), values(), shape[by_rows ? 0 : 1],
                   shape[by_rows ? 1 : 0]};
    check(all);
    return by_rows ? columns_of(transposed(all)) : columns_of(transposed(transposed(all)));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("'{}': {}", archive_.name(), what));
  }
  ByteSource member(const std::string& name) const {
    const auto found = std::ranges::find(members_, name + ".npy", &ZipMember::name);
    if (found == members_.end()) fail(fmt::format("lacks the array '{}' of a sparse matrix", name));
    return {fmt::format("{}/{}", archive_.name(), found->name),
            extract(archive_, *found, options_.max_bytes)};
  }
  /// The text at the end of the array, which is one text of bytes or of letters of 4 bytes.
  std::string format_name() const {
    const ByteSource source = member("format");
    std::string text = source.head(std::min<Index>(source.size(), 4096));
    text = text.substr(text.rfind('\n') + 1);
    std::erase(text, '\0');
    return text;
  }
  std::vector<Index> integers(const std::string& name) const {
    const ByteSource source = member(name);
    return read_integers(source, npy_layout(source));
  }
  std::vector<float> values() const {
    const ByteSource source = member("data");
    const ArrayLayout layout = npy_layout(source);
    if (layout.columns() != 1) fail("expected a list of values as 'data'");
    if (layout.rows() == 0) return {};
    const DenseMatrix column = read_matrix(source, layout, options_.missing, threads_);
    return {column.column_span(0).begin(), column.column_span(0).end()};
  }

  void check(const Compressed& all) const {
    constexpr Index most = Index{std::numeric_limits<std::uint32_t>::max()};
    if (std::max(all.outer, all.inner) > most) fail("has more than 2^32 rows or columns");
    require_memory(16.0 * static_cast<double>(all.outer + all.inner), fmt::format("'{}'", archive_.name()));
    const bool fits = std::ssize(all.start) == all.outer + 1 && all.start.front() == 0 &&
                      all.start.back() == std::ssize(all.index) && all.index.size() == all.value.size() &&
                      std::ranges::is_sorted(all.start);
    if (!fits) fail("the arrays of the sparse matrix do not fit each other");
    if (std::ranges::any_of(all.index, [&](Index i) { return i < 0 || i >= all.inner; })) {
      fail("an index of the sparse matrix is outside its shape");
    }
  }

  /// The same entries by the other index, ascending within it.
  static Compressed transposed(const Compressed& from) {
    Compressed to{std::vector<Index>(to_size(from.inner) + 1, 0), std::vector<Index>(from.index.size()),
                  std::vector<float>(from.value.size()), from.inner, from.outer};
    for (const Index i : from.index) ++to.start[to_size(i) + 1];
    std::partial_sum(to.start.begin(), to.start.end(), to.start.begin());
    std::vector<Index> next(to.start.begin(), to.start.end() - 1);
    for (Index i = 0; i < from.outer; ++i) {
      for (Index e = from.start[to_size(i)]; e < from.start[to_size(i) + 1]; ++e) {
        const Index place = next[to_size(from.index[to_size(e)])]++;
        to.index[to_size(place)] = i;
        to.value[to_size(place)] = from.value[to_size(e)];
      }
    }
    return to;
  }

  /// Compressed columns without explicit zeros.
  SparseMatrix columns_of(const Compressed& all) const {
    SparseMatrix x;
    x.rows = all.inner;
    x.cols = all.outer;
    x.start.push_back(0);
    for (Index j = 0; j < all.outer; ++j) {
      for (Index e = all.start[to_size(j)]; e < all.start[to_size(j) + 1]; ++e) {
        if (e > all.start[to_size(j)] && all.index[to_size(e)] == all.index[to_size(e - 1)]) {
          fail(fmt::format("row {} has two values in column {} (counted from 0); call sum_duplicates() first",
                           all.index[to_size(e)], j));
        }
        if (all.value[to_size(e)] == 0) continue;
        x.row.push_back(static_cast<std::uint32_t>(all.index[to_size(e)]));
        x.value.push_back(all.value[to_size(e)]);
      }
      x.start.push_back(std::ssize(x.value));
    }
    return x;
  }

  const ByteSource& archive_;
  const ReadOptions& options_;
  ThreadPool& threads_;
  std::vector<ZipMember> members_;
};

}  // namespace

SparseMatrix read_sparse_archive(const ByteSource& archive, const ReadOptions& options, ThreadPool& threads) {
  ReadOptions keep = options;
  if (keep.missing != Missing::error) keep.missing = Missing::keep;  // a mean counts the zeros, too
  SparseMatrix x = SparseArchive(archive, keep, threads).read();
  if (options.missing != Missing::error) fill_missing(x, options.missing);
  return x;
}

}  // namespace sharelearn
