#include "sharelearn/report/json_text.hpp"

namespace sharelearn {

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sharelearn
