#include "export/c_file.hpp"

#include <fmt/ranges.h>

#include "export/literals.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kTemplateRuntime =
#include "export/c_template.inc"
    ;

constexpr std::string_view kMarginOfTasks = R"c(
static inline NAME_score NAME_margin(const NAME_score *scores) {
  NAME_score least = scores[0] < 0 ? -scores[0] : scores[0];
  int c;
  for (c = 1; c < NAME_OUTPUTS; ++c) {
    const NAME_score size = scores[c] < 0 ? -scores[c] : scores[c];
    if (!(size >= least)) least = size;
  }
  return least;
}
)c";

constexpr std::string_view kMarginOfClasses = R"c(
static inline NAME_score NAME_margin(const NAME_score *scores) {
  NAME_score first = scores[0] > scores[1] ? scores[0] : scores[1];
  NAME_score second = scores[0] > scores[1] ? scores[1] : scores[0];
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

constexpr std::string_view kAnswerOfTasks = R"c(
static inline void NAME_answer(const NAME_score *scores, int8_t *positive) {
  int c;
  for (c = 0; c < NAME_OUTPUTS; ++c) positive[c] = (int8_t)(scores[c] > 0 ? 1 : 0);
}
)c";

constexpr std::string_view kAnswerOfClasses = R"c(
static inline int NAME_answer(const NAME_score *scores) {
  int best = 0, c;
  for (c = 1; c < NAME_OUTPUTS; ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  return best;
}
)c";

// Softmax of logits p: the classes other than the best are weighed against the second, the sum of their
// weights is `sum`, and `odds` are those of the second against the best. So small probabilities keep their
// digits.
constexpr std::string_view kSoftmax = R"c(  best = NAME_answer(scores);
  for (c = 0; c < NAME_OUTPUTS; ++c) {
    if (c != best && p[c] > second) second = p[c];
  }
  odds = expf(second - p[best]);
  for (c = 0; c < NAME_OUTPUTS; ++c) {
    if (c != best) sum += p[c] = expf(p[c] - second);
  }
)c";

constexpr std::string_view kMarginSoftmax = R"c(  first = 1.0f / (1.0f + odds * sum);
  sum = 0.0f;
  for (c = 0; c < NAME_OUTPUTS; ++c) {
    if (c != best) sum += p[c] *= 2.71828183f - 1.71828183f * odds * p[c] * first;
  }
  odds /= 2.71828183f - 1.71828183f * first;
)c";

// The best class keeps the first place.
constexpr std::string_view kMapConfidence = R"c(  rest = NAME_doubt(rest);
  for (c = 0; c < NAME_OUTPUTS; ++c) {
    if (c != best && p[c] * rest > (1.0f - rest) * sum) rest = sum / (sum + p[c]);
  }
)c";

constexpr std::string_view kShares = R"c(  for (c = 0; c < NAME_OUTPUTS; ++c) {
    if (c != best) p[c] *= rest / sum;
  }
  p[best] = 1.0f - rest;
)c";

// Complements of probabilities, so that those near 1 keep their digits.
constexpr std::string_view kDoubtFunction =
    R"c(/* How often the best class was wrong on held-out rows for which the link gave the others the sum rest. */
static inline float NAME_doubt(float rest) {
  static const float from[] = {FROM};
  static const float to[] = {TO};
  int i = 0;
  while (i < COUNT && rest <= from[i]) ++i;
  if (i == 0 || i == COUNT) return to[i == 0 ? 0 : COUNT - 1];
  return to[i] + (to[i - 1] - to[i]) * ((rest - from[i]) / (from[i - 1] - from[i]));
}
)c";

