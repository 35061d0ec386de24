#include "solve/newton_start.hpp"

#include <algorithm>
#include <limits>

#include "data/to_size.hpp"
#include "sharelearn/loss/offset_loss.hpp"
#include "sharelearn/run/error.hpp"
#include "solve/active_set.hpp"

namespace sharelearn {

namespace {

/// Floats of all Gram matrices together.
constexpr double kMostGramFloats = 6.4e7;
/// The problem on the working set is solved to this fraction of the whole problem's tolerance.
constexpr double kInnerShare = 0.3;
constexpr int kMostRounds = 30;
/// Columns that enter at once, at least.
constexpr std::size_t kLeastRoom = 64;

/// Grows a working set of columns and solves on it.
class ModelApproach {
 public:
  ModelApproach(const CompositeProblem& problem, const Loss& loss, Context& context)
      : problem_(problem),
        context_(context),
        all_(problem.design),
        solver_(loss, problem.penalty, problem.design.has_bias(), context.threads),
        slot_(to_size(problem.design.columns()), -1) {}

  Index run(double tolerance) {
    Index steps = solver_.minimise(std::numeric_limits<double>::max(), tolerance).steps;  // the bias alone
    try {
      for (int round = 0; round < kMostRounds && !context_.cancelled(); ++round) {
        if (!include_violators()) break;
        steps += solver_.minimise(problem_.strength, kInnerShare * tolerance).steps;
      }
    } catch (const Cancelled&) {  // the weights are those of the last whole step
    }
    return steps;
  }

  CompositePoint point() const {
    CompositePoint out = zero_point(problem_.design);
    for (std::size_t j = 0; j < slot_.size(); ++j) {
      if (slot_[j] < 0) continue;
      const auto row = solver_.row(slot_[j]);
      std::copy(row.begin(), row.end(), out.weights.begin() + static_cast<std::ptrdiff_t>(j * row.size()));
    }
    out.bias = solver_.bias();
    return out;
  }

 private:
  /// Adds the columns outside the set whose dual norms exceed the strength most; false if there are none.
  bool include_violators() {
    const Design& design = problem_.design;
    std::vector<double> gradient(to_size(design.columns() * design.outputs()));
    all_.gradient(solver_.residual(), gradient, context_.threads);
    std::vector<std::pair<double, Index>> asking;
    for (Index j = 0; j < design.columns(); ++j) {
      if (slot_[to_size(j)] >= 0) continue;
      const double norm =
          problem_.penalty.dual_norm({gradient.data() + j * design.outputs(), to_size(design.outputs())});
      if (norm > problem_.strength) asking.emplace_back(-norm, j);
    }
    std::sort(asking.begin(), asking.end());
    asking.resize(std::min(asking.size(), std::max(kLeastRoom, to_size(solver_.size()))));
    for (const auto& [norm, j] : asking) slot_[to_size(j)] = add(j);
    return !asking.empty();
  }

  Index add(Index j) {
    const Matrix& x = problem_.design.matrix();
    if (x.is_sparse()) return solver_.add(x.sparse().column_rows(j), x.sparse().column_values(j));
    return solver_.add(x.dense().column(j));
  }

  const CompositeProblem& problem_;
  Context& context_;
  ActiveColumns all_;
  ActiveSetSolver solver_;
  std::vector<Index> slot_;  ///< column -> its slot in the solver, or -1
};

}  // namespace

bool models_pay(const CompositeProblem& problem) {
  const auto columns = static_cast<double>(problem.design.columns());
  return !problem.design.own_rows() && problem.strength > 0 &&
         columns * columns * static_cast<double>(problem.design.outputs()) <= kMostGramFloats;
}

Index approach_by_models(const CompositeProblem& problem, CompositePoint& point, double tolerance,
                         Context& context) {
  const Grid<double> none(problem.design.rows(), problem.design.score_columns());
  const OffsetLoss loss(problem.loss, problem.offset != nullptr ? *problem.offset : none);
  ModelApproach approach(problem, loss, context);
  const Index steps = approach.run(tolerance);
  point = approach.point();
  return steps;
}

}  // namespace sharelearn
