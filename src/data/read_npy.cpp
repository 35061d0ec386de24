// NPY: "\x93NUMPY", version, length of the header, the header (a Python dictionary), the elements. NPZ: a zip
// archive of such files.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "data/array.hpp"
#include "data/companion.hpp"
#include "data/readers.hpp"
#include "data/zip.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr Index kLongestHeader = Index{1} << 20;

[[noreturn]] void fail(const ByteSource& source, const std::string& message) {
  throw InputError(fmt::format("'{}': {}", source.name(), message));
}

/// The text of a dictionary entry, from after its colon to the end of the header.
std::string_view entry_of(const ByteSource& source, std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos) fail(source, fmt::format("the NPY header has no entry '{}'", key));
  header.remove_prefix(colon + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

void set_type(const ByteSource& source, std::string_view text, ArrayLayout& layout) {
  const std::size_t end = text.find('\'', 1);
  if (text.empty() || text[0] != '\'' || end == std::string_view::npos || end < 4) {
    fail(source, "expected an array of one type of numbers (NPY 'descr' such as '<f4')");
  }
  const std::string_view type = text.substr(1, end - 1);
  Index bytes = 0;
  const auto number = std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  const bool whole = number.ec == std::errc() && number.ptr == type.data() + type.size();
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  layout.big_endian = type[0] == '>';
  layout.element_bytes = bytes;
  bool known = whole && bytes > 0 && bytes < (1 << 20);
  switch (type[1]) {
    case 'f':
      layout.kind = ElementKind::real, known &= bytes == 2 || bytes == 4 || bytes == 8;
      break;
    case 'i':
      layout.kind = ElementKind::signed_integer, known &= power;
      break;
    case 'u':
      layout.kind = ElementKind::unsigned_integer, known &= power;
      break;
    case 'b':
      layout.kind = ElementKind::boolean, known &= bytes == 1;
      break;
    case 'S':
      layout.kind = ElementKind::bytes;
      break;
    case 'U':
      layout.kind = ElementKind::unicode, layout.element_bytes = 4 * bytes;
      break;
    default:
      known = false;
  }
  if (!known) {
    fail(source,
         fmt::format(
             "arrays of type '{}' cannot be read; expected floats of 2, 4 or 8 bytes, integers, bool or text "
             "(save with x.astype('float32'))",
             type));
  }
}

void set_shape(const ByteSource& source, std::string_view text, ArrayLayout& layout) {
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos)
    fail(source, "expected a shape (rows, columns)");
  const char* p = text.data() + 1;
  const char* const last = text.data() + end;
  while (p < last) {
    Index length = 0;
    const auto number = std::from_chars(p, last, length);
    if (number.ec != std::errc() || length < 0)
      fail(source, "expected a shape (rows, columns) in the NPY header");
    layout.shape.push_back(length);
    p = number.ptr;
    while (p < last && (*p == ',' || *p == ' ' || *p == 'L')) ++p;
  }
  if (layout.shape.empty()) fail(source, "expected an array with rows, found a single number");
}

/// Data to predict that has the model's columns, or those of them that it reads.
bool exactly_columns(const ReadOptions& options, Index columns) {
  const auto read = std::ranges::count_if(options.needed, [](char needed) { return needed != 0; });
  return !options.labels_required && (options.columns == columns || (read > 0 && read == columns));
}

/// The column of the features that holds the labels; no value if none does.
std::optional<Index> label_column_of(const ByteSource& source, const ArrayLayout& layout,
                                     const ReadOptions& options) {
  if (options.label_column == "none") return std::nullopt;
  if (options.label_column.empty()) {
    if (layout.columns() < 2 || exactly_columns(options, layout.columns())) return std::nullopt;
    const bool as_in_training =
        options.match && options.label_place.columns == layout.columns() && options.label_place.column >= 0;
    return as_in_training ? options.label_place.column : layout.columns() - 1;
  }
  Index column = 0;
  const std::string& text = options.label_column;
  const auto number = std::from_chars(text.data(), text.data() + text.size(), column);
  if (number.ec != std::errc() || number.ptr != text.data() + text.size() || column < 0 ||
      column >= layout.columns()) {
    fail(source, fmt::format("there is no label column '{}'; expected a number from 0 to {}", text,
                             layout.columns() - 1));
  }
  return column;
}

