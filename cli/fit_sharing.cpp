// sharelearn fit sharing: the options of online learning with shared hypotheses, and its run.
#include <fmt/core.h>

#include <chrono>
#include <filesystem>

#include "method.hpp"
#include "methods.hpp"
#include "sharelearn/data/line_source.hpp"
#include "sharelearn/data/missing.hpp"
#include "sharelearn/model/metrics.hpp"
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
  void declare(OptionSet& options) override;
  int run(const CommonOptions& common, const nlohmann::json& options) override;
  FitResult fit(FitInput&) override { throw Failure("sharing learns from a stream"); }

 private:
  void declare_stream(OptionSet& options);
  SharingOptions learner_options() const;
  ClassSets class_sets() const;
  std::shared_ptr<SharingModel> start_model(const CommonOptions& common);
  std::shared_ptr<SharingModel> load_to_go_on(const std::string& path, const SharingModel& fresh) const;
  void check(const CommonOptions& common) const;
  bool streams(const CommonOptions& common) const;
  void learn(SharingStream& stream, const CommonOptions& common, ThreadPool& threads) const;
  nlohmann::json report(SharingStream& stream, const CommonOptions& common, ThreadPool& threads) const;

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
  options.add_flag("--own", own_, "With a file of sets: every class has a hypothesis of its own, too");
  options.add_choice(
      "--map", map_, {"product", "frequency", "difference"},
      "Feature map of shared hypotheses, of x and the class's mean p: x p (eq. 4), eq. 10, |x - p|; "
      "with a kernel it is x - p (eq. 11)");
  options.add_choice("--prototype", prototype_, {"mean", "first"},
                     "p is the mean of the class's earlier examples, or its first example");
  options.add("--high", options_.map.high, "frequency: a word in at least this share of a class is typical");
  options.add("--low", options_.map.low, "frequency: a word in at most this share of a class is foreign");
  options.add("--high-value", options_.map.high_value, "frequency: value of a typical word");
  options.add("--low-value", options_.map.low_value, "frequency: value of a foreign word");
  options.add_choice("--kernel", kernel_, {"none", "gaussian", "polynomial"}, "Mercer kernel");
  options.add("--sigma", options_.kernel.sigma, "gaussian: exp(-|a - b|^2 / (2 sigma))")->check(positive());
  options.add("--degree", options_.kernel.degree, "polynomial: (<a, b> + offset)^degree")->check(positive());
  options.add("--offset", options_.kernel.offset, "polynomial: the offset")->check(non_negative());
  options.add("--budget", options_.budget, "Most mistakes a kernel keeps, the oldest is forgotten; 0: all")
      ->check(non_negative());
  options.add_choice("--update", update_, {"perceptron", "pa"},
                     "Step on a mistake, or the passive-aggressive one on every margin below 1");
  options.add("--aggressiveness", options_.aggressiveness, "pa: the largest step")->check(positive());
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
  options.add_flag(
      "--skip,!--no-skip", stream_.skip,
      "A resumed input begins anew, lines learned already are passed over (--no-skip: it goes on)");
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

void SharingMethod::check(const CommonOptions& common) const {
  if (common.holdout > 0)
    throw InputError("--holdout: sharing learns from the rows in their order; give --test FILE");
  if (common.class_weight != "none") throw InputError("--class-weight: sharing weighs no classes");
  if (stream_.every > 0 && stream_.checkpoint.empty()) throw InputError("--every needs --checkpoint FILE");
  if (options_.map.low >= options_.map.high) {
    throw InputError(fmt::format("--low {} must be below --high {}", options_.map.low, options_.map.high));
  }
  if (options_.budget > 0 && kernel_ == "none")
    throw InputError("--budget bounds the supports of a kernel: give --kernel");
}

