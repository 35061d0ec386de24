#include "sharelearn/loss/multiclass_hinge.hpp"

#include <algorithm>
#include <utility>

#include "data/to_size.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// q = 1 on the largest positive margin, 0 elsewhere: the subgradient of the hinge itself.
double hinge_choice(std::vector<double>& margins) {
  const auto top = std::max_element(margins.begin(), margins.end());
  const double value = std::max(*top, 0.0);
  const auto chosen = top - margins.begin();
  std::fill(margins.begin(), margins.end(), 0.0);
  if (value > 0) margins[static_cast<std::size_t>(chosen)] = 1;
  return value;
}

/// margins / mu, the input of the projection. Where margins are far above mu, the shift that the projection
/// subtracts would cancel all digits of their differences. A common shift changes nothing as long as one
/// value stays above 1, so there it is subtracted before the division.
void divide_by_smoothing(std::vector<double>& margins, double smoothing) {
  constexpr double kFar = 1e6;
  const double top = *std::max_element(margins.begin(), margins.end());
  const bool is_far = top > kFar * smoothing;
  for (double& margin : margins) margin = is_far ? (margin - top) / smoothing + 2 : margin / smoothing;
}

/// Rows that are copied together: a cache line of each class.
constexpr Index kRowsTogether = 8;

struct RowHinge {
  double value;
  double mass;  // the sum of q
};

/// The loss of one row with class y; q becomes the weights of the other classes' margins.
RowHinge row_hinge(std::span<const double> scores, std::size_t y, double smoothing, std::vector<double>& q) {
  const double true_score = scores[y];
  for (std::size_t c = 0; c < q.size(); ++c) q[c] = 1 + scores[c] - true_score;
  q[y] = 0;  // never chosen: a margin of 0 adds nothing to value or residual
  if (smoothing == 0) {
    const double value = hinge_choice(q);
    return {value, value > 0 ? 1.0 : 0.0};
  }
  divide_by_smoothing(q, smoothing);
  project_onto_capped_simplex(q);
  RowHinge hinge{0, 0};
  for (std::size_t c = 0; c < q.size(); ++c) {
    if (q[c] > 0) {
      hinge.value += q[c] * (1 + scores[c] - true_score - 0.5 * smoothing * q[c]);
      hinge.mass += q[c];
    }
  }
  return hinge;
}

}  // namespace

bool project_onto_capped_simplex(std::span<double> q) {
  double sum = 0;
  for (double& value : q) {
    value = std::max(value, 0.0);
    sum += value;
  }
  if (sum <= 1) return false;
  // Michelot: shift by tau = (sum over the active set - 1) / its size and drop the values below it, until
  // none is.
  double tau = (sum - 1) / static_cast<double>(q.size());
  for (;;) {
    double active_sum = 0;
    std::size_t active = 0;
    for (const double value : q) {
      if (value > tau) active_sum += value, ++active;
    }
    const double next = (active_sum - 1) / static_cast<double>(active);
    if (!(next > tau)) break;
    tau = next;
  }
  for (double& value : q) value = std::max(value - tau, 0.0);
  return true;
}

MulticlassHinge::MulticlassHinge(std::vector<std::int32_t> label, Index classes, std::vector<double> weights,
                                 double smoothing)
    : label_(std::move(label)), classes_(classes), weights_(std::move(weights)), smoothing_(smoothing) {
  if (!(smoothing >= 0)) throw InputError("the smoothing of the hinge must be 0 or positive");
}

double MulticlassHinge::block(RowRange rows, const Grid<double>& scores, Grid<double>* residual) const {
  const std::size_t k = to_size(classes_);
  std::vector<double> tile(to_size(kRowsTogether) * k), q(k);
  double total = 0;
  for (Index begin = rows.begin; begin < rows.end; begin += kRowsTogether) {
    const Index count = std::min(kRowsTogether, rows.end - begin);
    for (Index c = 0; c < classes_; ++c) {
      for (Index r = 0; r < count; ++r) tile[to_size(r) * k + to_size(c)] = scores(begin + r, c);
    }
    for (Index r = 0; r < count; ++r) {
      const std::span<double> row = std::span(tile).subspan(to_size(r) * k, k);
      const auto y = to_size(label_[to_size(begin + r)]);
      const double weight = weights_[to_size(begin + r)];
      const RowHinge hinge = row_hinge(row, y, smoothing_, q);
      total += weight * hinge.value;
      if (residual == nullptr) continue;
      for (std::size_t c = 0; c < k; ++c) row[c] = weight * q[c];
      row[y] = -weight * hinge.mass;
    }
    if (residual == nullptr) continue;
    for (Index c = 0; c < classes_; ++c) {
      for (Index r = 0; r < count; ++r) (*residual)(begin + r, c) = tile[to_size(r) * k + to_size(c)];
    }
  }
  return total;
}

void MulticlassHinge::curvature(RowRange rows, const Grid<double>& scores, Grid<double>& out) const {
  std::vector<double> q(to_size(classes_));
  for (Index i = rows.begin; i < rows.end; ++i) {
    const Index y = label_[to_size(i)];
    for (Index c = 0; c < classes_; ++c) q[to_size(c)] = 1 + scores(i, c) - scores(i, y);
    q[to_size(y)] = 0;
    divide_by_smoothing(q, smoothing_);
    const bool held = project_onto_capped_simplex(q);
    const auto support =
        static_cast<double>(std::count_if(q.begin(), q.end(), [](double p) { return p > 0; }));
    const double scale = weights_[to_size(i)] / smoothing_;
    for (Index c = 0; c < classes_; ++c) {
      out(i, c) = q[to_size(c)] > 0 ? scale * (held ? 1 - 1 / support : 1) : 0;
    }
    out(i, y) = held ? 0 : scale * support;
  }
}

}  // namespace sharelearn
