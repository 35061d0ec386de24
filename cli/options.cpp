#include "options.hpp"

namespace sharelearn::cli {

void OptionSet::record(const std::string& flag, std::function<nlohmann::json()> get) {
  std::string name = flag.substr(0, flag.find(','));
  name.erase(0, name.find_first_not_of('-'));
  getters_.emplace_back(name, std::move(get));
}

nlohmann::json OptionSet::values() const {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [name, get] : getters_) result[name] = get();
  return result;
}

}  // namespace sharelearn::cli