Dataset with_label_column(const ByteSource& source, const ArrayLayout& layout, const ReadOptions& options,
                          const TakeMatrix& take) {
  Dataset data;
  const auto column = label_column_of(source, layout, options);
  if (!column && options.labels_required && options.label_column != "none") {
    fail(source,
         "found no labels: neither a file beside it nor a column for them; name the file with `labels`");
  }
  // Labels are read before the matrix: read_matrix() would take a missing label for a missing value, and it
  // refuses text.
  if (column && !layout.is_text()) data.label = read_labels(source, layout, *column);
  data.x = take(source, layout, column);
  if (!column) data.image_width = layout.image_width();
  if (column) data.label_place = {"", *column, layout.columns()};
  return data;
}

/// The labels of X_train.npy are in y_train.npy, those of NAME.npy in NAME_labels.npy or NAME-labels.npy.
std::vector<std::string> npy_label_names(const std::string& name) {
  std::vector<std::string> names;
  if (name.starts_with('X') || name.starts_with('x')) names.push_back(fmt::format("y{}", name.substr(1)));
  const std::string stem = name.substr(0, name.rfind('.'));
  const std::string ending = name.substr(stem.size());
  names.push_back(stem + "_labels" + ending);
  names.push_back(stem + "-labels" + ending);
  if (name.find("images") != std::string::npos) names.push_back(replaced(name, "images", "labels"));
  return names;
}

/// The same names for X_train.npz, as arrays or as text.
std::vector<std::string> sparse_label_names(const std::string& name) {
  const std::string stem = name.substr(0, name.rfind('.'));
  std::vector<std::string> names;
  for (const char* const ending : {".npy", ".txt"}) {
    const std::vector<std::string> of_ending = npy_label_names(stem + ending);
    names.insert(names.end(), of_ending.begin(), of_ending.end());
  }
  return names;
}

}  // namespace

Dataset read_npy_array(const ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TakeMatrix& take) {
  const ArrayLayout layout = npy_layout(source);
  const std::string labels =
      options.label_column.empty() ? companion_file(path, options, npy_label_names) : "";
  if (labels.empty()) return with_label_column(source, layout, options, take);
  Dataset data;
  data.label = read_label_file(labels, options);
  check_label_count(data.label, labels, layout.rows(), source.name());
  data.x = take(source, layout, std::nullopt);
  data.image_width = layout.image_width();
  return data;
}

namespace {

/// The first of `names` that is in the archive.
const ZipMember* find_member(const std::vector<ZipMember>& members,
                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const ZipMember& member : members) {
      if (member.name == fmt::format("{}.npy", name)) return &member;
    }
  }
  return nullptr;
}

/// Unpacks one array of an archive.
ByteSource member_of(const ByteSource& archive, const ZipMember& member, const ReadOptions& options) {
  return {fmt::format("{}/{}", archive.name(), member.name), extract(archive, member, options.max_bytes)};
}

Dataset read_features(const ByteSource& archive, const ZipMember& features, const ZipMember* labels,
                      const ReadOptions& options, ThreadPool& threads) {
  const ByteSource source = member_of(archive, features, options);
  const ArrayLayout layout = npy_layout(source);
  const bool apart = labels != nullptr && options.label_column.empty() && options.labels_file.empty();
  if (!apart && options.labels_file.empty())
    return with_label_column(source, layout, options, whole_matrix(options.missing, threads));
  Dataset data;
  if (apart) {
    const ByteSource label_source = member_of(archive, *labels, options);
    const ArrayLayout label_layout = npy_layout(label_source);
    if (label_layout.columns() != 1) fail(label_source, "expected one label per row");
    data.label = read_labels(label_source, label_layout);
  } else {
    data.label = read_label_file(options.labels_file, options);
  }
  check_label_count(data.label, apart ? labels->name : options.labels_file, layout.rows(), source.name());
  data.x = read_matrix(source, layout, options.missing, threads);
  data.image_width = layout.image_width();
  return data;
}

std::vector<double> read_weights(const ByteSource& source, Index rows, ThreadPool& threads) {
  const ArrayLayout layout = npy_layout(source);
  if (layout.columns() != 1 || layout.rows() != rows) {
    fail(source, fmt::format("expected one weight for each of {} rows, found {} x {}", rows, layout.rows(),
                             layout.columns()));
  }
  const DenseMatrix values = read_matrix(source, layout, Missing::error, threads);
  std::vector<double> weights;
  for (const float value : values.column_span(0)) {
    if (value < 0) {
      fail(source, fmt::format("expected weights of at least 0, found {} in row {} (the first is 1)", value,
                               weights.size() + 1));
    }
    weights.push_back(static_cast<double>(value));
  }
  return weights;
}

