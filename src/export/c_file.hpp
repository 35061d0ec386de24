// The text of a C header around the computation of one model: names, types, image templates, answers,
// probabilities, and the program that checks it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "export/c_tables.hpp"
#include "model/early_steps.hpp"
#include "sharelearn/export/export.hpp"

namespace sharelearn {

/// Fixed point: scores are integers, their real values are score / scale.
struct CFixed {
  double scale = 1;
  double bound = 0;  ///< on the error of a score, all outputs and checkpoints
  int weight_bits = 16;
  std::vector<FixedColumn> columns;  ///< in the caller's order; empty: bytes
  bool wide = false;                 ///< the caller's numbers have 32 bits
  bool compares = false;             ///< features compare inexact values with thresholds
};

/// One model as C, without the text around it. All names begin with NAME.
struct CParts {
  std::vector<formula::Formula> formulas;  ///< `code` refers to their nodes
  CTables code;                            ///< its body computes `values` numbers v[] and the scores
  std::string helpers;                     ///< functions that the body calls
  std::size_t values = 0;
  Index features = 0;
  std::optional<CFixed> fixed = {};
};

/// The early stop that belongs to the model's stage; no checkpoints if there is none.
EarlyStop early_of(const LinearModel& model);

/// Computes in float, or in integers with weights of 8 or 16 bits. `vector` gives the ranges of columns.
CParts float_parts(const LinearModel& model, const EarlyStop& early);
CParts fixed_parts(const LinearModel& model, const EarlyStop& early, int weight_bits,
                   const TestVector* vector);

std::string c_header(const LinearModel& model, const CParts& parts, const std::string& name);
std::string c_check(const LinearModel& model, const CParts& parts, const TestVector& vector,
                    const std::string& name);
ExportCost c_cost(const LinearModel& model, const CParts& parts, const TestVector* vector);

/// Images are passed as bytes.
bool takes_bytes(const LinearModel& model, const CTables& code);
/// The text with every NAME replaced.
std::string with_name(std::string_view text, const std::string& name);

}  // namespace sharelearn
