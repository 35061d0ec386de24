#include "sharelearn/loss/joint_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::array<std::string_view, 6> kLossNames{"multiclass-hinge",  "multiclass-logistic",
                                                     "multitask-hinge",   "multitask-logistic",
                                                     "multitask-squared", "multitask-insensitive"};

}  // namespace

JointLoss joint_loss_from(std::string_view name) {
  const auto found = std::find(kLossNames.begin(), kLossNames.end(), name);
  if (found == kLossNames.end()) throw InputError(fmt::format("unknown loss '{}'", name));
  return static_cast<JointLoss>(found - kLossNames.begin());
}

std::string_view name_of(JointLoss loss) {
  return kLossNames[static_cast<std::size_t>(loss)];
}

bool is_multiclass(JointLoss loss) {
  return loss == JointLoss::multiclass_hinge || loss == JointLoss::multiclass_logistic;
}

bool predicts_numbers(JointLoss loss) {
  return loss == JointLoss::multitask_squared || loss == JointLoss::multitask_insensitive;
}

}  // namespace sharelearn
