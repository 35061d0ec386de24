#include "solve/fista_burst.hpp"

#include <limits>

#include "solve/accelerated.hpp"

namespace sharelearn {
namespace {

/// The curvature of the loss that the first step assumes.
constexpr double kFirstCurvature = 0.05;

/// The interface that Accelerated requires. Unpenalised columns are ordinary rows with lambda 0; there is no
/// free part.
class ActiveRows {
 public:
  explicit ActiveRows(const FistaBurstProblem& problem)
      : problem_(problem), residual_(problem.loss.rows(), problem.loss.outputs()) {}

  std::size_t outputs() const { return static_cast<std::size_t>(problem_.loss.outputs()); }
  double lambda(std::size_t row) const { return problem_.lambda[row]; }
  const Penalty& penalty() const { return problem_.penalty; }
  double share(std::size_t) const { return 1; }
  ThreadPool& threads() const { return problem_.threads; }
  void scores(std::span<const double> weights, std::span<const double>, Grid<double>& out) const {
    out.fill(0);
    problem_.columns.add_product(weights, out, problem_.threads);
  }
  double gradient(const Grid<double>& scores, std::vector<double>& gradient, std::vector<double>&) {
    const double loss = evaluate(problem_.loss, scores, &residual_, problem_.threads);
    problem_.columns.transposed_product(residual_, gradient, problem_.threads);
    return loss;
  }
  double loss(const Grid<double>& scores) const {
    return evaluate(problem_.loss, scores, nullptr, problem_.threads);
  }

 private:
  const FistaBurstProblem& problem_;
  Grid<double> residual_;
};

}  // namespace

std::vector<double> fista_burst(const FistaBurstProblem& problem, int steps, std::span<const double> weights,
                                const Grid<double>& scores) {
  ActiveRows rows(problem);
  double curvature = kFirstCurvature;
  Accelerated run(rows, problem.columns.squares(problem.loss.weights(), problem.threads),
                  {{weights.begin(), weights.end()}, {}, scores}, curvature,
                  std::numeric_limits<double>::infinity());
  for (int step = 0; step < steps && run.step(); ++step) {
  }
  return run.point().weights;
}

}  // namespace sharelearn
