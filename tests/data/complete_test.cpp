#include "data/complete.hpp"

#include <gtest/gtest.h>

#include "run/ranks.hpp"
#include "run/thread_ranks.hpp"

namespace sharelearn {
namespace {

TEST(Complete, every_rank_has_the_rows_of_all) {
  for (const Index rows : {Index{1}, Index{1000}, Index{5000}, Index{70001}}) {
    for (const int ranks : {1, 2, 3, 5}) {
      ThreadRanks::run(ranks, [&](Collective& rank) {
        ThreadPool threads(1);
        threads.share_rows(&rank);
        Grid<double> values(rows, 3), store;
        std::vector<double> single(static_cast<std::size_t>(rows));
        for_each_row_block(rows, threads, [&](RowRange block, int) {
          for (Index i = block.begin; i < block.end; ++i) {
            for (Index c = 0; c < 3; ++c) values(i, c) = static_cast<double>(10 * i + c);
            single[static_cast<std::size_t>(i)] = static_cast<double>(i);
          }
        });
        const Grid<double>& whole = completed(values, store, threads);
        complete(single, threads);
        bool right = true;
        for (Index i = 0; i < rows; ++i) {
          for (Index c = 0; c < 3; ++c) right = right && whole(i, c) == static_cast<double>(10 * i + c);
          right = right && single[static_cast<std::size_t>(i)] == static_cast<double>(i);
        }
        EXPECT_TRUE(right);
      });
    }
  }
}

}  // namespace
}  // namespace sharelearn
