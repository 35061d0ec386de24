#include "fit/baseline.hpp"

#include <algorithm>
#include <cmath>

namespace sharelearn {
namespace {

double weight_at(const Dataset& rows, std::size_t row) {
  return rows.weight.empty() ? 1.0 : rows.weight[row];
}

double class_baseline(const Model& model, const Dataset& train, const Dataset& rows) {
  std::vector<double> frequency(model.output_names().size(), 0.0);
  const std::vector<std::int32_t> known = classes_of(train, model.output_names()).of_row;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] >= 0) frequency[static_cast<std::size_t>(known[i])] += weight_at(train, i);
  }
  const auto most = std::ranges::max_element(frequency) - frequency.begin();
  const std::vector<std::int32_t> truth = classes_of(rows, model.output_names()).of_row;
  double wrong = 0, total = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    total += weight_at(rows, i);
    if (truth[i] != most) wrong += weight_at(rows, i);
  }
  return wrong / total;
}

double value_baseline(const Dataset& train, const Dataset& rows) {
  const std::vector<double> known = values_of(train), truth = values_of(rows);
  double sum = 0, total = 0, squares = 0, tested = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    sum += weight_at(train, i) * known[i];
    total += weight_at(train, i);
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    squares += weight_at(rows, i) * (truth[i] - sum / total) * (truth[i] - sum / total);
    tested += weight_at(rows, i);
  }
  return std::sqrt(squares / tested);
}

}  // namespace

std::optional<double> baseline_error(const Model& model, const Dataset& train, const Dataset& rows) {
  if (rows.label.empty() || train.label.empty() || rows.rows() == 0) return std::nullopt;
  if (model.outputs_are() == OutputKind::classes) return class_baseline(model, train, rows);
  if (model.outputs_are() == OutputKind::value && model.output_names().size() == 1)
    return value_baseline(train, rows);
  return std::nullopt;
}

}  // namespace sharelearn
