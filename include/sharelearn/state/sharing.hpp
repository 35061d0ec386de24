// What `sharing` learns ([Fink06]): class statistics, the weights of every set of classes or the supports of
// its kernels, and everything needed to go on learning. learn/sharing.hpp changes it, model/sharing_model.hpp
// stores it and predicts with it.
//
//   score of class r (eq. 7)   h(x, r) = sum over sets tau that hold r of <w^tau, phi^tau(x, r)>
//     own set of r             phi = x
//     common set, groups       phi = map(x, p^r), p^r the mean of the examples of r (eq. 9)
//   with a kernel              <.,.> becomes K on x (own sets) or on x - p^r (shared sets, eq. 11)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sharelearn/data/feature_numbering.hpp"
#include "sharelearn/state/class_sets.hpp"
#include "sharelearn/state/class_table.hpp"
#include "sharelearn/state/feature_map.hpp"
#include "sharelearn/state/support_store.hpp"

namespace sharelearn {

/// One example as the learner sees it: feature ids, each once, with values other than 0.
struct ExampleView {
  std::span<const std::uint32_t> feature;
  std::span<const float> value;
  std::size_t size() const { return feature.size(); }
};

enum class Prototype {
  mean,  ///< p^r is the mean of the earlier examples of r (eq. 9)
  first  ///< p^r is the first example of r (eq. 4 as printed)
};
enum class UpdateRule { perceptron, passive_aggressive, adagrad };
Prototype prototype_from(std::string_view name);
UpdateRule update_from(std::string_view name);

struct SharingOptions {
  Hypotheses hypotheses = Hypotheses::multi;
  FeatureMap map;
  Prototype prototype = Prototype::mean;
  Kernel kernel;
  Index budget = 0;  ///< most mistakes kept as supports; the oldest is forgotten first; 0: all are kept
  UpdateRule update = UpdateRule::perceptron;
  double aggressiveness = 1;  ///< passive-aggressive: largest step; adagrad: step size
  bool average = false;       ///< predictions after learning use the mean of the weights over all examples
  bool binary = false;        ///< every value other than 0 counts as 1
  bool unit = false;          ///< every example is brought to length 1
  bool operator==(const SharingOptions&) const = default;
};

/// Weights of all sets, or sums of them over time.
struct SharingWeights {
  ClassTable own;              ///< feature x class: w of each class's own set
  std::vector<double> common;  ///< feature: w of the set of all classes
  ClassTable group;            ///< feature x group
  void write(ByteWriter& out) const;
  static SharingWeights read(ByteReader& in, Index classes, Index groups);
};

/// What adaptive steps (UpdateRule::adagrad) remember.
struct AdaptiveSteps {
  SharingWeights squares;     ///< of each weight: sum of its squared gradients
  std::vector<double> scale;  ///< of each feature: its largest magnitude so far
  double spread = 0;          ///< sum over examples of sum_i (x_i / scale_i)^2
};

/// One mistake (or margin error) kept for the kernels.
struct SupportEntry {
  std::uint32_t right = 0;  ///< class of the example
  std::uint32_t wrong = 0;  ///< class that was predicted
  double step = 1;          ///< 1, or the passive-aggressive step
  double born = 0;          ///< examples seen before it
};

class SharingState {
 public:
  SharingOptions options;
  FeatureNumbering features;
  std::vector<std::string> classes;  ///< in order of first appearance
  ClassSets sets;
  AlignedVector<double> examples_of;  ///< examples of each class; padded
  AlignedVector<double> divisor;      ///< sums / divisor = p: examples_of, or 1 (Prototype::first); padded
  AlignedVector<double> inverse;      ///< 1 / divisor, rounded; padded
  ClassTable sums;                    ///< feature x class: sum of the class's examples (or its first)
  SharingWeights weights;
  SharingWeights weighted;  ///< sum over updates of (examples before it) * update; for averages
  AdaptiveSteps adaptive;
  Index feature_count = 0;             ///< ids seen are below this
  std::vector<SupportEntry> supports;  ///< kernels: slot by slot
  SupportStore<float> plain;           ///< x of each support
  SupportStore<double> centred;        ///< x - p^right and x - p^wrong of each support: slots 2j, 2j + 1
  Index next_slot = 0;                 ///< where the next support goes under a budget
  Index examples = 0;
  Index mistakes = 0;
  Index first_occurrences = 0;
  Index updates = 0;
  Index lines = 0;  ///< lines (or rows) consumed from the input

