// sharelearn fit sharing: online learning with shared hypotheses, from a stream of lines or from rows.
#include <fmt/core.h>

#include <filesystem>

#include "fit_files.hpp"
#include "help.hpp"
#include "option_fields.hpp"
#include "sharelearn/fit/plot.hpp"
#include "sharelearn/fit/sharing.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"
#include "sharing_stream.hpp"

namespace sharelearn::cli {
namespace {

class SharingCommand : public Command {
 public:
  std::string_view name() const override { return SharingFit::name; }
  std::string_view summary() const override { return SharingFit::summary; }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  void declare_stream(CLI::App& app);
  void check() const;
  void read_hypotheses();
  OnlineSharing start() const;
  OnlineSharing go_on(const std::string& path) const;
  bool takes_named_lines() const;
  bool streams(LineSource& source) const;
  Dataset read_rows(LineSource& source, const SharingModel& model, ThreadPool& threads) const;
  std::optional<Dataset> learn(OnlineSharing& online, ThreadPool& threads, const Monitor& monitor) const;
  void print_end(const FitReport& report) const;

  SharingFit options_;
  FieldTable table_ = fields(options_);
  OptionFiles files_;
  StreamOptions stream_;
  const CLI::Option* skip_option_ = nullptr;
  std::string train_, test_, model_, report_, plot_, from_, competitor_;
  DataOptions data_;
  std::uint64_t seed_ = 1;
  bool load_ = false, quiet_ = false;
};

void SharingCommand::declare(CLI::App& app) {
  app.add_option("TRAIN", train_, "Data to learn from; - is standard input")->required();
  const auto file = [&](const char* flag, std::string& path, const char* help) {
    app.add_option(flag, path, help)->type_name(kFile)->group("Files");
  };
  file("-o,--output", model_, "Write the model to this file");
  file("--test", test_, "Data to report the test error on after learning");
  file("--report", report_, "Write a report to this file (JSON)");
  file("--plot", plot_, "Draw the share of mistakes along the stream into this file (SVG)");
  file("--from", from_, "Continue learning from this model");
  file(
      "--competitor", competitor_,
      "File of fixed weights to compare with: report how many more mistakes theory allows than those weights "
      "make ([Fink06])");
  data_.declare(app, false);
  declare_fields(app, table_, files_);
  declare_stream(app);
  app.add_flag("--quiet", quiet_, "Print no progress and no table");
  app.add_option("--seed", seed_, "Accepted as in every method; nothing is random here")->group("");
}

void SharingCommand::declare_stream(CLI::App& app) {
  const std::string group = "Stream";
  app.add_flag("--follow", stream_.follow,
               "Print the prediction of each line before learning from it; a line without a label is only "
               "predicted")
      ->group(group);
  app.add_option("--checkpoint", stream_.checkpoint,
                 "Save the model to this file while learning; if the file exists, continue from it")
      ->type_name(kFile)
      ->group(group);
  app.add_option("--every", stream_.every, "Number of examples between two checkpoints; 0: only at the end")
      ->check(non_negative())
      ->capture_default_str()
      ->group(group);
  skip_option_ =
      app.add_flag(
             "--skip,!--no-skip", stream_.skip,
             "After a checkpoint: the input starts again from its beginning, skip the lines learned already "
             "(--no-skip: the input continues)")
          ->default_str("on")
          ->group(group);
  app.add_flag("--load", load_,
               "Read the whole input before learning: faster, but needs memory for all of it")
      ->group(group);
  app.add_option("--on-error", stream_.on_error, "What to do with a line that cannot be read")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->capture_default_str()
      ->group(group);
}

void SharingCommand::check() const {
  table_.check();
  if (!data_.read.weight_column.empty()) {
    throw InputError(
        "sharing has no --weight-column: all examples count the same; --ignore-columns leaves the column "
        "out");
  }
  if (stream_.follow && (model_ == "-" || report_ == "-" || plot_ == "-"))
    throw InputError(
        "--follow prints its predictions on standard output: give file names to -o, --report and --plot");
  if (stream_.every > 0 && stream_.checkpoint.empty()) throw InputError("--every needs --checkpoint FILE");
  if (skip_option_->count() > 0 && stream_.checkpoint.empty())
    throw InputError("--skip needs --checkpoint FILE");
  const std::string hypotheses = options_.hypotheses.value_or("hybrid");
  check_paths({{"-o", model_}, {"--report", report_}, {"--plot", plot_}},
              {{"TRAIN", train_},
               {"--test", test_},
               {"--labels", data_.read.labels_file},
               {"--competitor", competitor_},
               {"--hypotheses", is_hypotheses_word(hypotheses) ? "" : hypotheses}});
  if (!stream_.checkpoint.empty()) require_writable(stream_.checkpoint);
}

/// What is not one of the words names a file of sets.
void SharingCommand::read_hypotheses() {
  if (!options_.hypotheses || is_hypotheses_word(*options_.hypotheses)) return;
  const std::string path = *options_.hypotheses;
  refuse_removed(path);
  if (!std::filesystem::exists(path)) {
    throw InputError(
        fmt::format("--hypotheses {}: expected multi, single, hybrid, hierarchy or a file of sets; "
                    "there is no such file",
                    path));
  }
  options_.hypotheses = read_text(path);
  options_.hypotheses_source = path;
}

OnlineSharing SharingCommand::go_on(const std::string& path) const {
  return OnlineSharing::resume(load_model(path), options_, path);
}

OnlineSharing SharingCommand::start() const {
  if (!stream_.checkpoint.empty() && std::filesystem::exists(stream_.checkpoint)) {
    OnlineSharing online = go_on(stream_.checkpoint);
    say(fmt::format("continuing from {} after line {}", stream_.checkpoint, online.position()));
    return online;
  }
  if (from_.empty()) return OnlineSharing::begin(options_);
  OnlineSharing online = go_on(from_);
  online.begin_input();
  return online;
}

/// True where features by name come as lines, not as columns of a table.
bool SharingCommand::takes_named_lines() const {
  return options_.names.value_or(false) && (data_.format == "auto" || data_.format == "svmlight");
}

/// True for svmlight, which is read line by line; other formats and scaling need the whole data.
bool SharingCommand::streams(LineSource& source) const {
  if (takes_named_lines()) {
    if (data_.format == "auto") require_named_lines(source);
    return true;
  }
  if (load_ || options_.scale.value_or("none") != "none") return false;
  if (data_.format != "auto") return data_.format == "svmlight";
  return source.format(stream_.follow) == Format::svmlight;
}

Dataset SharingCommand::read_rows(LineSource& source, const SharingModel& model, ThreadPool& threads) const {
  const ReadOptions read = reading_for(model, data_, {.labels = !stream_.follow, .all_columns = true});
  const EndAtOnce nothing_learned;
  return source.read_all(read, threads);
}

/// Returns the test set, which is read before anything is learned: an error in it is reported at once.
std::optional<Dataset> SharingCommand::learn(OnlineSharing& online, ThreadPool& threads,
                                             const Monitor& monitor) const {
  LineSource source(train_, monitor);
  std::optional<Dataset> rows, test;
  if (streams(source)) {
    check_options(data_.resolved(), Format::svmlight, source.name());
    if (data_.read.zero_based)
      throw InputError("--zero-based: lines that are learned as they come count from 1; give --load");
  } else {
    rows = read_rows(source, online.model(), threads);
    online.know_columns(*rows, threads);
  }
  if (!test_.empty()) {
    const EndAtOnce nothing_learned;
    test = read_for_model(online.model(), test_, data_, {.labels = true}, threads);
    online.check_test(*test, threads);
  }
  SharingStream stream(online, stream_, monitor);
  const bool reads_twice = !rows && std::filesystem::is_regular_file(train_);
  if (reads_twice && online.model().sets.kind() == Hypotheses::hierarchy) stream.expect_classes(train_);
  if (rows) {
    stream.run_rows(*rows, threads);
  } else {
    stream.run_lines(source);
  }
  return test;
}

void SharingCommand::print_end(const FitReport& report) const {
  const nlohmann::json& counts = report.extra;
  std::FILE* out = stream_.follow || !shows_tables(quiet_, model_, report_) ? stderr : stdout;
  std::string text =
      fmt::format("{} examples, {} mistakes ({:.2f} %), {} classes\n", counts["examples"].get<Index>(),
                  counts["mistakes"].get<Index>(), 100 * counts.value("mistake_rate", 0.0), report.outputs);
  if (counts.contains("bound")) {
    const nlohmann::json& bound = counts["bound"];
    text += fmt::format(
        "theory allows at most {:.6g} mistakes: loss of the competitor {:.6g}, its complexity {:.6g} "
        "([Fink06], Theorem 1)\n",
        bound["mistakes_at_most"].get<double>(), bound["loss"].get<double>(),
        bound["complexity"].get<double>());
  }
  std::fputs(text.c_str(), out);
  if (const auto bad = counts["bad_lines"].get<Index>(); bad > 0)
    say(fmt::format("{} bad lines were skipped", bad));
}

int SharingCommand::run() {
  check();
  read_hypotheses();
  data_.missing = options_.missing.value_or("error");
  stream_.names = options_.names.value_or(false);
  ThreadPool threads(data_.threads);
  const auto monitor = terminal_monitor(quiet_);
  OnlineSharing online = start();
  if (!competitor_.empty()) online.compare_with(parse_competitor(read_text(competitor_), competitor_));
  const std::optional<Dataset> test = learn(online, threads, *monitor);
  const Fitted fitted = online.finish(test ? &*test : nullptr, threads);
  if (!model_.empty()) save_model(*fitted.model, model_);
  write_report(report_, to_json(fitted.report));
  if (!plot_.empty()) write_file(plot_, to_svg(plot_of(fitted.report, name_of_data(train_))));
  for (const std::string& warning : fitted.report.warnings) {
    say(render_options(warning, [&](std::string_view option) {
      return option == "competitor" ? competitor_ : fmt::format("--{}", option);
    }));
  }
  if (!quiet_) print_end(fitted.report);
  return 0;
}

}  // namespace

std::unique_ptr<Command> sharing_method() {
  return std::make_unique<SharingCommand>();
}

}  // namespace sharelearn::cli