std::shared_ptr<SharingModel> SharingMethod::load_to_go_on(const std::string& path,
                                                           const SharingModel& fresh) const {
  auto model = std::dynamic_pointer_cast<SharingModel>(load_model(path));
  if (!model) throw InputError(fmt::format("{}: is no model of `fit sharing`", path));
  const FeatureNumbering& a = model->features;
  const FeatureNumbering& b = fresh.features;
  if (model->options != fresh.options || a.by_name() != b.by_name() || a.hash_bits() != b.hash_bits() ||
      a.bias() != b.bias()) {
    throw InputError(fmt::format(
        "{}: was learned with other options; give the same ones, or start anew with another file", path));
  }
  return model;
}

std::shared_ptr<SharingModel> SharingMethod::start_model(const CommonOptions& common) {
  auto fresh = std::make_shared<SharingModel>(
      learner_options(), class_sets(), FeatureNumbering(stream_.names, stream_.hash, common.bias_or(false)));
  if (!stream_.checkpoint.empty() && std::filesystem::exists(stream_.checkpoint)) {
    auto model = load_to_go_on(stream_.checkpoint, *fresh);
    fmt::print(stderr, "sharelearn: going on from {} after line {}\n", stream_.checkpoint, model->lines);
    return model;
  }
  if (from_.empty()) return fresh;
  auto model = load_to_go_on(from_, *fresh);
  model->lines = 0;
  return model;
}

/// True for svmlight, which is read line by line; other formats and scaling need the whole data.
bool SharingMethod::streams(const CommonOptions& common) const {
  if ((load_ && !stream_.names) || common.scaling(default_scaling()) != ScalingKind::none) return false;
  if (common.data.format != "auto") return common.data.format == "svmlight";
  if (common.train == "-" || stream_.names) return true;
  LineSource source(common.train);
  std::string_view line;
  while (source.next(line)) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    return line.find(',') == std::string_view::npos && line.find(':') != std::string_view::npos;
  }
  return true;
}

void SharingMethod::learn(SharingStream& stream, const CommonOptions& common, ThreadPool& threads) const {
  if (streams(common)) {
    stream.run_lines(common.train);
    return;
  }
  ReadOptions read = common.data.resolved();
  read.labels_required = !stream_.follow;
  Dataset data = read_dataset(common.train, read, threads);
  SharingModel& model = stream.model();
  if (read.missing == Missing::mean) model.means = column_means(data.x, threads);
  const ScalingKind kind = common.scaling(default_scaling());
  if (kind != ScalingKind::none) {
    if (model.scaling.is_identity()) model.scaling = Scaling::fit(data.x, kind, threads);
    model.scaling.apply(data.x, threads);
  }
  stream.run_rows(data);
}

nlohmann::json SharingMethod::report(SharingStream& stream, const CommonOptions& common,
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
                       {"mistakes_at_most", bound->bound}};
  }
  if (!common.test.empty()) {
    ReadOptions read = common.data.resolved();
    const Dataset test = read_dataset(common.test, read, threads);
    const Grid<double> scores = model.scores(test, threads);
    const ClassMetrics metrics = class_metrics(scores, classes_of(test, model.classes).of_row);
    report["test_error"] = metrics.error;
    report["coverage"] = metrics.coverage;
  }
  return report;
}

int SharingMethod::run(const CommonOptions& common, const nlohmann::json& options) {
  const auto start = std::chrono::steady_clock::now();
  check(common);
  common.check_outputs();
  ThreadPool threads(common.data.threads);
  const nlohmann::json about = {{"method", name()}, {"options", options}};
  SharingStream stream(start_model(common), stream_, about);
  learn(stream, common, threads);
  nlohmann::json result = report(stream, common, threads);
  result["options"] = options;
  result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result["peak_bytes"] = peak_bytes();
  SharingModel& model = stream.model();
  model.about = about;
  model.about["data"] = result["data"];
  for (const char* key : {"examples", "mistakes", "first_occurrences", "test_error", "features_used"}) {
    if (result.contains(key)) model.about["summary"][key] = result[key];
  }
  if (!common.model.empty()) save_model(model, common.model);
  write_report(common.report, result);
  if (!common.quiet) {
    std::FILE* out = stream_.follow ? stderr : stdout;
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
