// `fit cascade --online --stream`: svmlight lines one at a time; memory for the model, not for the data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sharelearn/learn/online_cascade.hpp"
#include "sharelearn/model/online_cascade_model.hpp"

namespace sharelearn::cli {

/// What one pass over the lines tells before learning: outputs in order of appearance, columns, form of the
/// tasks.
struct StreamOutline {
  std::vector<std::string> names;
  Index columns = 0;
  bool own_rows = false;
};
/// Throws InputError with the line that is wrong.
StreamOutline outline_of(const std::string& path, bool multiclass);

/// Feeds the lines of `path` to the model's learner. With `qid:` a step takes lines until a task comes again,
/// so a file whose tasks take turns has one example of each a step; the first line of all shows whether tasks
/// have rows of their own. `after` is called after every step. Throws InputError with the line that is wrong.
void learn_stream(OnlineCascadeModel& model, const std::string& path, const std::function<void()>& after);

}  // namespace sharelearn::cli
