// The curve of a fit: errors against features, lambdas or levels, or mistakes along a stream.
#pragma once

#include "sharelearn/fit/report.hpp"
#include "sharelearn/report/plot.hpp"

namespace sharelearn {

/// Training, validation and test errors of the rounds and those of cross-validation with their standard
/// errors, the error without features, and a mark at what was chosen. `data` names the rows in the title. The
/// axis of errors is logarithmic where they span more than a factor of five. Of an online method: the share
/// of mistakes so far against examples, and the test error.
Plot plot_of(const FitReport& report, const std::string& data = {});

}  // namespace sharelearn
