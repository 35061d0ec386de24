// A model in float arithmetic.
#include "export/c_file.hpp"
#include "export/c_walk.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kFloatHelpers = R"c(
static inline float NAME_filled(float value, float mean) { return value == value ? value : mean; }

static inline float NAME_distance(const float *a, const float *b, int count) {
  float sum = 0.0f;
  int i;
  for (i = 0; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

static inline float NAME_dot(const float *a, const float *b, int count) {
  float sum = 0.0f;
  int i;
  for (i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

static inline void NAME_sum(const float *v, const float *weights, int count, const float *bias, float *scores) {
  int i, c;
  for (c = 0; c < NAME_OUTPUTS; ++c) scores[c] = bias[c];
  for (i = 0; i < count; ++i, weights += NAME_OUTPUTS) {
    for (c = 0; c < NAME_OUTPUTS; ++c) scores[c] += v[i] * weights[c];
  }
}
)c";

/// A design value as it is computed: value = gain * computed + shift.
struct Folding {
  double gain = 1, shift = 0;
};

class FloatBody {
 public:
  FloatBody(const LinearModel& model, const EarlyStop& early) : model_(model), walk_(model) {
    const std::vector<EarlyStep> steps = early_steps(model, early);
    for (const EarlyStep& step : steps) add_step(step, &step == &steps.back());
  }
  CParts parts() && {
    return {std::move(formulas_), std::move(walk_), std::string(kFloatHelpers), folding_.size(), features_};
  }

 private:
  void add_step(const EarlyStep& step, bool last);
  void add_sum(const EarlyStep& step);

  const LinearModel& model_;
  CWalk walk_;
  std::vector<formula::Formula> formulas_;
  std::vector<Folding> folding_;  ///< of every value computed
  Index features_ = 0;
};

void FloatBody::add_step(const EarlyStep& step, bool last) {
  const Scaling& scaling = model_.preprocessing.scaling;
  for (const std::size_t f : step.features) {
    const formula::Formula& formula = formulas_.emplace_back(model_.features[f]->formula());
    const auto* column = std::get_if<formula::Columns>(&static_cast<const formula::Node::variant&>(*formula));
    std::vector<std::string> numbers;
    Folding folding;
    if (column != nullptr && column->columns.size() == 1 && !scaling.is_identity()) {
      const auto j = to_size(column->columns[0]);
      numbers = {walk_.raw(column->columns[0])};
      folding = {scaling.factor[j], -scaling.offset[j] * scaling.factor[j]};
    } else {
      numbers = walk_.numbers(formula);
      if (std::holds_alternative<formula::TemplateMaximum>(*formula)) folding = {1.0 / 255, 0};
    }
    for (const std::string& each : numbers) {
      walk_.line(fmt::format("v[{}] = {};", folding_.size(), each));
      folding_.push_back(folding);
    }
    ++features_;
  }
  if (!last) walk_.line("if (early) {");
  add_sum(step);
  if (last) return;
  walk_.line(fmt::format("  if (NAME_margin(scores) > {}) return {};", c_number(step.threshold), features_));
  walk_.line("}");
}

/// Scores from the values so far; values without a weight at this step get zeros.
void FloatBody::add_sum(const EarlyStep& step) {
  const std::size_t k = model_.names.size();
  std::vector<double> weights(folding_.size() * k, 0.0), bias = step.weights.bias;
  for (std::size_t a = 0; a < step.position.size(); ++a) {
    const auto at = to_size(step.position[a]);
    for (std::size_t c = 0; c < k; ++c) {
      const double w = step.weights.weights[a * k + c];
      weights[at * k + c] = w * folding_[at].gain;
      bias[c] += w * folding_[at].shift;
    }
  }
  if (weights.empty()) weights.assign(k, 0.0);
  walk_.line(fmt::format("NAME_sum(v, {}, {}, {}, scores);", walk_.floats(weights), folding_.size(),
                         walk_.floats(bias)));
}

}  // namespace

CParts float_parts(const LinearModel& model, const EarlyStop& early) {
  return FloatBody(model, early).parts();
}

}  // namespace sharelearn
