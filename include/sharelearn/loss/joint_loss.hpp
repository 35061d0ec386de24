// The losses of joint learning over classes or tasks, by name.
#pragma once

#include <string_view>

namespace sharelearn {

enum class JointLoss {
  multiclass_hinge,
  multiclass_logistic,
  multitask_hinge,
  multitask_logistic,
  multitask_squared,
  multitask_insensitive
};
JointLoss joint_loss_from(std::string_view name);
std::string_view name_of(JointLoss loss);
bool is_multiclass(JointLoss loss);
/// Whether the tasks have numbers instead of signs.
bool predicts_numbers(JointLoss loss);

}  // namespace sharelearn
