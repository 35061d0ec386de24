// Checkpoints of a fit: what identifies a run, and parts of reports as bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sharelearn/fit/fit.hpp"
#include "sharelearn/fit/target.hpp"
#include "sharelearn/run/checkpoint.hpp"

namespace sharelearn {

/// Opens the file that the option names; null: none is kept. The run is identified by the method, the options
/// in effect, the data and the version of the library.
std::unique_ptr<Checkpoint> open_checkpoint(const CommonFit& common, std::string_view method,
                                            const FieldTable& table, const FitData& data, Collective& ranks);

/// Rounds of a report.
void write_rounds(ByteWriter& out, const std::vector<Round>& rounds);
std::vector<Round> read_rounds(ByteReader& in);

void write_errors(ByteWriter& out, const std::vector<Errors>& errors);
std::vector<Errors> read_errors(ByteReader& in);

/// Any doubles, finite or not.
void write_measures(ByteWriter& out, const std::vector<double>& measures);
std::vector<double> read_measures(ByteReader& in);

}  // namespace sharelearn
