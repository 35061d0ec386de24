// [ShareBoost11], section 6: two sets that show when features can be shared. [Fink06], sections 2 and 3:
// three sets whose classes depend on common, disjoint, and mixed components.
#include "generate/generate.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>

#include "generate/task_tree.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// Sets the class of each row; classes are numbers.
class LabelWriter {
 public:
  explicit LabelWriter(LabelColumn& labels) : labels_(labels) {}
  void add(Index label) {
    const auto place = static_cast<std::size_t>(label);
    if (place >= id_of_.size()) id_of_.resize(place + 1, -1);
    if (id_of_[place] < 0) {
      id_of_[place] = static_cast<std::int32_t>(labels_.names.size());
      labels_.names.push_back(std::to_string(label));
    }
    labels_.id.push_back(id_of_[place]);
  }

 private:
  LabelColumn& labels_;
  std::vector<std::int32_t> id_of_;
};

/// The code length, log2 k.
Index code_length(const GenerateOptions& options) {
  const auto classes = static_cast<std::uint64_t>(options.classes);
  if (options.classes < 2 || !std::has_single_bit(classes)) {
    throw InputError(fmt::format("`classes` must be a power of two from 2 on, found {}", options.classes));
  }
  return static_cast<Index>(std::bit_width(classes)) - 1;
}

/// Bit `place` (0: the highest) of `number`, as -1 or +1.
float code_bit(Index number, Index place, Index length) {
  return (number >> (length - 1 - place) & 1) != 0 ? 1.0F : -1.0F;
}

/// x = [bin(y), 2 log2(k) e^y], y = 1..k in turn; bin(k) is defined as bin(0).
Dataset binary_code(const GenerateOptions& options) {
  const Index length = code_length(options);
  const Index rows = options.rows > 0 ? options.rows : options.classes;
  Dataset data;
  DenseMatrix x(rows, length + options.classes);
  LabelWriter labels(data.label);
  for (Index i = 0; i < rows; ++i) {
    const Index y = i % options.classes + 1;
    for (Index b = 0; b < length; ++b) x(i, b) = code_bit(y, b, length);
    x(i, length + y - 1) = 2 * static_cast<float>(length);
    labels.add(y);
  }
  data.x = std::move(x);
  return data;
}

/// Every block of x is bin(y). In a random fraction of the rows one block is set to zero.
Dataset blocks(const GenerateOptions& options) {
  const Index length = code_length(options);
  if (options.blocks < 1)
    throw InputError(fmt::format("`blocks` must be at least 1, found {}", options.blocks));
  if (!(options.noise >= 0 && options.noise <= 1)) {
    throw InputError(fmt::format("`noise` must be between 0 and 1, found {}", options.noise));
  }
  const Index rows = options.rows > 0 ? options.rows : 20 * options.classes;
  Random random(options.seed);
  Dataset data;
  DenseMatrix x(rows, options.blocks * length);
  LabelWriter labels(data.label);
  for (Index i = 0; i < rows; ++i) {
    const Index y = i % options.classes + 1;
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = code_bit(y, j % length, length);
    labels.add(y);
  }
  const auto noisy = static_cast<Index>(options.noise * static_cast<double>(rows) + 0.5);
  for (const Index i : random.sample(rows, noisy)) {
    const Index block = random.below(options.blocks);
    for (Index b = 0; b < length; ++b) x(i, block * length + b) = 0;
  }
  data.x = std::move(x);
  return data;
}

constexpr Index kSharingRows = 8000;
constexpr Index kSharingColumns = 64;
constexpr Index kSharingClasses = 16;
constexpr Index kNibble = 4;

using SharingRow = std::array<float, kSharingColumns>;

void set_nibble(SharingRow& row, Index nibble, Index number) {
  for (Index b = 0; b < kNibble; ++b)
    row[static_cast<std::size_t>(nibble * kNibble + b)] = code_bit(number, b, kNibble);
}

