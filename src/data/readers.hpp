// The readers of the formats, behind read_dataset(). Each reads all of a source.
#pragma once

#include <string>

#include "data/source.hpp"
#include "sharelearn/data/cache.hpp"
#include "sharelearn/data/read.hpp"

namespace sharelearn {

/// Detects the format from the content. Throws InputError if the content is not data.
Format detect_format(const ByteSource& source);
/// read_dataset() for a source that is open already.
Dataset read_dataset(const ByteSource& source, const std::string& path, const ReadOptions& options,
                     ThreadPool& threads);

Dataset read_svmlight(const ByteSource& source, const ReadOptions& options, ThreadPool& threads);
Dataset read_csv(const ByteSource& source, const ReadOptions& options, ThreadPool& threads);
/// `path` tells where to look for the labels file.
Dataset read_idx(const ByteSource& source, const std::string& path, const ReadOptions& options,
                 ThreadPool& threads);
Dataset read_npy(const ByteSource& source, const std::string& path, const ReadOptions& options,
                 ThreadPool& threads);

/// Text, a few MB at a time: the rows go to `writer`; returns everything but the matrix.
Dataset stream_svmlight(const ByteSource& source, const ReadOptions& options, ThreadPool& threads,
                        CacheWriter& writer);
Dataset stream_csv(const ByteSource& source, const ReadOptions& options, ThreadPool& threads,
                   CacheWriter& writer);

/// A binary file of `sharelearn cache`. Its values stay in the file, which is mapped.
Dataset read_cache(const std::string& path, const ReadOptions& options, ThreadPool& threads);

/// The matrix of an archive that scipy.sparse.save_npz() wrote (csr or csc).
SparseMatrix read_sparse_archive(const ByteSource& archive, const ReadOptions& options, ThreadPool& threads);

/// True if the bytes begin as the format does.
bool looks_like_cache(std::string_view head);
bool looks_like_idx(std::string_view head);
bool looks_like_npy(std::string_view head);
bool looks_like_npz(std::string_view head);

/// Replaces NaN by the column's mean (column_means()) or by 0, or leaves it.
void fill_missing(DenseMatrix& x, Missing missing, ThreadPool& threads);
void fill_missing(SparseMatrix& x, Missing missing);
void fill_missing(Matrix& x, Missing missing, ThreadPool& threads);

/// One label per row from a separate file: IDX or NPY with one dimension, or text with one label per line.
LabelColumn read_label_file(const std::string& path, const ReadOptions& options);
/// Throws InputError unless there are as many labels as rows.
void check_label_count(const LabelColumn& labels, const std::string& labels_name, Index rows,
                       const std::string& rows_name);

}  // namespace sharelearn
