#include "export/c_export.hpp"

#include "export/c_walk.hpp"
#include "export/literals.hpp"
#include "model/early_steps.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kTemplateRuntime =
#include "export/c_template.inc"
    ;

/// The text with every NAME replaced.
std::string with_name(std::string_view text, const std::string& name) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find("NAME", at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += name;
    at = found + 4;
  }
}

/// A design value as it is computed: value = gain * computed + shift.
struct Folding {
  double gain = 1, shift = 0;
};

/// The header: what is defined once for all models, then the model.
class CFile {
 public:
  CFile(const LinearModel& model, std::string name)
      : model_(model), name_(std::move(name)), walk_(model), k_(model.names.size()) {
    if (model.early != nullptr && model.early->stage == model.stage) early_ = *model.early;
    steps_ = early_steps(model, early_);
    for (std::size_t s = 0; s < steps_.size(); ++s) add_step(s);
  }

  std::string text() const;
  std::string check(const TestVector& vector) const;

 private:
  bool has_early() const { return !early_.checkpoints.empty(); }
  bool has_templates() const { return walk_.frame != nullptr; }
  bool takes_bytes() const {
    return has_templates() && walk_.frame->low == 0 && walk_.frame->high == 255 &&
           model_.preprocessing.means.empty();
  }
  std::string work_parameter() const { return has_templates() ? ", NAME_work *work" : ""; }
  std::string work_argument() const { return has_templates() ? ", work" : ""; }
  void add_step(std::size_t s);
  void add_sum(const EarlyStep& step);
  std::string head() const;
  std::string helpers() const;
  std::string template_runtime() const;
  std::string answers() const;

  const LinearModel& model_;
  std::string name_;
  CWalk walk_;
  std::size_t k_;
  EarlyStop early_;
  std::vector<EarlyStep> steps_;
  std::vector<formula::Formula> formulas_;  ///< the walk refers to their nodes
  std::vector<Folding> folding_;            ///< of every value computed
  Index features_ = 0;
};

void CFile::add_step(std::size_t s) {
  const EarlyStep& step = steps_[s];
  for (const std::size_t f : step.features) {
    const formula::Formula& formula = formulas_.emplace_back(model_.features[f]->formula());
    const auto* column = std::get_if<formula::Columns>(&static_cast<const formula::Node::variant&>(*formula));
    const Scaling& scaling = model_.preprocessing.scaling;
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
  const bool last = s + 1 == steps_.size();
  if (!last) walk_.line("if (early) {");
  add_sum(step);
  if (!last) {
    walk_.line(
        fmt::format("  if (NAME_margin(scores) > {}) return {};", c_number(step.threshold), features_));
    walk_.line("}");
  }
}

/// Scores from the values so far; values without a weight at this step get zeros.
void CFile::add_sum(const EarlyStep& step) {
  std::vector<double> weights(folding_.size() * k_, 0.0), bias = step.weights.bias;
  for (std::size_t a = 0; a < step.position.size(); ++a) {
    const auto at = to_size(step.position[a]);
    for (std::size_t c = 0; c < k_; ++c) {
      const double w = step.weights.weights[a * k_ + c];
      weights[at * k_ + c] = w * folding_[at].gain;
      bias[c] += w * folding_[at].shift;
    }
  }
  if (weights.empty()) weights.assign(k_, 0.0);
  walk_.line(fmt::format("NAME_sum(v, {}, {}, {}, scores);", walk_.floats(weights), folding_.size(),
                         walk_.floats(bias)));
}

std::string CFile::head() const {
  const Work full = full_work(model_);
  std::string text = "/* A predictor exported by sharelearn: C99, no heap.\n";
  text += fmt::format("   {} features of {} columns, {} multiply-adds at most per prediction.\n",
                      full.features, walk_.columns.size(), early_work(model_, early_).back().multiply_adds);
  text += fmt::format("   Stack: about {} bytes.{} */\n", (folding_.size() + k_) * 4,
                      has_templates() ? " Work memory: sizeof(NAME_work) bytes, given by the caller." : "");
  text += "#ifndef NAME_H\n#define NAME_H\n\n#include <stdint.h>\n";
  if (walk_.needs_math) text += "#include <math.h>\n";
  text += fmt::format("\n#define NAME_COLUMNS {}\n#define NAME_OUTPUTS {}\n", walk_.columns.size(), k_);
  text += fmt::format("typedef {} NAME_number;\n\n", takes_bytes() ? "uint8_t" : "float");
  text += "/* Numbers of the columns of the training data that a row x holds, from 0. */\n";
  text += fmt::format("static const uint32_t NAME_columns[] = {{{}}};\n",
                      walk_.columns.empty() ? "0" : fmt::format("{}", fmt::join(walk_.columns, ", ")));
  text += "static const char *const NAME_names[NAME_OUTPUTS] = {\n";
  for (std::size_t c = 0; c < k_; ++c)
    text += fmt::format("  {}{}\n", c_string_literal(model_.names[c]), c + 1 < k_ ? "," : "");
  return text + "};\n";
}

std::string CFile::helpers() const {
  std::string text = R"c(
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
  if (!has_early()) return text;
  if (model_.kind_of_output == OutputKind::tasks) {
    return text + R"c(
static inline float NAME_margin(const float *scores) {
  float least = scores[0] < 0.0f ? -scores[0] : scores[0];
  int c;
  for (c = 1; c < NAME_OUTPUTS; ++c) {
    const float size = scores[c] < 0.0f ? -scores[c] : scores[c];
    if (!(size >= least)) least = size;
  }
  return least;
}
)c";
  }
  return text + R"c(
static inline float NAME_margin(const float *scores) {
  float first = scores[0] > scores[1] ? scores[0] : scores[1];
  float second = scores[0] > scores[1] ? scores[1] : scores[0];
  int c;
  for (c = 2; c < NAME_OUTPUTS; ++c) {
    if (scores[c] > first) {
      second = first;
      first = scores[c];
    } else if (scores[c] > second) {
      second = scores[c];
    }
  }
  return first - second;
}
)c";
}

