// The makers of the methods, each in its fit_NAME.cpp.
#pragma once

#include <memory>
#include <vector>

namespace sharelearn::cli {

class Command;
class Method;

std::unique_ptr<Method> cascade_method();
std::unique_ptr<Command> sharing_method();
std::unique_ptr<Method> treelasso_method();

/// Methods that learn from a stream: each runs as a command of its own.
std::vector<std::unique_ptr<Command>> stream_methods();

}  // namespace sharelearn::cli
