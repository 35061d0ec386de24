// Arrays with a number per row whose rows the ranks computed, made whole on every rank.
#pragma once

#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

/// Fills in the rows of other ranks. T is float or double.
template <class T>
void complete(Grid<T>& values, ThreadPool& threads);
/// `values` whole; `store` holds them if they had to be gathered.
const Grid<double>& completed(const Grid<double>& values, Grid<double>& store, ThreadPool& threads);
/// The same as complete() for one number per row.
void complete(std::vector<double>& values, ThreadPool& threads);

}  // namespace sharelearn
