// The one exception hierarchy. Every message says what was expected, what was given and where.
#pragma once

#include <stdexcept>
#include <string>

namespace sharelearn {

/// Base of everything sharelearn throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's mistake: bad data, a bad option, a model that does not fit the data. Exit code 2.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Something outside the caller's input failed: disk full, memory, an interrupted write. Exit code 1.
class Failure : public Error {
 public:
  using Error::Error;
};

}  // namespace sharelearn
