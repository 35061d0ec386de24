// Trees over tasks for the tree-guided group lasso: as text, found by clustering, or random.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/data/multi_output.hpp"
#include "sharelearn/loss/joint_loss.hpp"
#include "sharelearn/penalty/tree_group.hpp"

namespace sharelearn {

/// One node per line, `node height child child ...`; children are output names or nodes of other lines, #
/// begins a comment. Outputs that the text does not name stand alone. Throws OptionError (`tree`) with the
/// number of the line, from 0, as its entry.
OutputTree parse_output_tree(const std::string& text, const std::vector<std::string>& outputs);

/// Agglomerative clustering with average linkage of the tasks' (or classes') signatures: the mean of their
/// positive rows minus that of their negative rows, at distance (1 - cosine) / 2. Heights are the merging
/// distances divided by the largest. Of equal distances the first pair merges first. O(d (m + k^2)), and 4
/// k^2 bytes, which are asked for first.
OutputTree clustered_tree(const MultiOutputData& data);

/// A balanced binary tree over a random order of the outputs; heights are equal steps from leaves to root.
OutputTree random_tree(Index outputs, std::uint64_t seed);
/// The same over the outputs in the given order.
OutputTree balanced_tree(const std::vector<Index>& order);

}  // namespace sharelearn
