// A model as a program in another language, one file without dependencies (Python: NumPy), or as an ONNX
// graph, and a second file that checks it against predictions of sharelearn. Exporters implement the
// operations of formula.hpp, not pools.
//
// Names of classes and columns come from data. They appear only inside string literals in which every byte
// outside printable ASCII, every quote and every backslash is escaped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/model/early.hpp"

namespace sharelearn {

enum class ExportTarget { c, javascript, python, onnx };
ExportTarget export_target_from(std::string_view name);

/// Arithmetic of exported C: float, or integers with weights of 16 or 8 bits.
enum class Arithmetic { single_precision, int16, int8 };
Arithmetic arithmetic_from(std::string_view name);

/// A raw column in fixed point: the integer q stands for q / 2^shift. Integers outside low..high are taken
/// for the nearest end.
struct FixedColumn {
  int shift = 0;
  std::int32_t low = 0, high = 0;
};

/// Answers of sharelearn to compare with.
struct TestVector {
  DenseMatrix rows;     ///< raw columns in the model's order, missing values filled
  Grid<double> scores;  ///< rows x outputs
  EarlyScores early;    ///< empty if the model does not stop early
  /// For integer arithmetic: how integers stand for each column. The rows are then rounded to such integers.
  std::vector<FixedColumn> fixed = {};
};
/// The first `count` rows of the data at most. Throws InputError where the data does not fit the model. For
/// integer arithmetic, all rows give the ranges of the columns: columns of whole numbers are passed as they
/// are, others with 15 bits.
TestVector test_vector(const Model& model, const Dataset& data, Index count, ThreadPool& threads,
                       Arithmetic arithmetic = Arithmetic::single_precision);

/// What a C export costs on a 32-bit processor.
struct ExportCost {
  Index table_bytes = 0;             ///< constants in flash; code comes on top
  Index ram_bytes = 0;               ///< stack and, for image templates, work memory
  Index multiply_adds = 0;           ///< per prediction, at most
  double mean_multiply_adds = 0;     ///< of predictions that stop early on the test vector; 0: none do
  std::optional<double> bound = {};  ///< integer arithmetic: on the error of a score
};

struct Exported {
  std::string text;        ///< the model: the content of its file
  std::string check;       ///< a program that compares it with the test vector; empty without one
  std::string check_path;  ///< where that program belongs, beside the model's file
  std::string command;     ///< how to run it
  std::optional<ExportCost> cost = {};  ///< of C
};

/// `path`: where the text will be written; names in it follow the file's name. Throws InputError for a model
/// that the target cannot express. `vector` may be null, but integer arithmetic (C only) needs it unless the
/// model reads images of bytes.
Exported export_model(const Model& model, ExportTarget target, const std::string& path,
                      const TestVector* vector, Arithmetic arithmetic = Arithmetic::single_precision);

}  // namespace sharelearn
