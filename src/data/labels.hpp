// Labels as text. Collects them while a file is read: each distinct text is made canonical and stored once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text_hash.hpp"
#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// True for the texts that mark a missing value: "", "?", "NA", "nan" (in any case).
bool is_missing_text(std::string_view text);

/// The label as a finite number; nothing if it is not one.
std::optional<double> as_number(const std::string& text);
/// The parts of a list separated by commas.
std::vector<std::string> split_list(const std::string& text);

/// Collects the labels of rows in order.
class LabelCollector {
 public:
  /// Appends a row; empty text means no label. Text seen before costs one lookup; text equal to the last one
  /// costs one comparison.
  void add(std::string_view text) {
    if (text != last_text_) look_up(text);
    column_.id.push_back(last_id_);
  }
  /// Appends a row without a label.
  void add_none() { column_.id.push_back(-1); }
  /// Appends the rows of a later part of the file. New names keep their order of first appearance.
  void append(const LabelCollector& later);

  /// Keeps the names, and forgets which rows have them.
  void forget_rows() { column_.id.clear(); }
  std::size_t rows() const { return column_.id.size(); }
  bool has_any() const { return !column_.names.empty(); }
  /// The collected column. It is empty if no row has a label, unless `none_is_label` says that an empty label
  /// is meant (no positive task).
  LabelColumn take(bool none_is_label = false);

 private:
  void look_up(std::string_view text);
  std::int32_t id_of_canonical(const std::string& name);

  using IdOf = std::unordered_map<std::string, std::int32_t, text::Hash, std::equal_to<>>;
  LabelColumn column_;
  IdOf id_of_text_;       // by the text as written
  IdOf id_of_canonical_;  // by the canonical text
  std::string last_text_;
  std::int32_t last_id_ = -1;
};

}  // namespace sharelearn
