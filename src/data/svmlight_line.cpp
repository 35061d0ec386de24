#include "data/svmlight_line.hpp"

#include <fmt/core.h>

namespace sharelearn::text {
namespace {

constexpr std::size_t kLongestQuote = 40;

std::string quoted_token(const char* p) {
  const std::string_view token(p, static_cast<std::size_t>(token_end(p) - p));
  if (token.size() <= kLongestQuote) return fmt::format("'{}'", token);
  return fmt::format("'{}...'", token.substr(0, kLongestQuote));
}

}  // namespace

std::string describe(const LineFault& fault) {
  const std::string found = quoted_token(fault.at);
  switch (fault.kind) {
    case Fault::none:
      break;
    case Fault::label_missing:
      return fmt::format("expected a label before the features, found {}", found);
    case Fault::task_missing:
      return "expected the task after 'qid:', found nothing";
    case Fault::index_bad:
      return fmt::format("expected index:value, found {}", found);
    case Fault::index_zero:
      return fmt::format(
          "feature indices count from 1, found {}; if those of this file count from 0, give `zero-based`",
          found);
    case Fault::index_too_large:
      return fmt::format("expected a feature index of at most {}, found {}", kLargestIndex, found);
    case Fault::index_repeated:
      return fmt::format("this feature index stands twice in its row: {}", found);
    case Fault::index_descending:
      return fmt::format("expected feature indices in ascending order, found {} after a larger one", found);
    case Fault::colon_missing:
      return fmt::format("expected ':' and a value after the index {}", found);
    case Fault::name_empty:
      return fmt::format("expected a feature name before ':', found {}", found);
    case Fault::value_bad:
      return fmt::format("expected a number as value, found {}", found);
    case Fault::value_missing:
      return fmt::format("the value is missing ({}); `missing` mean or `missing` zero fills it in", found);
    case Fault::value_infinite:
      return fmt::format("expected a finite number within the range of float32, found {}", found);
  }
  return "";
}

}  // namespace sharelearn::text
