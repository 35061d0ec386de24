#include "fit/online_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "data/to_size.hpp"
#include "learn/online_run.hpp"
#include "sharelearn/fit/cross_validate.hpp"
#include "sharelearn/fit/phi_search.hpp"

namespace sharelearn {
namespace {

constexpr Index kMostSteps = 10000;
constexpr double kGammas[] = {0.01, 0.03, 0.1, 0.3, 1, 3};  // of the mean squared length
constexpr double kGammaStep = 10.0 / 3;
constexpr int kMostFurther = 4;
constexpr double kWeakScale = 0.1;

class PassJudge : public PhiJudge {
 public:
  PassJudge(const MultiOutputData& data, const CascadeOptions& options, const OnlineGiven& given,
            const Context& context)
      : data_(data), options_(options), given_(given), context_(context), source_(data) {
    steps_ = std::min(source_.steps(), kMostSteps);
    // A step's loss is the sum over its examples; the batch loss, on which the sizes are measured, is their
    // mean.
    const double rows_per_step = static_cast<double>(data.rows()) / static_cast<double>(source_.steps());
    for (const double mix : options.mix)
      tops_.push_back(rows_per_step * largest_phi(data, options, mix, context_));
    strong_ = rows_per_step * strong_ridge(data, options, context_);
    double squares = 0, examples = 0;
    for (Index t = 0; t < steps_; ++t) {
      for (const OnlineExample& example : source_.step(t)) {
        for (const float v : example.value) squares += static_cast<double>(v) * static_cast<double>(v);
        examples += 1;
      }
    }
    length_ = examples > 0 && squares > 0 ? squares / examples : 1;
  }

  std::vector<std::vector<double>> measure(std::span<const PhiPoint> path,
                                           const std::vector<double>&) override {
    std::vector<std::vector<double>> out;
    for (const PhiPoint& point : path) out.push_back({1 - mistakes(point)});
    return out;
  }
  std::size_t folds() const override { return 1; }
  double standard_error(const std::vector<double>&, const std::vector<double>& to) const override {
    return std::sqrt(std::max(to[0] * (1 - to[0]), 0.25 / predictions_) / predictions_);
  }

  /// Share of mistakes on the second half of a pass.
  double mistakes(const PhiPoint& point) {
    OnlineCascade cascade(online_options(options_of(point), gamma), data_.outputs(), data_.x.cols(),
                          data_.own_rows());
    Context quiet{context_.threads, silent_monitor(), context_.seed};
    const Index half = steps_ / 2;
    Index wrong_before = 0, predicted_before = 0;
    run_online(cascade, source_, 0, quiet, [&](Index step) {
      if (step + 1 == half) wrong_before = cascade.mistakes(), predicted_before = cascade.predictions();
      return step + 1 < steps_ && !context_.monitor.cancelled();
    });
    require_finished(context_, "the choice of phi");
    ++passes;
    context_.monitor.progress("choosing phi and gamma", passes, passes, "");
    predictions_ = static_cast<double>(std::max<Index>(cascade.predictions() - predicted_before, 1));
    return static_cast<double>(cascade.mistakes() - wrong_before) / predictions_;
  }

  CascadeOptions options_of(const PhiPoint& point) const {
    return levels_in_use(options_, tops_, point, given_.ridge.value_or(strong_ * point.ridge));
  }

  double length() const { return length_; }
  Index steps() const { return steps_; }
  double gamma = 1;
  Index passes = 0;

 private:
  const MultiOutputData& data_;
  CascadeOptions options_;
  OnlineGiven given_;
  Context context_;
  OnlineSource source_;
  std::vector<double> tops_;
  double strong_ = 0, length_ = 1, predictions_ = 1;
  Index steps_ = 0;
};

/// The least share of mistakes of a few points at this gamma.
double least_at(PassJudge& judge, double gamma, std::size_t levels) {
  judge.gamma = gamma;
  const auto only = [&](std::size_t level, double scale) {
    PhiPoint point{std::vector<double>(levels, kOff), 0};
    point.scales[level] = scale;
    return judge.mistakes(point);
  };
  return std::min({only(levels - 1, 0), only(0, kWeakScale), only(levels - 1, kWeakScale)});
}

double choose_gamma(PassJudge& judge, std::size_t levels) {
  std::vector<std::pair<double, double>> tried;  // gamma, mistakes: ascending by gamma
  for (const double factor : kGammas) {
    const double gamma = factor * judge.length();
    tried.emplace_back(gamma, least_at(judge, gamma, levels));
  }
  const auto best = [&] { return std::ranges::min_element(tried, {}, &std::pair<double, double>::second); };
  for (int further = 0; further < kMostFurther; ++further) {
    if (best() == tried.begin()) {
      const double gamma = tried.front().first / kGammaStep;
      tried.insert(tried.begin(), {gamma, least_at(judge, gamma, levels)});
    } else if (best() + 1 == tried.end()) {
      const double gamma = tried.back().first * kGammaStep;
      tried.emplace_back(gamma, least_at(judge, gamma, levels));
    }
  }
  return best()->first;
}

}  // namespace

OnlineChoice choose_online(const MultiOutputData& data, const CascadeOptions& options,
                           const OnlineGiven& given, const Context& context) {
  PassJudge judge(data, options, given, context);
  const std::size_t levels = options.mix.size();
  judge.gamma = given.gamma ? *given.gamma : choose_gamma(judge, levels);
  PhiGrid grid;
  if (!given.ridge) grid.ridges = usual_ridges();
  const PhiChoice choice = search_points(levels, grid, judge);
  const CascadeOptions chosen = judge.options_of(choice.point);
  return {chosen.mix,
          chosen.phi,
          chosen.ridge,
          judge.gamma,
          1 - choice.measures[0],
          judge.steps(),
          judge.passes,
          edge_warning(choice.point, grid)};
}

}  // namespace sharelearn
