#include "sharelearn/fit/plot.hpp"

namespace sharelearn {

Plot plot_of(const FitReport& report) {
  Plot plot{"Error against features computed", "features", "error", false, false, {}};
  const auto add = [&](const char* name, std::optional<double> Round::*error) {
    Series series{name};
    for (const Round& round : report.rounds) {
      if (!(round.*error) || !round.features_used) continue;
      series.x.push_back(static_cast<double>(*round.features_used));
      series.y.push_back(*(round.*error));
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  };
  add("train", &Round::train_error);
  add("validation", &Round::validation_error);
  add("test", &Round::test_error);
  return plot;
}

}  // namespace sharelearn
