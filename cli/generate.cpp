// sharelearn generate NAME: one of the papers' synthetic data sets as svmlight or CSV.
#include "generate/generate.hpp"

#include <fmt/core.h>

#include <set>

#include "command.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "sharelearn/data/write.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"
#include "suggest.hpp"

namespace sharelearn::cli {
namespace {

std::string list_of_sets() {
  std::string text = "Data sets:\n";
  for (const Generator& generator : all_generators()) {
    text += fmt::format("  {:<18}{}\n", generator.name, generator.summary);
  }
  return text;
}

class GenerateCommand : public Command {
 public:
  std::string_view name() const override { return "generate"; }
  std::string_view summary() const override { return "Write one of the synthetic data sets of the papers"; }
  void declare(CLI::App& app) override {
    app.add_option("NAME", name_, "Name of the data set, see below")->required();
    app.add_option("-o,--output", output_, "Write the data set to this file; - is standard output")
        ->type_name(kFile)
        ->capture_default_str();
    app.add_option("--format", format_,
                   "Format of the file; auto: csv if its name ends in .csv, else svmlight")
        ->check(CLI::IsMember({"auto", "svmlight", "csv"}))
        ->capture_default_str();
    CLI::Option* rows =
        app.add_option("--rows", options_.rows, "Number of rows; 0: the usual number of this data set")
            ->capture_default_str();
    app.add_option("--classes", options_.classes, "binary-code, blocks: number of classes, a power of two")
        ->capture_default_str();
    app.add_option("--blocks", options_.blocks, "blocks: how many times the code of a class is repeated")
        ->capture_default_str();
    app.add_option("--noise", options_.noise,
                   "blocks: fraction of the rows in which one block is set to zero")
        ->capture_default_str();
    app.add_option("--tasks", options_.tasks, "task-tree: number of tasks")
        ->check(positive())
        ->capture_default_str();
    app.add_option("--positives", options_.positives,
                   "task-tree: positive rows per task; there are as many negative ones")
        ->check(positive())
        ->excludes(rows)
        ->capture_default_str();
    app.add_option("--irrelevant", options_.irrelevant,
                   "task-tree: additional columns that no task depends on")
        ->check(non_negative())
        ->capture_default_str();
    app.add_option("--seed", options_.seed, "Seed of the random numbers")
        ->check(non_negative())
        ->capture_default_str();
    app.footer(list_of_sets());
    app_ = &app;
  }
  int run() override {
    suggest_name();
    refuse_options_of_other_sets();
    const Dataset data = generate(name_, options_);
    const bool csv = format_ == "csv" || (format_ == "auto" && output_.ends_with(".csv"));
    write_file(output_, csv ? to_csv(data) : to_svmlight(data));
    return 0;
  }

 private:
  void suggest_name() const {
    std::vector<std::string> known;
    for (const Generator& generator : all_generators()) known.emplace_back(generator.name);
    const std::string near = nearest(name_, known);
    if (!near.empty() && near != name_) {
      throw InputError(fmt::format("there is no data set '{}' to generate; did you mean {}?", name_, near));
    }
  }

  /// An option that only other sets have would do nothing.
  void refuse_options_of_other_sets() const {
    std::set<std::string> own, others;
    for (const Generator& generator : all_generators()) {
      for (const std::string& option : CLI::detail::split(std::string(generator.options), ',')) {
        const std::string flag = with_flags(CLI::detail::trim_copy(option));
        if (!flag.empty()) (generator.name == name_ ? own : others).insert(flag);
      }
    }
    for (const std::string& flag : others) {
      if (own.count(flag) > 0 || app_->get_option(flag)->count() == 0) continue;
      throw InputError(fmt::format("the data set {1} has no {0}", flag, name_));
    }
  }

  const CLI::App* app_ = nullptr;
  std::string name_, output_ = "-", format_ = "auto";
  GenerateOptions options_;
};

}  // namespace

std::unique_ptr<Command> generate_command() {
  return std::make_unique<GenerateCommand>();
}

}  // namespace sharelearn::cli
