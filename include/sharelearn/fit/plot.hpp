// The curve of a fit: errors against features, lambdas or levels.
#pragma once

#include "sharelearn/fit/report.hpp"
#include "sharelearn/report/plot.hpp"

namespace sharelearn {

/// Training, validation and test errors of the rounds.
Plot plot_of(const FitReport& report);

}  // namespace sharelearn
