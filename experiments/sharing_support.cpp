#include "sharing_support.hpp"

#include <array>

#include "generate/generate.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn::reproduce {

double SharingOutcome::percent() const {
  return curve.empty() ? 0 : 100 * static_cast<double>(mistakes) / static_cast<double>(curve.size());
}

SharingData sharing_data(const Dataset& data, const std::vector<Index>& order) {
  const Dataset chosen = order.empty() ? data : select_rows(data, order);
  SharingData result{to_rows(chosen.x), {}};
  for (const std::int32_t id : chosen.label.id)
    result.label.push_back(chosen.label.names[static_cast<std::size_t>(id)]);
  return result;
}

std::vector<Index> shuffled(Index rows, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) order[static_cast<std::size_t>(i)] = i;
  Random(seed, 5).shuffle(order);
  return order;
}

Dataset single_labels(const Dataset& data) {
  std::vector<Index> keep;
  for (Index i = 0; i < data.rows(); ++i) {
    const std::int32_t id = data.label.id[static_cast<std::size_t>(i)];
    if (id >= 0 && data.label.names[static_cast<std::size_t>(id)].find(',') == std::string::npos)
      keep.push_back(i);
  }
  return select_rows(data, keep);
}

SharingData sharing_synthetic(int which, Index rows, std::uint64_t seed) {
  constexpr std::array kNames = {"sharing-common", "sharing-disjoint", "sharing-mixed"};
  GenerateOptions options;
  options.rows = rows;
  options.seed = seed;
  return sharing_data(generate(kNames[static_cast<std::size_t>(which - 1)], options));
}

SharingOutcome run_sharing(const SharingData& data, const SharingOptions& options, Hypotheses hypotheses,
                           const Competitor* competitor) {
  SharingLearner learner(std::make_shared<SharingState>(options, ClassSets(hypotheses), FeatureNumbering()));
  SharingState& state = learner.state();
  std::optional<BoundMeter> meter;
  if (competitor != nullptr) meter.emplace(*competitor);
  ExampleBuilder builder;
  SharingOutcome outcome;
  for (Index t = 0; t < data.size(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    builder.clear(state);
    for (auto e = static_cast<std::size_t>(data.rows.start[at]);
         e < static_cast<std::size_t>(data.rows.start[at + 1]); ++e) {
      builder.add(state, data.rows.column[e], data.rows.value[e]);
    }
    builder.finish(state);
    if (meter) meter->observe(state, builder.view(), state.find_class(data.label[at]));
    learner.learn(builder.view(), data.label[at]);
    outcome.curve.push_back(static_cast<double>(state.mistakes));
  }
  outcome.mistakes = state.mistakes;
  outcome.classes = state.class_count();
  if (meter) outcome.bound = meter->result(state);
  return outcome;
}

}  // namespace sharelearn::reproduce
