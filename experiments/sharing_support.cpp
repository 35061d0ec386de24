#include "sharing_support.hpp"

#include <fmt/core.h>

#include "sharelearn/run/random.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr Index kDims = 64, kQuads = 16;

void random_signs(Random& random, std::vector<float>& x) {
  for (float& v : x) v = random.coin() ? 1.0F : -1.0F;
}

bool all_ones(const std::vector<float>& x, Index quad) {
  for (Index i = 0; i < 4; ++i) {
    if (x[static_cast<std::size_t>(4 * quad + i)] < 0) return false;
  }
  return true;
}

void redraw(Random& random, std::vector<float>& x, Index quad) {
  do {
    for (Index i = 0; i < 4; ++i) x[static_cast<std::size_t>(4 * quad + i)] = random.coin() ? 1.0F : -1.0F;
  } while (all_ones(x, quad));
}

int leading_number(const std::vector<float>& x) {
  int number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number * 2 + (x[i] > 0 ? 1 : 0);
  return number;
}

/// One example of set `which`; returns its class.
int draw(int which, Random& random, std::vector<float>& x) {
  random_signs(random, x);
  if (which == 1) return leading_number(x);
  const auto cls = static_cast<int>(random.below(kQuads));
  if (which == 2) {
    for (Index quad = 0; quad < kQuads; ++quad) redraw(random, x, quad);
    for (Index i = 0; i < 4; ++i) x[static_cast<std::size_t>(4 * cls + i)] = 1;
    return cls;
  }
  redraw(random, x, kQuads - 1);
  if (cls == 15) {
    for (std::size_t i = 60; i < 64; ++i) x[i] = 1;
    return 15;
  }
  for (std::size_t i = 0; i < 4; ++i) x[i] = (cls >> (3 - i) & 1) != 0 ? 1.0F : -1.0F;
  return cls;
}

}  // namespace

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

SharingData sharing_synthetic(int which, Index rows, std::uint64_t seed) {
  Random random(seed, static_cast<std::uint64_t>(which));
  SharingData data;
  data.rows = {rows, kDims, {0}, {}, {}};
  std::vector<float> x(static_cast<std::size_t>(kDims));
  for (Index t = 0; t < rows; ++t) {
    data.label.push_back(std::to_string(draw(which, random, x)));
    for (std::uint32_t i = 0; i < kDims; ++i) {
      data.rows.column.push_back(i);
      data.rows.value.push_back(x[i]);
    }
    data.rows.start.push_back(static_cast<Index>(data.rows.value.size()));
  }
  return data;
}

SharingOutcome run_sharing(const SharingData& data, const SharingOptions& options, Hypotheses hypotheses,
                           const Competitor* competitor) {
  SharingLearner learner(std::make_shared<SharingModel>(options, ClassSets(hypotheses), FeatureNumbering()));
  SharingModel& model = learner.model();
  std::optional<BoundMeter> meter;
  if (competitor != nullptr) meter.emplace(*competitor);
  ExampleBuilder builder;
  SharingOutcome outcome;
  for (Index t = 0; t < data.size(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    builder.clear(model);
    for (auto e = static_cast<std::size_t>(data.rows.start[at]);
         e < static_cast<std::size_t>(data.rows.start[at + 1]); ++e) {
      builder.add(model, data.rows.column[e], data.rows.value[e]);
    }
    builder.finish(model);
    if (meter) meter->observe(model, builder.view(), model.find_class(data.label[at]));
    learner.learn(builder.view(), data.label[at]);
    outcome.curve.push_back(static_cast<double>(model.mistakes));
  }
  outcome.mistakes = model.mistakes;
  outcome.classes = model.class_count();
  if (meter) outcome.bound = meter->result(model);
  for (const ClassGroup& group : model.sets.groups()) {
    if (group.members.empty()) continue;
    outcome.sets += " {";
    for (const std::uint32_t r : group.members) outcome.sets += fmt::format(" {}", model.classes[r]);
    outcome.sets += " }";
  }
  return outcome;
}

}  // namespace sharelearn::reproduce
