// What `sharing` learns ([Fink06]): class statistics, the weights of every set of classes or the supports of
// its kernels, and everything needed to go on learning: a model file is a checkpoint, too.
//
//   score of class r (eq. 7)   h(x, r) = sum over sets tau that hold r of <w^tau, phi^tau(x, r)>
//     own set of r             phi = x
//     common set, groups       phi = map(x, p^r), p^r the mean of the examples of r (eq. 9)
//   with a kernel              <.,.> becomes K on x (own sets) or on x - p^r (shared sets, eq. 11)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sharelearn/data/feature_numbering.hpp"
#include "sharelearn/model/class_sets.hpp"
#include "sharelearn/model/class_table.hpp"
#include "sharelearn/model/feature_map.hpp"
#include "sharelearn/model/model.hpp"
#include "sharelearn/model/support_store.hpp"
#include "sharelearn/transform/scaling.hpp"

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
enum class UpdateRule { perceptron, passive_aggressive };
Prototype prototype_from(std::string_view name);
UpdateRule update_from(std::string_view name);

struct SharingOptions {
  Hypotheses hypotheses = Hypotheses::multi;
  FeatureMap map;
  Prototype prototype = Prototype::mean;
  Kernel kernel;
  Index budget = 0;  ///< most mistakes kept as supports; the oldest is forgotten first; 0: all are kept
  UpdateRule update = UpdateRule::perceptron;
  double aggressiveness = 1;  ///< passive-aggressive: largest step
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

/// One mistake (or margin error) kept for the kernels.
struct SupportEntry {
  std::uint32_t right = 0;  ///< class of the example
  std::uint32_t wrong = 0;  ///< class that was predicted
  double step = 1;          ///< 1, or the passive-aggressive step
  double born = 0;          ///< examples seen before it
};

/// Learned sharing: what the shared set did for a class.
struct SetVotes {
  double trials = 0;
  double helped = 0;  ///< right, where the own set alone would have been wrong
  double harmed = 0;  ///< wrong, where the own set alone would have been right
};

class SharingModel : public Model {
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
  SharingWeights weighted;             ///< sum over updates of (examples before it) * update; for averages
  Index feature_count = 0;             ///< ids seen are below this
  std::vector<SupportEntry> supports;  ///< kernels: slot by slot
  SupportStore<float> plain;           ///< x of each support
  SupportStore<double> centred;        ///< x - p^right and x - p^wrong of each support: slots 2j, 2j + 1
  Index next_slot = 0;                 ///< where the next support goes under a budget
  Index examples = 0;
  Index mistakes = 0;
  Index first_occurrences = 0;
  Index updates = 0;
  Index lines = 0;              ///< lines (or rows) consumed from the input
  std::vector<SetVotes> votes;  ///< learned sharing: of each class
  // preprocessing.columns is 0 where its rows were sparse; preprocessing.names is empty where there are no
  // names, or `features` finds them.

  SharingModel() = default;
  SharingModel(const SharingOptions& chosen, ClassSets collection, FeatureNumbering ids);

  Index class_count() const { return static_cast<Index>(classes.size()); }
  /// The class of that name, or -1.
  Index find_class(const std::string& name) const;
  /// Numbers are given in order of appearance.
  Index add_class(std::string_view name);
  /// p_i^r; 0 where nothing was seen.
  double mean(Index feature, Index cls) const {
    return sums.value(feature, cls) / divisor[static_cast<std::size_t>(cls)];
  }
  bool uses_kernel() const { return options.kernel.kind != KernelKind::none; }
  /// Statistics are kept only where a shared set uses them.
  bool needs_statistics() const { return sets.any_shared(); }
  bool keeps_plain_supports() const { return uses_kernel() && sets.kind() != Hypotheses::single; }
  bool keeps_centred_supports() const { return uses_kernel() && sets.any_shared(); }

  std::string_view kind() const override { return "sharing"; }
  OutputKind outputs_are() const override { return OutputKind::classes; }
  const std::vector<std::string>& output_names() const override { return classes; }
  /// Sparse rows may have any number of columns, unless they are scaled.
  void check_columns(const Dataset& data) const override;
  Index features_used() const override;
  std::string describe() const override;
  nlohmann::json to_json(bool all_stages = false) const override;
  std::string payload() const override;
  static ModelPtr read(std::string_view payload, const std::string& path);

 protected:
  Grid<double> prepared_scores(const Dataset& data, ThreadPool& threads) const override;

 private:
  std::vector<std::uint32_t> ids_of_columns(const Dataset& data) const;
  void read_classes(ByteReader& in);
  void read_hypotheses(ByteReader& in);
  void read_progress(ByteReader& in);
  void read_columns(ByteReader& in);
  void bound_features();
  void check(const ByteReader& in) const;
  void check_supports(const ByteReader& in) const;

  std::unordered_map<std::string, Index> class_of_name_;
};

/// Builds an example from columns of a data set or a stream: ids, scaling, binary values, bias.
class ExampleBuilder {
 public:
  void clear(const SharingModel& model);
  /// The example whole: entries of one id (hashed features may meet) add up, the length becomes 1 if asked
  /// for.
  void finish(const SharingModel& model);
  /// Adds column `id` (of model.features) with its value as read.
  void add(const SharingModel& model, std::uint32_t id, float value) {
    if (model.options.binary && value != 0) value = 1;
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
  std::span<const double> operator()(const SharingModel& model, const ExampleView& x, bool averaged = false);
  /// What shared sets gave to a class in the last call.
  double shared_part(Index cls) const { return shared_[static_cast<std::size_t>(cls)] + base_; }

 private:
  void prepare(const SharingModel& model);
  void add_own(const SharingModel& model, const SharingWeights& weights, const ExampleView& x);
  void add_shared(const SharingModel& model, const SharingWeights& weights, const ExampleView& x);
  void add_shared_feature(const SharingModel& model, const SharingWeights& weights, Index feature, double x);
  void add_grouped_feature(const SharingModel& model, ClassTable::RowView groups, double common,
                           Index feature, double x);
  void flush_own();
  void flush_shared(const SharingModel& model);
  void add_kernels(const SharingModel& model, const ExampleView& x, bool averaged);
  void add_own_kernel(const SharingModel& model, const std::vector<double>& step);
  void add_shared_kernel(const SharingModel& model, const std::vector<double>& step);
  void densify(const SharingModel& model, const ExampleView& x);

  Index width_ = 0;  ///< classes, padded
  AlignedVector<double> own_, shared_, expanded_, class_weight_;
  double base_ = 0;  ///< what every class gets from rows that name few classes
  std::vector<const double*> rows_;
  std::vector<double> value_, weight_;
  std::vector<double> dense_, centred_, kernel_, result_;
};

/// The lowest class of the highest score; -1 if there is none.
Index best_class(std::span<const double> scores);
/// Throws InputError if a score is not finite: weights or a kernel have outgrown the numbers. `example`
/// counts from 1.
void require_finite(std::span<const double> scores, Index example);

}  // namespace sharelearn
