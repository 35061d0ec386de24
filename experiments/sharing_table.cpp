// [Fink06], Table 1: online mistakes (%) of multi, single and hybrid, the paper's figures beside ours.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "sharelearn/run/random.hpp"
#include "sharelearn/transform/pca.hpp"
#include "sharelearn/transform/scaling.hpp"
#include "sharing_support.hpp"

namespace sharelearn::reproduce {
namespace {

constexpr std::array kMethods = {Hypotheses::multi, Hypotheses::single, Hypotheses::hybrid};
constexpr Index kQuickRows = 1500;
/// The paper's 0.07 is meaningless without its scaling. For columns in [-1, 1] we use the value among 0.035,
/// 0.07, 0.1, 0.14, 0.2, 0.28 with the fewest mistakes of the three methods together on the first 2,000
/// letters.
constexpr double kLetterSigma = 0.1;

struct Row {
  std::string name;
  std::array<double, 3> paper{};  ///< multi, single, hybrid; 0: no figure
  SharingOptions options;
  std::function<SharingData(std::uint64_t seed)> data;
  int orders = 1;  ///< number of random orders to average over
};

SharingData head(const SharingData& data, Index rows) {
  if (rows >= data.size()) return data;
  SharingData part = data;
  part.rows.rows = rows;
  part.rows.start.resize(static_cast<std::size_t>(rows) + 1);
  part.label.resize(static_cast<std::size_t>(rows));
  return part;
}

SharingOptions kernel_options(double sigma) {
  SharingOptions options;
  options.kernel = {.kind = KernelKind::gaussian, .sigma = sigma};
  return options;
}

SharingOptions text_options() {
  SharingOptions options;
  options.map.kind = MapKind::frequency;
  options.binary = true;
  return options;
}

/// Transformation of the grey values of a face: the light varies by orders of magnitude, and the paper does
/// not say what its pixels mean. The cube root is lightness as CIE defines it.
enum class Grey { as_is, square_root, cube_root, log };

void map_grey(Dataset& faces, Grey grey) {
  const auto mapped = [grey](float value) {
    switch (grey) {
      case Grey::square_root:
        return std::sqrt(value);
      case Grey::cube_root:
        return std::cbrt(value);
      case Grey::log:
        return std::log1p(value);
      case Grey::as_is:
        break;
    }
    return value;
  };
  Grid<float>& x = faces.x.owned_dense();
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) x(i, j) = mapped(x(i, j));
  }
}

/// The first 30 people with all 64 images: 60 principal components of variance 1.
Dataset yale_faces(Run& run, Grey grey) {
  const Dataset all =
      run.read("yaleb/images-idx3-ubyte.gz",
               {.label_column = "", .task_column = "", .labels_file = "yaleb/labels-idx1-ubyte.gz"});
  std::map<std::int32_t, Index> images;
  for (const std::int32_t id : all.label.id) ++images[id];
  std::map<std::int32_t, bool> chosen;
  for (const auto& [id, count] : images) {
    if (count == 64 && chosen.size() < 30) chosen[id] = true;
  }
  std::vector<Index> rows;
  for (Index i = 0; i < all.rows(); ++i) {
    if (chosen.contains(all.label.id[static_cast<std::size_t>(i)])) rows.push_back(i);
  }
  Dataset faces = select_rows(all, rows);
  map_grey(faces, grey);
  const Pca pca = Pca::fit(faces.x, 60, run.context().threads);
  faces.x = Matrix(pca.apply(faces.x, run.context().threads));
  Scaling::fit(faces.x, ScalingKind::standard, run.context().threads).apply(faces.x, run.context().threads);
  return faces;
}

/// In five random orders, or in the order of the file: person by person.
Row yale_row(const Dataset& faces, bool random) {
  Row row;
  row.options.map.kind = MapKind::difference;
  row.orders = random ? 5 : 1;
  row.data = [=](std::uint64_t seed) {
    return random ? sharing_data(faces, shuffled(faces.rows(), seed)) : sharing_data(faces);
  };
  return row;
}

Dataset scaled(Run& run, Dataset data, ScalingKind kind) {
  Scaling::fit(data.x, kind, run.context().threads).apply(data.x, run.context().threads);
  return data;
}

std::vector<Row> table_rows(Run& run) {
  std::vector<Row> rows;
  Row faces = yale_row(yale_faces(run, Grey::cube_root), true);
  faces.name = "YaleB, cube root of the grey values";
  faces.paper = {18.3, 15.2, 12.9};
  rows.push_back(faces);
  SharingOptions isolet = kernel_options(0.16);
  isolet.unit = true;
  const Dataset spoken = run.read("isolet/train.csv.gz", {});
  rows.push_back({"ISOLET", {12.7, 8.52, 9.08}, isolet, [=](std::uint64_t) { return sharing_data(spoken); }});
  const Dataset letters = scaled(run, run.read("letter/letter.csv.gz", {}), ScalingKind::minmax);
  rows.push_back({"LETTER", {11.8, 16.7, 11.4}, kernel_options(kLetterSigma), [=](std::uint64_t) {
                    return sharing_data(letters);
                  }});
  const Dataset reuters = single_labels(run.read("reuters21578/docs.svm.gz", {}));
  rows.push_back({"Reuters, one topic, by time", {}, text_options(), [=](std::uint64_t) {
                    return sharing_data(reuters);
                  }});
  const Dataset enron = run.read("enron_aeslc/docs.svm.gz", {});
  rows.push_back({"Enron, by owner, shuffled", {}, text_options(), [=](std::uint64_t seed) {
                    return sharing_data(enron, shuffled(enron.rows(), seed));
                  }});
  return rows;
}