std::string CFile::template_runtime() const {
  if (!has_templates()) return "";
  const formula::TemplateMaximum& frame = *walk_.frame;
  std::string text = fmt::format(
      "\n#define NAME_HEIGHT {}\n#define NAME_WIDTH {}\n#define NAME_BLACK {}\n#define NAME_WHITE {}\n"
      "#define NAME_EPSILON {}\n",
      frame.height, frame.width, c_number(frame.low), c_number(frame.high), c_number(frame.contrast));
  text += fmt::format(
      "\n/* Memory that a prediction needs; its content before the call does not matter. */\ntypedef struct "
      "{{\n"
      "  uint8_t image[NAME_HEIGHT * NAME_WIDTH];\n  int16_t contrast[{}];\n}} NAME_work;\n",
      walk_.contrast_entries);
  const auto replace = [](std::string from, std::string_view what, const std::string& by) {
    from.replace(from.find(what), what.size(), by);
    return from;
  };
  std::string runtime(kTemplateRuntime);
  const auto& means = model_.preprocessing.means;
  runtime =
      replace(runtime, "NAME_GREY(i)", means.empty() ? "(float)x[i]" : "NAME_filled(x[i], NAME_means[i])");
  if (!means.empty()) {
    text += "static const float NAME_means[] = {";
    for (const float mean : means) text += c_number(mean) + ", ";
    text += "};\n";
  }
  runtime = replace(runtime, "NAME_STRAIGHTEN", frame.deskew ? "NAME_upright(work->image);" : "");
  std::string tables;
  for (const auto& [size, first] : walk_.contrast_tables)
    tables += fmt::format("  NAME_contrast(work->image, {}, work->contrast + {});\n", size, first);
  return text + replace(runtime, "NAME_TABLES", tables);
}

std::string CFile::answers() const {
  const std::string work = work_parameter(), pass = work_argument();
  std::string text = fmt::format(
      "\n/* Scores of the row x, one per output. */\nstatic inline void NAME_scores(const NAME_number *x{}, "
      "float "
      "*scores) {{\n  NAME_run(x{}, scores, 0);\n}}\n",
      work, pass);
  if (model_.kind_of_output == OutputKind::value) {
    return text + fmt::format(
                      "\nstatic inline float NAME_predict(const NAME_number *x{}) {{\n  float "
                      "scores[NAME_OUTPUTS];\n"
                      "  NAME_run(x{}, scores, 0);\n  return scores[0];\n}}\n",
                      work, pass);
  }
  const bool tasks = model_.kind_of_output == OutputKind::tasks;
  text += tasks ? R"c(
static inline void NAME_answer(const float *scores, int8_t *positive) {
  int c;
  for (c = 0; c < NAME_OUTPUTS; ++c) positive[c] = (int8_t)(scores[c] > 0.0f ? 1 : 0);
}
)c"
                : R"c(
