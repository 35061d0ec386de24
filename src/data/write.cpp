#include "sharelearn/data/write.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

const std::string& name_at(const LabelColumn& labels, Index row) {
  static const std::string none;
  const std::int32_t id = labels.empty() ? -1 : labels.id[static_cast<std::size_t>(row)];
  return id < 0 ? none : labels.names[static_cast<std::size_t>(id)];
}

const std::string& svmlight_word(const Dataset& data, const std::string& text) {
  if (text.find_first_of(" \t\r\n:#") != std::string::npos) {
    throw InputError(
        fmt::format("{}: svmlight cannot hold the label '{}': expected text without blanks, ':' and '#'",
                    data.source, text));
  }
  return text;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r#") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string to_svmlight(const Dataset& data) {
  const RowMatrix rows = to_rows(data.x);
  std::string out;
  for (Index i = 0; i < rows.rows; ++i) {
    out += svmlight_word(data, name_at(data.label, i));
    if (!data.task.empty()) out += fmt::format(" qid:{}", svmlight_word(data, name_at(data.task, i)));
    const auto begin = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i) + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      fmt::format_to(std::back_inserter(out), " {}:{}", rows.column[e] + 1, rows.value[e]);
    }
    out += '\n';
  }
  return out;
}

std::string to_csv(const Dataset& data) {
  const bool has_tasks = !data.task.empty();
  std::string out;
  // Tasks need a header: the reader finds the task column by its name.
  for (Index j = 0; j < (has_tasks ? data.columns() : std::ssize(data.column_names)); ++j) {
    out += data.column_names.empty() ? fmt::format("x{}", j + 1)
                                     : csv_field(data.column_names[static_cast<std::size_t>(j)]);
    out += ',';
  }
  if (has_tasks) out += "task,";
  if (!out.empty()) out += "label\n";
  const DenseMatrix dense = data.x.is_sparse() ? data.x.to_dense() : DenseMatrix();
  const DenseView x = data.x.is_sparse() ? DenseView(dense) : data.x.dense();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) fmt::format_to(std::back_inserter(out), "{},", x(i, j));
    if (has_tasks) out += csv_field(name_at(data.task, i)) + ',';
    out += csv_field(name_at(data.label, i));
    out += '\n';
  }
  return out;
}

}  // namespace sharelearn
