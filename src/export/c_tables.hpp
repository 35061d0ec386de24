// What the walks over formulas for C have in common: constant tables, the columns that are read, image
// templates. Names begin with NAME, which the file replaces at the end.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "data/to_size.hpp"
#include "export/raw_threshold.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn {

/// A float literal. Throws InputError if the value is too large for one.
std::string c_number(double value);

/// Of integers of 16 bits; in fixed point the lowest one marks a missing value.
inline constexpr double kLargestShort = 32767;

class CTables {
 public:
  explicit CTables(const LinearModel& model) : model_(model) {}

  std::string tables, body;    ///< definitions at file scope; statements of the run
  std::vector<Index> columns;  ///< raw columns that are read, in the order of the caller's array
  bool needs_math = false;
  const formula::TemplateMaximum* frame = nullptr;  ///< of the image templates
  std::map<Index, Index> contrast_tables;           ///< template size -> first entry
  Index contrast_entries = 0;
  Index table_bytes = 0, array_bytes = 0;  ///< constants; arrays of the run, on the stack

  void line(const std::string& text) { body += "  " + text + "\n"; }
  /// The name of a constant table; equal tables are one.
  std::string table(std::string_view type, const std::vector<std::string>& entries);
  template <class Numbers>
  std::string integers(std::string_view type, const Numbers& values) {
    std::vector<std::string> entries;
    for (const auto v : values) entries.push_back(std::to_string(v));
    return table(type, entries);
  }
  /// Place of a raw column in the caller's array.
  Index slot(Index column);

 protected:
  /// The integer response of an image template. Throws InputError unless all features are templates of
  /// unscaled images of one kind.
  std::string response(const formula::TemplateMaximum& n);
  std::string fresh() { return fmt::format("a{}", arrays_++); }
  void declare(std::string_view type, const std::string& named, Index length);

  const LinearModel& model_;

 private:
  int arrays_ = 0;
  std::map<std::string, std::string> known_;  ///< content of a table -> its name
};

}  // namespace sharelearn
