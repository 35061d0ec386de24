// A model as a program in another language: one file without dependencies (Python: NumPy), and a second file
// that checks it against predictions of sharelearn. Exporters implement the operations of formula.hpp, not
// pools.
//
// Names of classes and columns come from data. They appear only inside string literals in which every byte
// outside printable ASCII, every quote and every backslash is escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/model/early.hpp"

namespace sharelearn {

enum class ExportTarget { c, javascript, python };
ExportTarget export_target_from(std::string_view name);

/// Answers of sharelearn to compare with.
struct TestVector {
  DenseMatrix rows;     ///< raw columns in the model's order, missing values filled
  Grid<double> scores;  ///< rows x outputs
  EarlyScores early;    ///< empty if the model does not stop early
};
/// The first `count` rows of the data at most. Throws InputError where the data does not fit the model.
TestVector test_vector(const Model& model, const Dataset& data, Index count, ThreadPool& threads);

struct Exported {
  std::string text;        ///< the model
  std::string check;       ///< a program that compares it with the test vector; empty without one
  std::string check_path;  ///< where that program belongs, beside the model's file
  std::string command;     ///< how to run it
};

/// `path`: where the text will be written; names in it follow the file's name. Throws InputError for a model
/// that the target cannot express. `vector` may be null.
Exported export_model(const Model& model, ExportTarget target, const std::string& path,
                      const TestVector* vector);

}  // namespace sharelearn
