// The makers of the methods, each in its fit_NAME.cpp.
#pragma once

#include <memory>

namespace sharelearn::cli {

class Method;

std::unique_ptr<Method> cascade_method();
std::unique_ptr<Method> sharing_method();
std::unique_ptr<Method> treelasso_method();

}  // namespace sharelearn::cli