std::string complements(const std::vector<double>& values) {
  std::vector<std::string> numbers;
  for (const double value : values) numbers.push_back(c_number(1 - value));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string doubt_function(const ConfidenceMap& map) {
  std::string text(kDoubtFunction);
  replace_all(text, "FROM", complements(map.from));
  replace_all(text, "TO", complements(map.to));
  replace_all(text, "COUNT", std::to_string(map.from.size()));
  return text;
}

std::string replaced(std::string from, std::string_view what, std::string_view by) {
  return from.replace(from.find(what), what.size(), by);
}

class CFile {
 public:
  CFile(const LinearModel& model, const CParts& parts)
      : model_(model), parts_(parts), code_(parts.code), early_(!early_of(model).checkpoints.empty()) {}

  std::string text() const;

 private:
  bool has_templates() const { return code_.frame != nullptr; }
  std::string work_parameter() const { return has_templates() ? ", NAME_work *work" : ""; }
  std::string work_argument() const { return has_templates() ? ", work" : ""; }
  std::string comment() const;
  std::string types() const;
  std::string template_runtime() const;
  std::string pixel() const;
  std::string answers() const;
  std::string probabilities() const;

  const LinearModel& model_;
  const CParts& parts_;
  const CTables& code_;
  bool early_;
};

std::string CFile::comment() const {
  const ExportCost cost = c_cost(model_, parts_, nullptr);
  std::string text = fmt::format(
      "/* A predictor exported by sharelearn: C99, no heap.\n   {} features of {} columns, {} multiply-adds "
      "at most per prediction.\n   Constant tables: {} bytes. Stack{}: about {} bytes.\n",
      full_work(model_).features, code_.columns.size(), cost.multiply_adds, cost.table_bytes,
      has_templates() ? " and work memory, given by the caller" : "", cost.ram_bytes);
  if (parts_.fixed) {
    const CFixed& fixed = *parts_.fixed;
    text += fmt::format(
        "   Fixed point: weights of {} bits, sums of 32 bits. The real score is score / {:.9g}.\n"
        "   The error of a real score is at most {:.3g}, so the answer is that of the model wherever the\n"
        "   margin of the model's answer is above {:.3g}. Scores are the same on every machine.\n",
        fixed.weight_bits, fixed.scale, fixed.bound, 2 * fixed.bound);
    if (fixed.compares) {
      text +=
          "   Exception: rows whose distance from a centre differs from the radius by less than its error.\n";
    }
    if (!fixed.columns.empty()) {
      text +=
          "   x[i] = round(value * 2^NAME_shift[i]); numbers outside NAME_low..NAME_high count as its end.\n";
      if (!model_.preprocessing.means.empty()) text += "   A missing value is NAME_MISSING.\n";
    }
  }
  return text + "   Define NAME_PROBA before the inclusion for NAME_proba, which needs <math.h>. */\n";
}

std::string CFile::types() const {
  std::string text = "#ifndef NAME_H\n#define NAME_H\n\n#include <stdint.h>\n";
  if (code_.needs_math) text += "#include <math.h>\n";
  const auto k = model_.names.size();
  text += fmt::format("\n#define NAME_COLUMNS {}\n#define NAME_OUTPUTS {}\n", code_.columns.size(), k);
  const bool fixed = parts_.fixed.has_value();
  const bool wide = fixed && parts_.fixed->wide;
  const std::string_view number = takes_bytes(model_, code_) ? "uint8_t"
                                  : !fixed                   ? "float"
                                  : wide                     ? "int32_t"
                                                             : "int16_t";
  text +=
      fmt::format("typedef {} NAME_number;\ntypedef {} NAME_score;\n\n", number, fixed ? "int32_t" : "float");
  text += "/* Numbers of the columns of the training data that a row x holds, from 0. */\n";
  const auto list = [&](std::string_view declaration, const auto& values) {
    text += fmt::format("static const {}[] = {{{}}};\n", declaration,
                        values.empty() ? "0" : fmt::format("{}", fmt::join(values, ", ")));
  };
  list("uint32_t NAME_columns", code_.columns);
  if (fixed) {
    text += fmt::format("#define NAME_SCALE {}\n#define NAME_BOUND {}\n", c_number(parts_.fixed->scale),
                        c_number(parts_.fixed->bound));
    if (!parts_.fixed->columns.empty()) {
      std::vector<int> shift;
      std::vector<std::int32_t> low, high;
      for (const FixedColumn& column : parts_.fixed->columns) {
        shift.push_back(column.shift), low.push_back(column.low), high.push_back(column.high);
      }
      list("int8_t NAME_shift", shift);
      list("int32_t NAME_low", low);
      list("int32_t NAME_high", high);
      text += fmt::format("#define NAME_MISSING {}\n", wide ? "INT32_MIN" : "INT16_MIN");
    }
  }
  text += "static const char *const NAME_names[NAME_OUTPUTS] = {\n";
  for (std::size_t c = 0; c < k; ++c) {
    text += fmt::format("  {}{}\n", c_string_literal(model_.names[c]), c + 1 < k ? "," : "");
  }
  return text + "};\n";
}

/// The 7-bit pixel i.
std::string CFile::pixel() const {
  if (takes_bytes(model_, code_)) return "(uint8_t)((x[i] * 254 + 255) / 510)";
  const bool filled = !model_.preprocessing.means.empty();
  if (!parts_.fixed)
    return fmt::format("NAME_pixel({})", filled ? "NAME_filled(x[i], NAME_means[i])" : "x[i]");
  const std::string unit = c_number(std::ldexp(1.0, -parts_.fixed->columns.front().shift));
  if (!filled) return fmt::format("NAME_pixel((float)x[i] * {})", unit);
  return fmt::format("NAME_pixel(x[i] == NAME_MISSING ? NAME_means[i] : (float)x[i] * {})", unit);
}

std::string CFile::template_runtime() const {
  if (!has_templates()) return "";
  const formula::TemplateMaximum& frame = *code_.frame;
  std::string text = fmt::format("\n#define NAME_HEIGHT {}\n#define NAME_WIDTH {}\n#define NAME_EPSILON {}\n",
                                 frame.height, frame.width, c_number(frame.contrast));
  text += fmt::format(
      "\n/* Memory that a prediction needs; its content before the call does not matter. */\ntypedef struct "
      "{{\n  uint8_t image[NAME_HEIGHT * NAME_WIDTH];\n  int16_t contrast[{}];\n}} NAME_work;\n",
      code_.contrast_entries);
  const auto& means = model_.preprocessing.means;
  if (!means.empty()) {
    std::vector<std::string> entries;
    for (const float mean : means) entries.push_back(c_number(mean));
    text += fmt::format("static const float NAME_means[] = {{{}}};\n", fmt::join(entries, ", "));
  }
  if (!takes_bytes(model_, code_)) {
    text += fmt::format(
        "\nstatic inline uint8_t NAME_pixel(float grey) {{\n  volatile float p = (grey - {0}) * (127.0f / "
        "({1} - {0}));\n"
        "  p = p + 0.5f;\n  return (uint8_t)(p > 0.0f ? (p < 127.0f ? p : 127.0f) : 0.0f);\n}}\n",
        c_number(frame.low), c_number(frame.high));
  }
  std::string tables;
  for (const auto& [size, first] : code_.contrast_tables) {
    tables += fmt::format("  NAME_contrast(work->image, {}, work->contrast + {});\n", size, first);
  }
  std::string runtime = replaced(std::string(kTemplateRuntime), "NAME_PIXEL(i)", pixel());
  runtime = replaced(runtime, "NAME_STRAIGHTEN", frame.deskew ? "NAME_upright(work->image);" : "");
  return text + replaced(runtime, "NAME_TABLES", tables);
}

std::string CFile::answers() const {
  const std::string work = work_parameter(), pass = work_argument();
  std::string text = fmt::format(
      "\n/* Scores of the row x, one per output. */\nstatic inline void NAME_scores(const NAME_number *x{}, "
      "NAME_score *scores) {{\n  NAME_run(x{}, scores, 0);\n}}\n",
      work, pass);
  if (model_.kind_of_output == OutputKind::value) {
    return text + fmt::format(
                      "\nstatic inline NAME_score NAME_predict(const NAME_number *x{}) {{\n  NAME_score "
                      "scores[NAME_OUTPUTS];\n  NAME_run(x{}, scores, 0);\n  return scores[0];\n}}\n",
                      work, pass);
  }
  const bool tasks = model_.kind_of_output == OutputKind::tasks;
  text += tasks ? kAnswerOfTasks : kAnswerOfClasses;
  const auto add = [&](std::string_view comment, std::string_view called, bool early) {
    text += fmt::format(
        "\n/* {} */\nstatic inline {} {}(const NAME_number *x{}{}{}) {{\n  NAME_score "
        "scores[NAME_OUTPUTS];\n",
        comment, tasks ? "void" : "int", called, work, tasks ? ", int8_t *positive" : "",
        early ? ", int *features" : "");
    text += fmt::format("  {}NAME_run(x{}, scores, {});\n", early ? "*features = " : "", pass, early ? 1 : 0);
    text += tasks ? "  NAME_answer(scores, positive);\n}\n" : "  return NAME_answer(scores);\n}\n";
  };
  add(tasks ? "positive[c] is 1 where task c is positive, else 0." : "The number of the class in NAME_names.",
      "NAME_predict", false);
  if (early_)
    add("The same from as few features as are safe; *features: how many.", "NAME_predict_early", true);
  return text;
}

std::string CFile::probabilities() const {
  const Link link = model_.link();
  if (!gives_probabilities(link)) return "";
  const bool twice = link == Link::softmax_of_twice || link == Link::logistic_of_twice;
  const bool tasks = link == Link::logistic || link == Link::logistic_of_twice;
  const bool margin = link == Link::margin_softmax, mapped = !tasks && !model_.confidence.from.empty();
  const double factor = (twice ? 2 : 1) / (model_.temperature * (parts_.fixed ? parts_.fixed->scale : 1));
  std::string text = "\n#ifdef NAME_PROBA\n#include <math.h>\n";
  if (mapped) text += doubt_function(model_.confidence);
  text += fmt::format(
      "/* Probabilities of the outputs. */\n"
      "static inline void NAME_proba(const NAME_number *x{}, float *p) {{\n"
      "  NAME_score scores[NAME_OUTPUTS];\n{}  NAME_run(x{}, scores, 0);\n"
      "  for (c = 0; c < NAME_OUTPUTS; ++c) p[c] = (float)scores[c] * {};\n",
      work_parameter(),
      tasks ? "  int c;\n"
            : fmt::format("  float second = -1e30f, sum = 0.0f, odds, {}rest;\n  int best, c;\n",
                          margin ? "first, " : ""),
      work_argument(), c_number(factor));
  if (tasks) {
    text += "  for (c = 0; c < NAME_OUTPUTS; ++c) p[c] = 1.0f / (1.0f + expf(-p[c]));\n";
  } else {
    text += kSoftmax;
    if (margin) text += kMarginSoftmax;
    text += "  rest = odds * sum / (1.0f + odds * sum);\n";
    if (mapped) text += kMapConfidence;
    text += kShares;
  }
  return text + "}\n#endif\n";
}

std::string CFile::text() const {
  std::string all = comment() + types();
  all += parts_.helpers + template_runtime();
  if (early_) all += model_.kind_of_output == OutputKind::tasks ? kMarginOfTasks : kMarginOfClasses;
  all += "\n" + code_.tables;
  all += fmt::format(
      "\nstatic inline int NAME_run(const NAME_number *x{}, NAME_score *scores, int early) {{\n  {} v[{}];\n "
      " "
      "int i = 0;\n  (void)x;\n  (void)v;\n  (void)i;\n  (void)early;\n{}{}  return {};\n}}\n",
      work_parameter(), parts_.fixed ? "int16_t" : "float", std::max<std::size_t>(1, parts_.values),
      has_templates() ? "  NAME_prepare(x, work);\n" : "", code_.body, parts_.features);
  return all + answers() + probabilities() + "\n#endif\n";
}

}  // namespace

