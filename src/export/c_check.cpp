// The program that compares an exported C header with answers of sharelearn.
#include <algorithm>
#include <cmath>
#include <functional>

#include "export/c_file.hpp"
#include "export/literals.hpp"

namespace sharelearn {
namespace {

constexpr std::string_view kFloatCheck = R"c(
int main(void) {
  float worst = 0.0f;
  int i, c, elsewhere = 0, used = 0;
  for (i = 0; i < ROWS; ++i) {
    NAME_score scores[NAME_OUTPUTS];
    float largest = 1e-3f;
    NAME_scores(rows + i * NAME_COLUMNSWORK, scores);
    for (c = 0; c < NAME_OUTPUTS; ++c) {
      const float e = (float)expected[i * NAME_OUTPUTS + c];
      if (e > largest || -e > largest) largest = e < 0.0f ? -e : e;
    }
    for (c = 0; c < NAME_OUTPUTS; ++c) {
      const float d = (scores[c] - (float)expected[i * NAME_OUTPUTS + c]) / largest;
      if (d > worst || -d > worst) worst = d < 0.0f ? -d : d;
    }
EARLY    if (used != features[i]) ++elsewhere;
PROBABILITIES  }
  printf("%d rows: largest relative difference of scores %.3g; rows that stop elsewhere: %d\n", ROWS, (double)worst, elsewhere);
  return worst < 1e-4f && elsewhere == 0 ? 0 : 1;
}
)c";

/// The difference that a comparison of an inexact value makes has no bound: rows where one is close to its
/// threshold are counted, not compared.
constexpr std::string_view kDoubt = R"c(
#include <stdint.h>
static int doubtful;
static int less(int32_t value, int32_t threshold, int32_t error) {
  const int64_t difference = (int64_t)value - threshold;
  if (difference <= error && -difference <= error) ++doubtful;
  return value < threshold;
}
#define NAME_LESS(value, threshold, error) less(value, threshold, error)
)c";

constexpr std::string_view kFixedCheck = R"c(
static uint32_t digest = 2166136261u;
static void add_to_digest(int32_t value) {
  const uint32_t bits = (uint32_t)value;
  int part;
  for (part = 0; part < 32; part += 8) digest = (digest ^ ((bits >> part) & 255u)) * 16777619u;
}

int main(void) {
  double worst = 0.0;
  int i, c, elsewhere = 0, used = 0, wrong = 0, doubts = 0;
  for (i = 0; i < ROWS; ++i) {
    const double *e = expected + i * NAME_OUTPUTS;
    NAME_score scores[NAME_OUTPUTS];
    int skip = 0;
DOUBT    NAME_scores(rows + i * NAME_COLUMNSWORK, scores);
SKIP    for (c = 0; c < NAME_OUTPUTS; ++c) {
      const double d = (double)scores[c] / NAME_SCALE - e[c];
      add_to_digest(scores[c]);
      if (!skip && (d > worst || -d > worst)) worst = d < 0 ? -d : d;
    }
ANSWEREARLY    if (used != features[i]) ++elsewhere;
    add_to_digest(used);
    for (c = 0; c < NAME_OUTPUTS; ++c) add_to_digest(scores[c]);
    doubts += skip;
PROBABILITIES  }
  printf("%d rows: largest difference of scores %.3g, bound %.3g; wrong answers beyond the bound: %d; rows that stop elsewhere: %d; "
         "rows with comparisons that are too close: %d; digest %08x\n",
         ROWS, worst, (double)NAME_BOUND, wrong, elsewhere, doubts, (unsigned)digest);
  return worst <= (double)NAME_BOUND * 1.0001 && wrong == 0 && doubts * 2 <= ROWS ? 0 : 1;
}
)c";

constexpr std::string_view kClassAnswer = R"c(    {
      const int answer = NAME_answer(scores);
      for (c = 0; c < NAME_OUTPUTS; ++c) {
        if (!skip && e[c] - e[answer] > 2.0001 * (double)NAME_BOUND) ++wrong;
      }
    }
)c";

constexpr std::string_view kTaskAnswer = R"c(    for (c = 0; c < NAME_OUTPUTS; ++c) {
      if (!skip && (scores[c] > 0 ? -e[c] : e[c]) > 1.0001 * (double)NAME_BOUND) ++wrong;
    }
)c";

constexpr std::string_view kProbabilities = R"c(    {
      float p[NAME_OUTPUTS];
      NAME_proba(rows + i * NAME_COLUMNSWORK, p);
      for (c = 0; c < NAME_OUTPUTS; ++c) {
        const double d = (double)p[c] - probability[i * NAME_OUTPUTS + c];
        if (TESTED && probability[i * NAME_OUTPUTS + c] >= 0.0 && (d > TOLERANCE || -d > TOLERANCE)) {
          printf("row %d, output %d: probability %g instead of %g\n", i, c, (double)p[c], probability[i * NAME_OUTPUTS + c]);
          return 1;
        }
      }
    }
)c";

/// By how much the map of the confidence may enlarge a small change of the scores.
double steepness(const ConfidenceMap& map) {
  const auto log_odds = [](double p) { return std::log(p) - std::log1p(-p); };
  double steepest = 1;
  for (std::size_t i = 1; i < map.from.size(); ++i) {
    const double distance = log_odds(map.from[i]) - log_odds(map.from[i - 1]);
    steepest = std::max(steepest, 4 * (map.to[i] - map.to[i - 1]) / distance);
  }
  return steepest;
}

