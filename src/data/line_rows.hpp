// Lines of features as a data set.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "data/labels.hpp"
#include "data/line_source.hpp"
#include "sharelearn/data/line_reader.hpp"

namespace sharelearn {

class LineRows {
 public:
  explicit LineRows(LineReaderOptions options) : reader_(std::move(options)) { rows_.start.push_back(0); }
  /// Throws InputError with the position of the fault in `source`, where the line was just read.
  void add(std::string_view line, const LineSource& source);
  Index count() const { return rows_.rows; }
  /// All rows; call it once.
  Dataset take(const std::string& source);

 private:
  LineReader reader_;
  LineExample example_;
  LabelCollector label_, task_;
  RowMatrix rows_;
};

}  // namespace sharelearn