std::string with_name(std::string_view text, const std::string& name) {
  std::string out(text);
  replace_all(out, "NAME", name);
  return out;
}

bool takes_bytes(const LinearModel& model, const CTables& code) {
  return code.frame != nullptr && code.frame->low == 0 && code.frame->high == 255 &&
         model.preprocessing.means.empty();
}

EarlyStop early_of(const LinearModel& model) {
  if (model.early != nullptr && model.early->stage == model.stage) return *model.early;
  return {};
}

ExportCost c_cost(const LinearModel& model, const CParts& parts, const TestVector* vector) {
  const CTables& code = parts.code;
  ExportCost cost;
  cost.table_bytes = code.table_bytes;
  cost.ram_bytes = std::ssize(model.names) * 4 + static_cast<Index>(parts.values) * (parts.fixed ? 2 : 4) +
                   code.array_bytes;
  if (code.frame != nullptr) {
    cost.ram_bytes +=
        code.frame->height * code.frame->width + 2 * code.contrast_entries + 8 * code.frame->width;
  }
  const std::vector<Work> work = early_work(model, early_of(model));
  cost.multiply_adds = work.back().multiply_adds;
  if (parts.fixed) cost.bound = parts.fixed->bound;
  if (vector == nullptr || vector->early.stop.empty()) return cost;
  for (const std::int32_t stop : vector->early.stop) {
    cost.mean_multiply_adds += static_cast<double>(work[to_size(stop)].multiply_adds) /
                               static_cast<double>(vector->early.stop.size());
  }
  return cost;
}

std::string c_header(const LinearModel& model, const CParts& parts, const std::string& name) {
  return with_name(CFile(model, parts).text(), name);
}

}  // namespace sharelearn