class CheckProgram {
 public:
  CheckProgram(const LinearModel& model, const CParts& parts, const TestVector& vector)
      : model_(model), parts_(parts), vector_(vector), early_(!early_of(model).checkpoints.empty()) {}

  std::string text() const {
    const bool proba = gives_probabilities(model_.link());
    std::string all;
    if (proba) all += "#define NAME_PROBA\n";
    if (parts_.fixed && parts_.fixed->compares) all += kDoubt;
    all += "#include \"NAME.h\"\n#include <stdio.h>\n\n" + data();
    if (parts_.code.frame != nullptr) all += "static NAME_work memory;\n";
    return all + main_function(proba);
  }

 private:
  std::string data() const;
  std::string main_function(bool proba) const;
  std::string number(Index i, Index j) const;
  bool in_doubt(Index row) const;

  const LinearModel& model_;
  const CParts& parts_;
  const TestVector& vector_;
  bool early_;
};

std::string CheckProgram::number(Index i, Index j) const {
  const double value = vector_.rows(i, j);
  if (takes_bytes(model_, parts_.code)) return fmt::format("{:.0f}", std::clamp(value, 0.0, 255.0));
  if (!parts_.fixed) return c_number(value);
  return fmt::format("{:.0f}", std::ldexp(value, vector_.fixed[to_size(j)].shift));
}

/// Rounding may decide which class is the best one, and so whose probability is mapped.
bool CheckProgram::in_doubt(Index row) const {
  if (model_.confidence.from.empty() || vector_.scores.cols() < 2) return false;
  std::vector<double> sorted;
  for (Index c = 0; c < vector_.scores.cols(); ++c) sorted.push_back(vector_.scores(row, c));
  std::ranges::sort(sorted, std::greater{});
  const double largest = std::max({std::abs(sorted.front()), std::abs(sorted.back()), 1e-3});
  return sorted[0] - sorted[1] <= 2.0001 * (parts_.fixed ? parts_.fixed->bound : 1e-4 * largest);
}

std::string CheckProgram::data() const {
  std::string rows, scores, features, probabilities;
  const std::vector<Work> work = early_work(model_, early_of(model_));
  const bool proba = gives_probabilities(model_.link());
  const Grid<double> probability = proba ? model_.proba(vector_.scores) : vector_.scores;
  for (Index i = 0; i < vector_.rows.rows(); ++i) {
    for (const Index j : parts_.code.columns) rows += number(i, j) + ", ";
    for (Index c = 0; c < vector_.scores.cols(); ++c) {
      scores += fmt::format("{:.12e}, ", vector_.scores(i, c));
      probabilities += in_doubt(i) ? "-1, " : fmt::format("{:.9e}, ", probability(i, c));
    }
    const auto stop = early_ ? to_size(vector_.early.stop[to_size(i)]) : 0;
    features += fmt::format("{}, ", work[stop].features);
    rows += "\n  ", scores += "\n  ", probabilities += "\n  ";
  }
  if (parts_.code.columns.empty()) rows += "0";
  std::string text = fmt::format(
      "#define ROWS {}\nstatic const NAME_number rows[] = {{\n  {}}};\nstatic const double expected[] = {{\n "
      " "
      "{}}};\nstatic const int features[] = {{{}}};\n",
      vector_.rows.rows(), rows, scores, features);
  if (proba) text += fmt::format("static const double probability[] = {{\n  {}}};\n", probabilities);
  return text;
}

std::string CheckProgram::main_function(bool proba) const {
  const bool fixed = parts_.fixed.has_value(), compares = fixed && parts_.fixed->compares;
  std::string text(fixed ? kFixedCheck : kFloatCheck);
  replace_all(text, "PROBABILITIES", proba ? kProbabilities : "");
  // A change d of every score changes no probability by more than 2 d, before the map.
  const double steep = steepness(model_.confidence);
  replace_all(text, "TOLERANCE",
              fixed ? fmt::format("({:.9e} * (double)NAME_BOUND + 1e-5)", 4 * steep / model_.temperature)
                    : fmt::format("{:.3e}", 1e-4 * steep));
  replace_all(text, "TESTED", fixed ? "!skip" : "1");
  replace_all(text, "DOUBT", compares ? "    doubtful = 0;\n" : "");
  replace_all(text, "SKIP", compares ? "    skip = doubtful > 0;\n" : "");
  const bool tasks = model_.kind_of_output == OutputKind::tasks;
  const bool value = model_.kind_of_output == OutputKind::value;
  replace_all(text, "ANSWER", value ? "" : tasks ? kTaskAnswer : kClassAnswer);
  const bool work = parts_.code.frame != nullptr;
  replace_all(text, "EARLY",
              early_ ? "    used = NAME_run(rows + i * NAME_COLUMNSWORK, scores, 1);\n"
                     : "    used = features[i];\n");
  replace_all(text, "WORK", work ? ", &memory" : "");
  return text;
}

}  // namespace

std::string c_check(const LinearModel& model, const CParts& parts, const TestVector& vector,
                    const std::string& name) {
  return with_name(CheckProgram(model, parts, vector).text(), name);
}

}  // namespace sharelearn
