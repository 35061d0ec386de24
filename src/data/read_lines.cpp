// A stream of lines as a data set, for predictions by a model of a stream.
#include <fmt/core.h>

#include <numeric>

#include "data/line_rows.hpp"
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

void LineRows::add(std::string_view line, const LineSource& source) {
  if (const LineProblem problem = reader_.read(line, example_)) {
    throw InputError(
        fmt::format("{}:{}:{}: {}", source.name(), source.lines(), problem.column, problem.message));
  }
  if (example_.blank) return;
  label_.add(example_.label);
  task_.add(example_.task);
  for (const Index column : example_.features.index) {
    rows_.column.push_back(static_cast<std::uint32_t>(column));
  }
  rows_.value.insert(rows_.value.end(), example_.features.value.begin(), example_.features.value.end());
  rows_.start.push_back(static_cast<Index>(rows_.value.size()));
  ++rows_.rows;
}

Dataset LineRows::take(const std::string& source) {
  rows_.cols = reader_.columns();
  Dataset data;
  data.x = to_columns(rows_);
  data.column_names = reader_.names();
  data.label = label_.take();
  data.task = task_.take();
  data.source = source;
  return data;
}

Dataset read_lines(LineSource& source, LineReaderOptions options) {
  LineRows rows(std::move(options));
  std::string_view line;
  while (source.next(line)) rows.add(line, source);
  if (rows.count() == 0) throw InputError(fmt::format("'{}' holds no rows: expected lines", source.name()));
  return rows.take(source.name());
}

}  // namespace sharelearn