  SharingState() = default;
  SharingState(const SharingOptions& chosen, ClassSets collection, FeatureNumbering ids);

  Index class_count() const { return static_cast<Index>(classes.size()); }
  /// The class of that name, or -1.
  Index find_class(const std::string& name) const;
  /// Numbers are given in order of appearance.
  Index add_class(std::string_view name);
  /// p_i^r; 0 where nothing was seen.
  double mean(Index feature, Index cls) const {
    return sums.value(feature, cls) / divisor[static_cast<std::size_t>(cls)];
  }
  bool adapts() const { return options.update == UpdateRule::adagrad; }
  bool uses_kernel() const { return options.kernel.kind != KernelKind::none; }
  /// Statistics are kept only where a shared set uses them.
  bool needs_statistics() const { return sets.any_shared(); }
  bool keeps_plain_supports() const { return uses_kernel() && sets.kind() != Hypotheses::single; }
  bool keeps_centred_supports() const { return uses_kernel() && sets.any_shared(); }

 private:
  std::unordered_map<std::string, Index> class_of_name_;
};

/// Builds an example from columns of a data set or a stream: ids, scaling, binary values, bias.
class ExampleBuilder {
 public:
  void clear(const SharingState& state);
  /// The example whole: entries of one id (hashed features may meet) add up, the length becomes 1 if asked
  /// for.
  void finish(const SharingState& state);
  /// Adds column `id` (of state.features) with its value as read.
  void add(const SharingState& state, std::uint32_t id, float value) {
    if (state.options.binary && value != 0) value = 1;
    if (value == 0 || id == FeatureNumbering::kNone) return;
    feature_.push_back(id);
    value_.push_back(value);
  }
  ExampleView view() const { return {feature_, value_}; }

 private:
  void merge();
  std::vector<std::uint32_t> feature_;
  std::vector<float> value_;
};

/// Computes scores; holds the buffers, so that one example costs no allocation.
class SharingScorer {
 public:
  /// h(x, r) for every class seen. `averaged`: with the mean weights. The span lives until the next call.
  std::span<const double> operator()(const SharingState& state, const ExampleView& x, bool averaged = false);

 private:
  void prepare(const SharingState& state);
  void add_own(const SharingState& state, const SharingWeights& weights, const ExampleView& x);
  void add_shared(const SharingState& state, const SharingWeights& weights, const ExampleView& x);
  void add_shared_feature(const SharingState& state, const SharingWeights& weights, Index feature, double x);
  void add_grouped_feature(const SharingState& state, ClassTable::RowView groups, double common,
                           Index feature, double x);
  void make_room(std::size_t rows);
  void flush_own();
  void flush_shared(const SharingState& state);
  void add_kernels(const SharingState& state, const ExampleView& x, bool averaged);
  void add_own_kernel(const SharingState& state, const std::vector<double>& step);
  void add_shared_kernel(const SharingState& state, const std::vector<double>& step);
  void densify(const SharingState& state, const ExampleView& x);

  Index width_ = 0;  ///< classes, padded
  AlignedVector<double> own_, shared_, expanded_, class_weight_;
  double base_ = 0;                     ///< what every class gets from rows that name few classes
  std::vector<const double*> rows_;     ///< the first `pending_` are to be added
  std::vector<double> value_, weight_;  ///< of these rows
  std::size_t pending_ = 0;
  std::vector<double> dense_, centred_, kernel_, result_;
};

/// The lowest class of the highest score; -1 if there is none.
Index best_class(std::span<const double> scores);
/// Throws InputError if a score is not finite: weights or a kernel have outgrown the numbers. `example`
/// counts from 1.
void require_finite(std::span<const double> scores, Index example);

}  // namespace sharelearn