static inline int NAME_answer(const float *scores) {
  int best = 0, c;
  for (c = 1; c < NAME_OUTPUTS; ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  return best;
}
)c";
  const auto add = [&](std::string_view comment, std::string_view called, bool early) {
    text += fmt::format(
        "\n/* {} */\nstatic inline {} {}(const NAME_number *x{}{}{}) {{\n  float scores[NAME_OUTPUTS];\n",
        comment, tasks ? "void" : "int", called, work, tasks ? ", int8_t *positive" : "",
        early ? ", int *features" : "");
    text += fmt::format("  {}NAME_run(x{}, scores, {});\n", early ? "*features = " : "", pass, early ? 1 : 0);
    text += tasks ? "  NAME_answer(scores, positive);\n}\n" : "  return NAME_answer(scores);\n}\n";
  };
  add(tasks ? "positive[c] is 1 where task c is positive, else 0." : "The number of the class in NAME_names.",
      "NAME_predict", false);
  if (has_early())
    add("The same from as few features as are safe; *features: how many.", "NAME_predict_early", true);
  return text;
}

std::string CFile::text() const {
  std::string all = head() + template_runtime() + helpers() + "\n" + walk_.tables;
  all += fmt::format(
      "\nstatic inline int NAME_run(const NAME_number *x{}, float *scores, int early) {{\n  float v[{}];\n  "
      "int i = 0;\n"
      "  (void)x;\n  (void)v;\n  (void)i;\n  (void)early;\n{}{}  return {};\n}}\n",
      work_parameter(), std::max<std::size_t>(1, folding_.size()),
      has_templates() ? "  NAME_prepare(x, work);\n" : "", walk_.body, features_);
  return with_name(all + answers() + "\n#endif\n", name_);
}

std::string CFile::check(const TestVector& vector) const {
  std::string rows, scores, features;
  const std::vector<Work> work = early_work(model_, early_);
  for (Index i = 0; i < vector.rows.rows(); ++i) {
    for (const Index j : walk_.columns) {
      rows += takes_bytes() ? fmt::format("{:.0f}, ", vector.rows(i, j)) : c_number(vector.rows(i, j)) + ", ";
    }
    for (Index c = 0; c < vector.scores.cols(); ++c) scores += c_number(vector.scores(i, c)) + ", ";
    const auto stop = has_early() ? to_size(vector.early.stop[to_size(i)]) : 0;
    features += fmt::format("{}, ", work[stop].features);
    rows += "\n  ", scores += "\n  ";
  }
  std::string text = fmt::format(
      "#include \"NAME.h\"\n#include <stdio.h>\n\n#define ROWS {}\nstatic const NAME_number rows[] = {{\n  "
      "{}}};\n"
      "static const float expected[] = {{\n  {}}};\nstatic const int features[] = {{{}}};\n",
      vector.rows.rows(), rows, scores, features);
  text += has_templates() ? "static NAME_work memory;\n" : "";
  text += R"c(
int main(void) {
  float worst = 0.0f;
  int i, c, elsewhere = 0, used = 0;
  for (i = 0; i < ROWS; ++i) {
    float scores[NAME_OUTPUTS], largest = 1e-3f;
    NAME_scores(rows + i * NAME_COLUMNSWORK, scores);
    for (c = 0; c < NAME_OUTPUTS; ++c) {
      const float e = expected[i * NAME_OUTPUTS + c];
      if (e > largest || -e > largest) largest = e < 0.0f ? -e : e;
    }
    for (c = 0; c < NAME_OUTPUTS; ++c) {
      const float d = (scores[c] - expected[i * NAME_OUTPUTS + c]) / largest;
      if (d > worst || -d > worst) worst = d < 0.0f ? -d : d;
    }
EARLY    if (used != features[i]) ++elsewhere;
  }
  printf("%d rows: largest relative difference of scores %.3g; rows that stop elsewhere: %d\n", ROWS, (double)worst, elsewhere);
  return worst < 1e-4f && elsewhere == 0 ? 0 : 1;
}
)c";
  const auto replace = [&](std::string_view what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("WORK, scores", has_templates() ? ", &memory, scores" : ", scores");
  replace("EARLY", has_early() ? fmt::format("    used = NAME_run(rows + i * NAME_COLUMNS{}, scores, 1);\n",
                                             has_templates() ? ", &memory" : "")
                               : "    used = features[i];\n");
  return with_name(text, name_);
}

}  // namespace

Exported export_c(const LinearModel& model, const std::filesystem::path& path, const TestVector* vector) {
  const std::string name = identifier_of(path);
  if (path.string() != "-" && path.filename().string() != name + ".h") {
    throw InputError(fmt::format("{}: a C header needs a name such as {}.h", path.string(), name));
  }
  const CFile file(model, name);
  Exported result;
  result.text = file.text();
  if (vector != nullptr) result.check = file.check(*vector);
  return result;
}

}  // namespace sharelearn
