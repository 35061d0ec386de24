// sharelearn fit sharing: the options of online learning with shared hypotheses, and its run.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>

#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/model/metrics.hpp"
#include "sharelearn/run/atomic_file.hpp"
#include "sharelearn/run/error.hpp"
#include "sharing_stream.hpp"

namespace sharelearn::cli {
namespace {

class SharingMethod : public Method {
 public:
  std::string_view name() const override { return "sharing"; }
  std::string_view summary() const override {
    return "Online perceptrons whose hypotheses are shared by sets of classes; classes appear on the fly";
  }
  ScalingKind default_scaling() const override { return ScalingKind::none; }
  bool default_bias() const override { return false; }
  void declare(OptionSet& options) override;
  int run(const CommonOptions& common, const nlohmann::json& options) override;
  std::vector<NamedPath> own_inputs() const override { return {{"--competitor", stream_.competitor}}; }
  FitResult fit(FitInput&) override { throw Failure("sharing learns from a stream"); }

 private:
  void declare_stream(OptionSet& options);
  SharingOptions learner_options() const;
  ClassSets class_sets() const;
  std::shared_ptr<SharingModel> start_model(const CommonOptions& common);
  std::shared_ptr<SharingModel> load_to_go_on(const std::string& path, const SharingModel& fresh,
                                              ScalingKind scaling) const;
  void needs(const CLI::Option* option, std::string_view what, std::function<bool()> given);
  void check(const CommonOptions& common) const;
  void check_numbers() const;
  bool takes_named_lines(const CommonOptions& common) const;
  bool streams(LineSource& source, const CommonOptions& common) const;
  Dataset read_rows(LineSource& source, SharingModel& model, const CommonOptions& common,
                    ThreadPool& threads) const;
  std::optional<Dataset> learn(SharingStream& stream, const CommonOptions& common, ThreadPool& threads,
                               const Monitor& monitor) const;
  nlohmann::json report(SharingStream& stream, const std::optional<Dataset>& test, ThreadPool& threads) const;

