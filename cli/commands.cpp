// The table of commands.
#include "command.hpp"

namespace sharelearn::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(fit_command());
  commands.push_back(predict_command());
  commands.push_back(evaluate_command());
  commands.push_back(describe_command());
  commands.push_back(report_command());
  commands.push_back(trim_command());
  commands.push_back(early_command());
  commands.push_back(export_command());
  commands.push_back(generate_command());
  commands.push_back(cache_command());
  commands.push_back(words_command());
  commands.push_back(transfer_command());
  commands.push_back(options_command());
  return commands;
}

}  // namespace sharelearn::cli
