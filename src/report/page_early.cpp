// Where predictions that may stop early stop, for the page of a model with thresholds.
#include "report/page_cases.hpp"
#include "report/page_parts.hpp"
#include "sharelearn/model/early.hpp"

namespace sharelearn {
namespace {

/// Answers of one checkpoint, as weights of cases.
struct Answered {
  double all = 0, wrong = 0;
  double wrong_if_full = 0;  ///< mistakes of the full model in the same cases
  double different = 0;      ///< answers that differ from the full model's
};

std::vector<Answered> answered_at(const Model& model, std::size_t steps, const Dataset& data,
                                  ThreadPool& threads) {
  const Truth truth(model, data);
  std::vector<Case> full;
  truth.visit(model.scores(data, threads), [&](const Case& c) { full.push_back(c); });
  EarlyScores stopped = model.early_scores(data, threads);
  std::vector<Answered> result(steps);
  std::size_t at = 0;
  truth.visit(std::move(stopped.scores), [&](const Case& c) {
    const double weight = weight_of(data, c.row);
    const Case& other = full[at++];
    Answered& step = result[static_cast<std::size_t>(stopped.stop[static_cast<std::size_t>(c.row)])];
    step.all += weight;
    step.wrong += c.right() ? 0 : weight;
    step.wrong_if_full += other.right() ? 0 : weight;
    step.different += c.predicted == other.predicted ? 0 : weight;
  });
  return result;
}

}  // namespace

void add_early(const Model& model, const Dataset* data, ThreadPool& threads, nlohmann::json& page) {
  if (model.early == nullptr) return;
  const EarlyStop& early = *model.early;
  const auto linear = as_linear(model, "report");
  const std::vector<Work> work = early_work(*linear, early);
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t s = 0; s < work.size(); ++s) {
    steps.push_back({{"features", work[s].features},
                     {"columns", work[s].columns},
                     {"multiplyAdds", work[s].multiply_adds}});
    if (s < early.checkpoints.size()) steps[s]["threshold"] = early.checkpoints[s].threshold;
  }
  // The thresholds belong to one stage of the path, which need not be the one in use.
  if (data != nullptr && linear->stage == early.stage) {
    const std::vector<Answered> answered = answered_at(model, work.size(), *data, threads);
    for (std::size_t s = 0; s < work.size(); ++s) {
      steps[s]["answered"] = answered[s].all;
      steps[s]["wrong"] = answered[s].wrong;
      steps[s]["wrongIfFull"] = answered[s].wrong_if_full;
      steps[s]["different"] = answered[s].different;
    }
  }
  const Work full = full_work(*linear);
  page["early"] = {{"steps", steps},
                   {"full", {{"features", full.features}, {"multiplyAdds", full.multiply_adds}}},
                   {"disagreement", early.disagreement},
                   {"confidence", early.confidence},
                   {"rows", early.rows},
                   {"upperBound", early.upper_bound}};
}

}  // namespace sharelearn