/// [Fink06]: `draw` fills a row and returns its class.
template <class Draw>
Dataset sharing_set(const GenerateOptions& options, const Draw& draw) {
  const Index rows = options.rows > 0 ? options.rows : kSharingRows;
  Random random(options.seed);
  Dataset data;
  DenseMatrix x(rows, kSharingColumns);
  LabelWriter labels(data.label);
  SharingRow row;
  for (Index i = 0; i < rows; ++i) {
    for (float& value : row) value = random.coin() ? 1.0F : -1.0F;
    labels.add(draw(random, row));
    for (Index j = 0; j < kSharingColumns; ++j) x(i, j) = row[static_cast<std::size_t>(j)];
  }
  data.x = std::move(x);
  return data;
}

/// The class is the binary number (x1, x2, x3, x4).
Dataset sharing_common(const GenerateOptions& options) {
  return sharing_set(options, [](Random& random, SharingRow& row) {
    const Index label = random.below(kSharingClasses);
    set_nibble(row, 0, label);
    return label;
  });
}

/// The class is the only r with x_{4r+1} = ... = x_{4r+4} = 1; no other group of four is all 1.
Dataset sharing_disjoint(const GenerateOptions& options) {
  return sharing_set(options, [](Random& random, SharingRow& row) {
    const Index label = random.below(kSharingClasses);
    for (Index r = 0; r < kSharingClasses; ++r) {
      set_nibble(row, r, r == label ? kSharingClasses - 1 : random.below(kSharingClasses - 1));
    }
    return label;
  });
}

/// Class 15 has x61, ..., x64 all 1. Classes 0 to 14 are the binary number (x1, ..., x4) and never have all
/// of x61, ..., x64 equal to 1.
Dataset sharing_mixed(const GenerateOptions& options) {
  return sharing_set(options, [](Random& random, SharingRow& row) {
    constexpr Index last = kSharingClasses - 1;
    const Index label = random.below(kSharingClasses);
    if (label < last) set_nibble(row, 0, label);
    set_nibble(row, kSharingClasses - 1, label == last ? last : random.below(last));
    return label;
  });
}

Dataset tree_of_tasks(const GenerateOptions& options) {
  if (options.tasks < 1) throw InputError(fmt::format("`tasks` must be at least 1, found {}", options.tasks));
  if (options.rows % (2 * options.tasks) != 0) {
    throw InputError(
        fmt::format("`rows` must be a multiple of {}, a positive and a negative row of each task, found {}",
                    2 * options.tasks, options.rows));
  }
  const Index positives = options.rows > 0 ? options.rows / (2 * options.tasks) : options.positives;
  return task_tree({.tasks = options.tasks,
                    .positives = positives,
                    .irrelevant = options.irrelevant,
                    .seed = options.seed});
}

constexpr std::array<Generator, 6> kGenerators = {{
    {"binary-code",
     "log2(k) columns hold the binary code of the class and suffice; k more hold one class each", "`classes`",
     binary_code},
    {"blocks", "the binary code of the class, repeated in blocks; in some rows one block is zero",
     "`classes`, `blocks`, `noise`", blocks},
    {"sharing-common", "16 classes that the same 4 of 64 columns tell apart", "", sharing_common},
    {"sharing-disjoint", "16 classes, each recognised by 4 columns of its own", "", sharing_disjoint},
    {"sharing-mixed", "15 classes that the same 4 columns tell apart, and one recognised by 4 others", "",
     sharing_mixed},
    {"task-tree", "yes/no tasks, each with its own rows; tasks that are close in a tree share columns",
     "`tasks`, `positives`, `irrelevant`", tree_of_tasks},
}};

}  // namespace

std::span<const Generator> all_generators() {
  return kGenerators;
}

Dataset generate(const std::string& name, const GenerateOptions& options) {
  if (options.rows < 0) throw InputError(fmt::format("`rows` must be at least 1, found {}", options.rows));
  std::string known;
  for (const Generator& generator : kGenerators) {
    if (generator.name == name) {
      Dataset data = generator.make(options);
      data.source = name;
      return data;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", generator.name);
  }
  throw InputError(fmt::format("there is no data set '{}' to generate; expected one of {}", name, known));
}

}  // namespace sharelearn