/// Mistakes in percent, one number per method, averaged over the orders; then classes and examples.
std::vector<double> measure(Run& run, const Row& row, const std::string& key,
                            std::span<const Hypotheses> methods) {
  std::vector<double> result;
  for (const Hypotheses kind : methods) {
    const std::string name =
        fmt::format("{} {} {} {}", key, name_of(kind), run.settings().seed, run.settings().quick);
    const auto numbers = run.remember(name, [&] {
      double sum = 0;
      SharingOutcome last;
      for (int o = 0; o < row.orders; ++o) {
        SharingData data = row.data(run.settings().seed + static_cast<std::uint64_t>(o));
        if (run.settings().quick) data = head(data, kQuickRows);
        last = run_sharing(data, row.options, kind);
        sum += last.percent();
      }
      return std::vector<double>{sum / row.orders, static_cast<double>(last.classes),
                                 static_cast<double>(last.curve.size())};
    });
    result.push_back(numbers[0]);
    run.context().monitor.progress(name, 1, 1, "");
    if (kind == methods.back()) result.insert(result.end(), {numbers[1], numbers[2]});
  }
  return result;
}

std::string order_of(double multi, double single, double hybrid) {
  std::vector<std::pair<double, std::string>> list = {
      {multi, "multi"}, {single, "single"}, {hybrid, "hybrid"}};
  std::sort(list.begin(), list.end());
  return list[0].second + " < " + list[1].second + " < " + list[2].second;
}

void show_table(Run& run, const std::vector<Row>& rows) {
  Table table({"data", "classes", "m", "multi", "paper", "single", "paper", "hybrid", "paper",
               "order (best first)", "paper's"});
  const auto cell = [](double v) { return v == 0 ? std::string("-") : fmt::format("{:.2f}", v); };
  for (const Row& row : rows) {
    const auto r = measure(run, row, row.name, kMethods);
    const bool known = row.paper[0] > 0;
    table.add({row.name, fmt::format("{}", r[3]), fmt::format("{}", r[4]), cell(r[0]), cell(row.paper[0]),
               cell(r[1]), cell(row.paper[1]), cell(r[2]), cell(row.paper[2]), order_of(r[0], r[1], r[2]),
               known ? order_of(row.paper[0], row.paper[1], row.paper[2]) : "-"});
  }
  run.show(table, "sharing-table");
}

/// How much the figures depend on choices that the paper does not report: scaling, kernel width, order.
void show_sensitivity(Run& run) {
  Table table({"data", "change", "multi", "single", "hybrid"});
  constexpr std::array kThree = {Hypotheses::multi, Hypotheses::single, Hypotheses::hybrid};
  const auto add = [&](const std::string& data, const std::string& change, Row row) {
    const auto r = measure(run, row, data + " " + change, kThree);
    table.add({data, change, fmt::format("{:.2f}", r[0]), fmt::format("{:.2f}", r[1]),
               fmt::format("{:.2f}", r[2])});
  };
  add("YaleB", "grey values as they are", yale_row(yale_faces(run, Grey::as_is), true));
  add("YaleB", "grey values as they are, person after person", yale_row(yale_faces(run, Grey::as_is), false));
  add("YaleB", "square root", yale_row(yale_faces(run, Grey::square_root), true));
  add("YaleB", "log", yale_row(yale_faces(run, Grey::log), true));
  add("YaleB", "cube root, person after person", yale_row(yale_faces(run, Grey::cube_root), false));
  const Dataset raw = run.read("letter/letter.csv.gz", {});
  const Dataset letters = scaled(run, raw, ScalingKind::minmax);
  for (const double sigma : {0.035, 0.07, 0.14, 0.28}) {
    add("LETTER", fmt::format("sigma {}", sigma),
        {"", {}, kernel_options(sigma), [&](std::uint64_t) { return sharing_data(letters); }});
  }
  add("LETTER", "another order", {"", {}, kernel_options(kLetterSigma), [&](std::uint64_t seed) {
                                    return sharing_data(letters, shuffled(letters.rows(), seed));
                                  }});
  add("LETTER", "columns as they are (0 to 15)",
      {"", {}, kernel_options(0.07), [&](std::uint64_t) { return sharing_data(raw); }});
  const Dataset spoken = run.read("isolet/train.csv.gz", {});
  const auto isolet = [&](double sigma, bool unit) {
    SharingOptions options = kernel_options(sigma);
    options.unit = unit;
    return Row{"", {}, options, [&](std::uint64_t) { return sharing_data(spoken); }};
  };
  add("ISOLET", "sigma 0.08", isolet(0.08, true));
  add("ISOLET", "columns as they are, not of length 1", isolet(0.16, false));
  run.say("\nSensitivity:");
  run.show(table, "sharing-table-sensitivity");
}

}  // namespace

void sharing_table_experiment(Run& run) {
  run.say(
      "Table 1 of [Fink06]: online mistakes in per cent. Scaling where the paper is silent: ISOLET rows of "
      "length 1, LETTER columns to [-1, 1] and sigma 0.1, YaleB 60 principal components of variance 1 of the "
      "cube root of the grey values in random order (mean of 5). Text: binary words, frequency map (eq. 10). "
      "Enron's user folders and the Office images are not at hand.");
  show_table(run, table_rows(run));
  if (!run.settings().quick) show_sensitivity(run);
}

}  // namespace sharelearn::reproduce
