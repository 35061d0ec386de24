// The columns of the candidates chosen so far: dense columns, or groups of local ones if the pool's
// candidates share their columns.
#pragma once

#include <algorithm>
#include <optional>

#include "sharelearn/pool/pool.hpp"
#include "solve/design_problem.hpp"

namespace sharelearn {

class ChosenColumns {
 public:
  /// No columns yet; reserves room for dense columns of `candidates` candidates.
  explicit ChosenColumns(const Pool& pool, Index candidates = 0) : pool_(pool), dense_(pool.rows(), 0) {
    const SharedRows shared = pool.shared_rows();
    if (shared.data) {
      local_.emplace(shared.data, shared.stride, pool.rows(), pool.width());
    } else {
      dense_.reserve_columns(candidates * pool.width());
    }
  }

  Index columns() const { return local_ ? local_->columns() : dense_.cols(); }

  void include(Index candidate) {
    if (local_) return local_->add_group(pool_.rows_inside(candidate));
    const Index column = dense_.cols();
    dense_.append_columns(pool_.width());
    pool_.values(candidate, dense_, column);
  }

  /// Removes the candidate at `position`; the last candidate takes its place.
  void drop(Index position) {
    if (local_) return local_->drop_group(position);
    const Index width = pool_.width(), last = dense_.cols() - width;
    for (Index c = 0; c < width && position * width < last; ++c) {
      std::ranges::copy(dense_.column_span(last + c), dense_.column(position * width + c));
    }
    dense_.drop_columns(width);
  }

  /// An empty set of columns of the same pool.
  ChosenColumns none() const {
    return {pool_, local_ ? std::optional(local_->without_groups()) : std::nullopt};
  }

  DesignProblem problem(const Loss& loss, bool bias, const SmoothPenalty& penalty,
                        ThreadPool& threads) const {
    if (local_) return {*local_, loss, bias, penalty, threads};
    return {dense_, dense_.cols(), loss, bias, penalty, threads};
  }

 private:
  ChosenColumns(const Pool& pool, std::optional<LocalColumns> local)
      : pool_(pool), dense_(pool.rows(), 0), local_(std::move(local)) {}

  const Pool& pool_;
  Grid<float> dense_;
  std::optional<LocalColumns> local_;
};

}  // namespace sharelearn
