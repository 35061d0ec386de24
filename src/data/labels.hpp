// Labels while they are read: each distinct text is made canonical and stored once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text_hash.hpp"
#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

/// True for the texts that stand for a value nobody knows: "", "?", "NA", "nan" (in any case).
bool is_missing_text(std::string_view text);

/// Collects the labels of rows in order.
class LabelCollector {
 public:
  /// Appends a row; empty text is no label. Text seen before costs one lookup, text equal to the last a
  /// comparison.
  void add(std::string_view text) {
    if (text != last_text_) look_up(text);
    column_.id.push_back(last_id_);
  }
  /// Appends a row without a label.
  void add_none() { column_.id.push_back(-1); }
  /// Appends the rows of a later part; its names keep their order of first appearance.
  void append(const LabelCollector& later);

  std::size_t rows() const { return column_.id.size(); }
  bool has_any() const { return !column_.names.empty(); }
  /// The collected column; empty if no row has a label, unless that is known to be what the rows say
  /// (`none_is_label`: no positive task).
  LabelColumn take(bool none_is_label = false);

 private:
  void look_up(std::string_view text);
  std::int32_t id_of_canonical(const std::string& name);

  using IdOf = std::unordered_map<std::string, std::int32_t, text::Hash, std::equal_to<>>;
  LabelColumn column_;
  IdOf id_of_text_;       // as written
  IdOf id_of_canonical_;  // as compared
  std::string last_text_;
  std::int32_t last_id_ = -1;
};

}  // namespace sharelearn
