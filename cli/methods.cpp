// The table of methods: one line each.
#include "methods.hpp"

#include "method.hpp"

namespace sharelearn::cli {

std::vector<std::unique_ptr<Method>> all_methods() {
  std::vector<std::unique_ptr<Method>> methods;
  methods.push_back(cascade_method());
  methods.push_back(treelasso_method());
  return methods;
}

std::vector<std::unique_ptr<Command>> stream_methods() {
  std::vector<std::unique_ptr<Command>> methods;
  methods.push_back(sharing_method());
  return methods;
}

}  // namespace sharelearn::cli
