// The papers' synthetic data sets. The same options give the same bytes on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sharelearn/data/dataset.hpp"

namespace sharelearn {

struct GenerateOptions {
  Index rows = 0;      ///< 0: the set's own number
  Index classes = 32;  ///< binary-code and blocks: a power of two
  Index blocks = 4;    ///< blocks: copies of the code
  double noise = 0.1;  ///< blocks: fraction of rows with one block zeroed
  std::uint64_t seed = 1;
  Index tasks = 100;     ///< task-tree: tasks
  Index positives = 20;  ///< task-tree: positive rows a task, as many negative ones
  Index irrelevant = 0;  ///< task-tree: columns without meaning behind the tree's
};

struct Generator {
  std::string_view name;
  std::string_view summary;
  std::string_view options;  ///< those it has besides --rows and --seed, with commas
  Dataset (*make)(const GenerateOptions&);
};

/// Every set, in the order of the help.
std::span<const Generator> all_generators();

/// The set with that name. Throws InputError.
Dataset generate(const std::string& name, const GenerateOptions& options);

}  // namespace sharelearn
