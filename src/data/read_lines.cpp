// A stream of lines as a data set, for predictions by a model of a stream.
#include <fmt/core.h>

#include <numeric>

#include "data/labels.hpp"
#include "data/line_source.hpp"
#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

SparseMatrix to_columns(const RowMatrix& rows) {
  SparseMatrix x;
  x.rows = rows.rows;
  x.cols = rows.cols;
  std::vector<Index> size(static_cast<std::size_t>(rows.cols), 0);
  for (const std::uint32_t column : rows.column) ++size[column];
  x.start.assign(size.size() + 1, 0);
  std::inclusive_scan(size.begin(), size.end(), x.start.begin() + 1);
  std::vector<Index> next(x.start.begin(), x.start.end() - 1);
  x.row.resize(rows.column.size());
  x.value.resize(rows.column.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.rows); ++i) {
    for (auto e = static_cast<std::size_t>(rows.start[i]); e < static_cast<std::size_t>(rows.start[i + 1]);
         ++e) {
      const auto place = static_cast<std::size_t>(next[rows.column[e]]++);
      x.row[place] = static_cast<std::uint32_t>(i);
      x.value[place] = rows.value[e];
    }
  }
  return x;
}

}  // namespace

Dataset read_lines(LineSource& source, LineReaderOptions options) {
  LineReader reader(std::move(options));
  LineExample example;
  LabelCollector label, task;
  RowMatrix rows;
  rows.start.push_back(0);
  std::string_view line;
  while (source.next(line)) {
    if (const LineProblem problem = reader.read(line, example)) {
      throw InputError(
          fmt::format("{}:{}:{}: {}", source.name(), source.lines(), problem.column, problem.message));
    }
    if (example.blank) continue;
    label.add(example.label);
    task.add(example.task);
    for (const Index column : example.features.index) {
      rows.column.push_back(static_cast<std::uint32_t>(column));
    }
    rows.value.insert(rows.value.end(), example.features.value.begin(), example.features.value.end());
    rows.start.push_back(static_cast<Index>(rows.value.size()));
    ++rows.rows;
  }
  if (rows.rows == 0) throw InputError(fmt::format("'{}' holds no rows: expected lines", source.name()));
  rows.cols = reader.columns();
  Dataset data;
  data.x = to_columns(rows);
  data.column_names = reader.names();
  data.label = label.take();
  data.task = task.take();
  data.source = source.name();
  return data;
}

}  // namespace sharelearn
