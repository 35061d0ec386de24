// The papers' synthetic data sets. The same options give the same bytes on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct GenerateOptions {
  Index rows = 0;      ///< 0: the default number of the set
  Index classes = 32;  ///< binary-code and blocks: a power of two
  Index blocks = 4;    ///< blocks: copies of the code
  double noise = 0.1;  ///< blocks: fraction of rows with one block zeroed
  std::uint64_t seed = 1;
  Index tasks = 100;     ///< task-tree: tasks
  Index positives = 20;  ///< task-tree: positive rows per task; there are as many negative rows
  Index irrelevant = 0;  ///< task-tree: columns without information, after the columns of the tree
};

struct Generator {
  std::string_view name;
  std::string_view summary;
  std::string_view options;  ///< names of its options besides `rows` and `seed`, separated by commas
  Dataset (*make)(const GenerateOptions&);
};

/// All sets, in the order of the help.
std::span<const Generator> all_generators();

/// Generates the set with this name. Throws InputError.
Dataset generate(const std::string& name, const GenerateOptions& options);

}  // namespace sharelearn