  /// An option that does nothing unless another is given.
  struct Need {
    const CLI::Option* option;
    std::string_view what;
    std::function<bool()> given;
  };
  std::vector<Need> needs_;
  std::string hypotheses_ = "hybrid";
  bool own_ = false;
  std::string map_ = "product";
  std::string prototype_ = "mean";
  std::string kernel_ = "none";
  std::string update_ = "perceptron";
  std::string from_;
  bool load_ = false;
  SharingOptions options_;
  StreamOptions stream_;
};

void SharingMethod::declare(OptionSet& options) {
  options.add(
      "--hypotheses", hypotheses_,
      "Which classes share a hypothesis: multi (none), single (all), hybrid (both), hierarchy (names are "
      "paths, every prefix is a set), learned, or a file of lines \"set: class class ...\"");
  needs(options.add_flag("--own", own_, "With a file of sets: every class has a hypothesis of its own, too"),
        "a file of sets as --hypotheses", [this] { return class_sets().kind() == Hypotheses::sets; });
  options.add_choice(
      "--map", map_, {"product", "frequency", "difference"},
      "Feature map of shared hypotheses, of x and the class's mean p: x p (eq. 4), eq. 10, |x - p|; "
      "with a kernel it is x - p (eq. 11)");
  options.add_choice("--prototype", prototype_, {"mean", "first"},
                     "p is the mean of the class's earlier examples, or its first example");
  const auto for_frequency = [&](const std::string& flag, double& value, const std::string& help) {
    needs(options.add(flag, value, "frequency: " + help), "--map frequency",
          [this] { return map_ == "frequency"; });
  };
  for_frequency("--high", options_.map.high, "a word in at least this share of a class is typical");
  for_frequency("--low", options_.map.low, "a word in at most this share of a class is foreign");
  for_frequency("--high-value", options_.map.high_value, "value of a typical word");
  for_frequency("--low-value", options_.map.low_value, "value of a foreign word");
  options.add_choice("--kernel", kernel_, {"none", "gaussian", "polynomial"}, "Mercer kernel");
  needs(options.add("--sigma", options_.kernel.sigma, "gaussian: exp(-|a - b|^2 / (2 sigma))")
            ->check(positive()),
        "--kernel gaussian", [this] { return kernel_ == "gaussian"; });
  const auto polynomial = [this] { return kernel_ == "polynomial"; };
  needs(
      options.add("--degree", options_.kernel.degree, "polynomial: (<a, b> + offset)^degree, a whole number")
          ->check(positive()),
      "--kernel polynomial", polynomial);
  needs(options.add("--offset", options_.kernel.offset, "polynomial: the offset")->check(non_negative()),
        "--kernel polynomial", polynomial);
  options.add("--budget", options_.budget, "Most mistakes a kernel keeps, the oldest is forgotten; 0: all")
      ->check(non_negative());
  options.add_choice("--update", update_, {"perceptron", "pa"},
                     "Step on a mistake, or the passive-aggressive one on every margin below 1");
  needs(options.add("--aggressiveness", options_.aggressiveness, "pa: the largest step")->check(positive()),
        "--update pa", [this] { return update_ == "pa"; });
  options.add_flag("--average", options_.average,
                   "Predict, after learning, with the mean of the weights over time");
  options.add_flag("--binary", options_.binary, "Every value other than 0 counts as 1");
  options.add_flag("--unit", options_.unit, "Every example is brought to length 1");
  declare_stream(options);
}

void SharingMethod::declare_stream(OptionSet& options) {
  options.add_flag("--names", stream_.names,
                   "Features are names (word:2, or word alone for word:1), not numbers");
  options
      .add("--hash", stream_.hash,
           "Hash features to this many bits instead of remembering them; 0: no hashing")
      ->check(between(0, 30));
  options.add_flag(
      "--follow", stream_.follow,
      "Answer each line with its prediction before learning from it; lines without a label are only "
      "predicted");
  options.add("--checkpoint", stream_.checkpoint,
              "Save the model here on the way, and go on from it if it is there");
  options.add("--every", stream_.every, "Examples between two checkpoints; 0: only at the end")
      ->check(non_negative());
  needs(options.add_flag(
            "--skip,!--no-skip", stream_.skip,
            "A resumed input begins anew, lines learned already are passed over (--no-skip: it goes on)"),
        "--checkpoint FILE", [this] { return !stream_.checkpoint.empty(); });
  options.add_flag("--load", load_,
                   "Read the whole input before learning: faster for files, needs their memory");
  options.add("--from", from_, "Go on learning from this model");
  options.add_choice("--on-error", stream_.on_error, {"stop", "skip"}, "What to do with a bad line");
  options.add("--competitor", stream_.competitor,
              "File of a competing hypothesis: report the bound of Theorem 1 against it");
}

SharingOptions SharingMethod::learner_options() const {
  SharingOptions options = options_;
  options.map.kind = map_from(map_);
  options.prototype = prototype_from(prototype_);
  options.kernel.kind = kernel_from(kernel_);
  options.update = update_from(update_);
  return options;
}

ClassSets SharingMethod::class_sets() const {
  for (const char* word : {"multi", "single", "hybrid", "hierarchy", "learned"}) {
    if (hypotheses_ == word) return ClassSets(hypotheses_from(word));
  }
  if (!std::filesystem::exists(hypotheses_)) {
    throw InputError(
        fmt::format("--hypotheses {}: expected multi, single, hybrid, hierarchy, learned or a file of sets; "
                    "there is no such file",
                    hypotheses_));
  }
  const std::vector<char> text = read_bytes(hypotheses_, Index{1} << 30);
  ClassSets sets = ClassSets::parse({text.data(), text.size()}, hypotheses_);
  if (own_) sets.give_every_class_its_own();
  return sets;
}

void SharingMethod::needs(const CLI::Option* option, std::string_view what, std::function<bool()> given) {
  needs_.push_back({option, what, std::move(given)});
}

void SharingMethod::check_numbers() const {
  const FeatureMap& map = options_.map;
  for (const double number : {map.high, map.low, map.high_value, map.low_value}) {
    if (!std::isfinite(number)) {
      throw InputError("--high, --low, --high-value and --low-value: expected finite numbers");
    }
  }
  if (map.low >= map.high)
    throw InputError(fmt::format("--low {} must be below --high {}", map.low, map.high));
  // A power of a negative number, which <a, b> may be.
  if (options_.kernel.degree != std::floor(options_.kernel.degree))
    throw InputError(fmt::format("--degree {}: expected a whole number", options_.kernel.degree));
}

/// True where features by name come as lines, not as columns of a table.
bool SharingMethod::takes_named_lines(const CommonOptions& common) const {
  return stream_.names && (common.data.format == "auto" || common.data.format == "svmlight");
}

void SharingMethod::check(const CommonOptions& common) const {
  if (common.holdout > 0)
    throw InputError("--holdout: sharing learns from the rows in their order; give --test FILE");
  if (common.tolerance > 0)
    throw InputError("--tolerance: sharing has no solver to stop; it takes the examples one by one");
  if (common.class_weight != "none") throw InputError("--class-weight: sharing weighs no classes");
  if (!common.data.read.weight_column.empty()) {
    throw InputError("--weight-column: sharing weighs no rows; --ignore-columns leaves the column out");
  }
  if (takes_named_lines(common) && common.scaling(default_scaling()) != ScalingKind::none)
    throw InputError("--scale: features by name come line by line and are not scaled; --unit may do");
  if (stream_.follow && (common.model == "-" || common.report == "-"))
    throw InputError("--follow answers on standard output: name files for -o and --report");
  if (stream_.every > 0 && stream_.checkpoint.empty()) throw InputError("--every needs --checkpoint FILE");
  check_numbers();
  for (const Need& need : needs_) {
    if (need.option->count() > 0 && !need.given())
      throw InputError(fmt::format("{} needs {}", need.option->get_name(), need.what));
  }
  if (!stream_.checkpoint.empty()) require_writable(stream_.checkpoint);
  if (options_.budget > 0 && kernel_ == "none")
    throw InputError("--budget bounds the supports of a kernel: give --kernel");
}

std::shared_ptr<SharingModel> SharingMethod::load_to_go_on(const std::string& path, const SharingModel& fresh,
                                                           ScalingKind scaling) const {
  auto model = std::dynamic_pointer_cast<SharingModel>(load_model(path));
  if (!model) throw InputError(fmt::format("{}: is no model of `fit sharing`", path));
  const FeatureNumbering& a = model->features;
  const FeatureNumbering& b = fresh.features;
  const auto expect = [&](bool same, std::string_view which) {
    if (same) return;
    throw InputError(
        fmt::format("{}: was learned with other options ({}); give the same ones, or start anew with another "
                    "file",
                    path, which));
  };
  expect(model->sets.same_rule(fresh.sets), "--hypotheses, --own");
  expect(model->options == fresh.options, "of the learner");
  expect(a.by_name() == b.by_name() && a.hash_bits() == b.hash_bits() && a.bias() == b.bias(),
         "--names, --hash, --bias");
  expect(model->preprocessing.scaling.kind == scaling, "--scale");
  return model;
}

std::shared_ptr<SharingModel> SharingMethod::start_model(const CommonOptions& common) {
  auto fresh = std::make_shared<SharingModel>(
      learner_options(), class_sets(),
      FeatureNumbering(stream_.names, stream_.hash, common.bias_or(default_bias())));
  const ScalingKind scaling = common.scaling(default_scaling());
  if (!stream_.checkpoint.empty() && std::filesystem::exists(stream_.checkpoint)) {
    auto model = load_to_go_on(stream_.checkpoint, *fresh, scaling);
    fmt::print(stderr, "sharelearn: going on from {} after line {}\n", stream_.checkpoint, model->lines);
    return model;
  }
  if (from_.empty()) return fresh;
  auto model = load_to_go_on(from_, *fresh, scaling);
  model->lines = 0;
  return model;
}

/// True for svmlight, which is read line by line; other formats and scaling need the whole data.
bool SharingMethod::streams(LineSource& source, const CommonOptions& common) const {
  if (takes_named_lines(common)) {
    if (common.data.format == "auto") require_named_lines(source);
    return true;
  }
  if (load_ || common.scaling(default_scaling()) != ScalingKind::none) return false;
  if (common.data.format != "auto") return common.data.format == "svmlight";
  return source.format(stream_.follow) == Format::svmlight;
}

/// Gives a new model the columns of its first rows. A vocabulary finds names itself, wherever they stand;
/// scaling and means go by the order.
void know_columns(SharingModel& model, const Dataset& data) {
  if (data.x.is_sparse()) return;
  model.preprocessing.columns = data.columns();
  const bool ordered = !model.features.by_name() || !model.preprocessing.scaling.is_identity() ||
                       !model.preprocessing.means.empty();
  if (ordered) model.preprocessing.names = data.column_names;
}

/// All rows of the input, scaled, with the columns of the model; a new one gets those of the rows.
Dataset SharingMethod::read_rows(LineSource& source, SharingModel& model, const CommonOptions& common,
                                 ThreadPool& threads) const {
  ReadOptions read = common.data.resolved();
  read.labels_required = !stream_.follow;
  const auto read_all = [&](const ReadOptions& options) { return source.read_all(options, threads); };
  const bool is_new = model.examples == 0 && model.columns() == 0;
  Dataset data =
      is_new ? read_train(read_all, read, model.preprocessing.means, threads)
             : read_matching({model.columns(), model.column_names(), model.preprocessing.means, "the model"},
                             read_all, read, threads);
  model.check_columns(data);
  const ScalingKind kind = common.scaling(default_scaling());
  if (kind != ScalingKind::none) {
    if (model.preprocessing.scaling.is_identity())
      model.preprocessing.scaling = Scaling::fit(data.x, kind, threads);
    model.preprocessing.scaling.apply(data.x, threads);
  }
  if (is_new) know_columns(model, data);
  return data;
}

/// Returns the test set, which is read before anything is learned: what is wrong with it costs no run.
std::optional<Dataset> SharingMethod::learn(SharingStream& stream, const CommonOptions& common,
                                            ThreadPool& threads, const Monitor& monitor) const {
  SharingModel& model = stream.model();
  LineSource source(common.train, monitor);
  std::optional<Dataset> rows, test;
  if (streams(source, common)) {
    check_options(common.data.resolved(), Format::svmlight, source.name());
  } else {
    rows = read_rows(source, model, common, threads);
  }
  if (!common.test.empty()) {
    test = read_for_model(model, common.test, common.data, true, threads);
    model.preprocessing.arrange(*test, threads);
    model.check_columns(*test);
    classes_of(*test, model.classes);  // throws if a label is missing
  }
  if (rows) {
    stream.run_rows(*rows);
  } else {
    stream.run_lines(source);
  }
  return test;
}

nlohmann::json SharingMethod::report(SharingStream& stream, const std::optional<Dataset>& test,
                                     ThreadPool& threads) const {
  const SharingModel& model = stream.model();
  nlohmann::json report = {
      {"method", name()},
      {"data", {{"m", model.examples}, {"d", model.feature_count}, {"k", model.class_count()}}},
      {"examples", model.examples},
      {"mistakes", model.mistakes},
      {"first_occurrences", model.first_occurrences},
      {"updates", model.updates},
      {"features_used", model.features_used()},
      {"bad_lines", stream.bad_lines()},
      {"learning_seconds", stream.learning_seconds()}};
  if (model.examples > 0) {
    report["mistake_rate"] = static_cast<double>(model.mistakes) / static_cast<double>(model.examples);
  }
  if (model.uses_kernel()) report["supports"] = model.supports.size();
  for (const ClassGroup& group : model.sets.groups()) {
    if (group.members.empty()) continue;
    nlohmann::json members = nlohmann::json::array();
    for (const std::uint32_t r : group.members) members.push_back(model.classes[r]);
    report["sets"].push_back({{"name", group.name}, {"classes", members}});
  }
  if (const auto bound = stream.bound()) {
    report["bound"] = {{"loss", bound->loss},
                       {"radius", bound->radius},
                       {"sets_of_a_class", bound->sets},
                       {"complexity", bound->complexity},
                       {"mistakes_at_most", bound->bound},
                       {"idle_hypotheses", bound->idle}};
  }
  if (test) {
    const std::vector<std::int32_t> truth = classes_of(*test, model.classes).of_row;
    const ClassMetrics metrics = class_metrics(model.scores(*test, threads), truth);
    report["test_error"] = metrics.error;
    // A class that is not known has no place among the others.
    const bool any_known = std::any_of(truth.begin(), truth.end(), [](std::int32_t c) { return c >= 0; });
    if (any_known) report["coverage"] = metrics.coverage;
  }
  return report;
}

int SharingMethod::run(const CommonOptions& common, const nlohmann::json& options) {
  const auto start = std::chrono::steady_clock::now();
  check(common);
  common.check_files(own_outputs(), own_inputs());
  ThreadPool threads(common.data.threads);
  const auto monitor = terminal_monitor(common.quiet);
  const nlohmann::json metadata = {{"method", name()}, {"options", options}};
  SharingStream stream(start_model(common), stream_, metadata, *monitor);
  const std::optional<Dataset> test = learn(stream, common, threads, *monitor);
  nlohmann::json result = report(stream, test, threads);
  result["options"] = options;
  result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result["peak_bytes"] = peak_bytes();
  SharingModel& model = stream.model();
  model.metadata = metadata;
  model.metadata["data"] = result["data"];
  for (const char* key : {"examples", "mistakes", "first_occurrences", "test_error", "features_used"}) {
    if (result.contains(key)) model.metadata["summary"][key] = result[key];
  }
  if (!common.model.empty()) save_model(model, common.model);
  write_report(common.report, result);
  if (result.contains("bound") && !result["bound"]["idle_hypotheses"].empty()) {
    fmt::print(stderr, "sharelearn: {}: no class has the hypothesis '{}': it only weakens the bound\n",
               stream_.competitor, result["bound"]["idle_hypotheses"].front().get<std::string>());
  }
  if (!common.quiet) {
    std::FILE* out = stream_.follow || !common.shows_tables() ? stderr : stdout;
    fmt::print(out, "{} examples, {} mistakes ({:.2f} %), {} classes\n", model.examples, model.mistakes,
               100 * result.value("mistake_rate", 0.0), model.class_count());
    if (result.contains("bound")) {
      fmt::print(out, "bound of Theorem 1: {:.6g} mistakes (loss {:.6g}, complexity {:.6g})\n",
                 result["bound"]["mistakes_at_most"].get<double>(), result["bound"]["loss"].get<double>(),
                 result["bound"]["complexity"].get<double>());
    }
    if (stream.bad_lines() > 0)
      fmt::print(stderr, "sharelearn: {} bad lines were skipped\n", stream.bad_lines());
  }
  return 0;
}

}  // namespace

std::unique_ptr<Method> sharing_method() {
  return std::make_unique<SharingMethod>();
}

}  // namespace sharelearn::cli