/// A sparse matrix; its labels are an array of the archive or a file of their own.
Dataset read_sparse(const ByteSource& archive, const std::string& path, const ZipMember* labels,
                    const ReadOptions& options, ThreadPool& threads) {
  if (!options.label_column.empty() && options.label_column != "none") {
    fail(archive, "the columns of a sparse matrix are features: leave `label-column` out, or give `labels`");
  }
  Dataset data;
  data.x = read_sparse_archive(archive, options, threads);
  if (options.label_column == "none") return data;
  const std::string file = companion_file(path, options, sparse_label_names);
  if (!options.labels_file.empty() || (labels == nullptr && !file.empty())) {
    data.label = read_label_file(file, options);
    check_label_count(data.label, file, data.rows(), archive.name());
  } else if (labels != nullptr) {
    const ByteSource source = member_of(archive, *labels, options);
    data.label = read_labels(source, npy_layout(source));
    check_label_count(data.label, labels->name, data.rows(), archive.name());
  } else if (options.labels_required) {
    fail(archive, "found no labels: neither an array 'y' nor a file beside it; name a file with `labels`");
  }
  return data;
}

Dataset read_archive(const ByteSource& archive, const std::string& path, const ReadOptions& options,
                     ThreadPool& threads) {
  const auto members = list_zip(archive);
  const ZipMember* features = find_member(members, {"x", "X", "data", "features", "arr_0"});
  const ZipMember* labels = find_member(members, {"y", "Y", "label", "labels", "target"});
  const ZipMember* weights = find_member(members, {"weight", "weights", "sample_weight"});
  if (find_member(members, {"indptr"}) != nullptr) {
    Dataset data = read_sparse(archive, path, labels, options, threads);
    if (weights != nullptr)
      data.weight = read_weights(member_of(archive, *weights, options), data.rows(), threads);
    return data;
  }
  if (features == nullptr && members.size() == 1) features = &members[0];
  if (features == nullptr) {
    fail(archive, "expected an array 'x' of features and an array 'y' of labels in the NPZ archive");
  }
  Dataset data = read_features(archive, *features, labels, options, threads);
  if (weights != nullptr)
    data.weight = read_weights(member_of(archive, *weights, options), data.rows(), threads);
  return data;
}

}  // namespace

bool looks_like_npy(std::string_view head) {
  return head.starts_with(kMagic);
}

ArrayLayout npy_layout(const ByteSource& source) {
  const std::string start = source.head(12);
  if (!looks_like_npy(start)) fail(source, "expected an NPY header");
  if (start.size() < 12) fail(source, "the file is cut off within its NPY header");
  const auto byte = [&](std::size_t i) { return Index{static_cast<unsigned char>(start[i])}; };
  const bool long_header = byte(6) >= 2;
  if (byte(6) < 1 || byte(6) > 3) fail(source, fmt::format("expected NPY version 1 to 3, found {}", byte(6)));
  const Index length = byte(8) | byte(9) << 8 | (long_header ? byte(10) << 16 | byte(11) << 24 : 0);
  ArrayLayout layout;
  layout.offset = (long_header ? 12 : 10) + length;
  if (length > kLongestHeader || source.size() < layout.offset) {
    fail(source, "the file is cut off within its NPY header");
  }
  const std::string header = source.head(layout.offset).substr(long_header ? 12 : 10);
  set_type(source, entry_of(source, header, "descr"), layout);
  layout.by_columns = entry_of(source, header, "fortran_order").starts_with("True");
  set_shape(source, entry_of(source, header, "shape"), layout);
  check_size(source, layout);
  return layout;
}

Dataset read_npy(const ByteSource& source, const std::string& path, const ReadOptions& options,
                 ThreadPool& threads) {
  Dataset data = looks_like_npz(source.head(4))
                     ? read_archive(source, path, options, threads)
                     : read_npy_array(source, path, options, whole_matrix(options.missing, threads));
  data.source = source.name();
  return data;
}

}  // namespace sharelearn
