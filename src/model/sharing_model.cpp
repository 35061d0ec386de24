#include "sharelearn/model/sharing_model.hpp"

#include <algorithm>
#include <limits>

#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kMany = std::numeric_limits<Index>::max();

std::uint8_t read_choice(ByteReader& in, std::uint8_t highest) {
  const std::uint8_t value = in.u8();
  if (value > highest) in.damaged("an option has an unknown value");
  return value;
}

void write_options(ByteWriter& out, const SharingOptions& o) {
  out.u8(static_cast<std::uint8_t>(o.hypotheses));
  out.u8(static_cast<std::uint8_t>(o.map.kind));
  for (const double v : {o.map.high, o.map.low, o.map.high_value, o.map.low_value}) out.f64(v);
  out.u8(static_cast<std::uint8_t>(o.prototype));
  out.u8(static_cast<std::uint8_t>(o.kernel.kind));
  for (const double v : {o.kernel.sigma, o.kernel.degree, o.kernel.offset}) out.f64(v);
  out.index(o.budget);
  out.u8(static_cast<std::uint8_t>(o.update));
  out.f64(o.aggressiveness);
  out.u8(o.average);
  out.u8(o.binary);
  out.u8(o.unit);
}

SharingOptions read_options(ByteReader& in) {
  SharingOptions o;
  o.hypotheses = static_cast<Hypotheses>(read_choice(in, 5));
  o.map.kind = static_cast<MapKind>(read_choice(in, 2));
  for (double* v : {&o.map.high, &o.map.low, &o.map.high_value, &o.map.low_value}) *v = in.f64();
  o.prototype = static_cast<Prototype>(read_choice(in, 1));
  o.kernel.kind = static_cast<KernelKind>(read_choice(in, 2));
  for (double* v : {&o.kernel.sigma, &o.kernel.degree, &o.kernel.offset}) *v = in.f64();
  o.budget = in.index(0, kMany);
  o.update = static_cast<UpdateRule>(read_choice(in, 2));
  o.aggressiveness = in.f64();
  o.average = in.u8() != 0;
  o.binary = in.u8() != 0;
  o.unit = in.u8() != 0;
  return o;
}

void write_adaptive(ByteWriter& out, const AdaptiveSteps& adaptive) {
  adaptive.squares.write(out);
  out.doubles(adaptive.scale);
  out.f64(adaptive.spread);
}

void write_supports(ByteWriter& out, const std::vector<SupportEntry>& supports) {
  out.index(static_cast<Index>(supports.size()));
  for (const SupportEntry& s : supports) {
    out.u32(s.right);
    out.u32(s.wrong);
    out.f64(s.step);
    out.f64(s.born);
  }
}

std::vector<SupportEntry> read_supports(ByteReader& in, Index classes) {
  std::vector<SupportEntry> supports;
  const Index count = in.index(0, std::numeric_limits<std::uint32_t>::max());
  for (Index s = 0; s < count; ++s) {
    SupportEntry entry{in.u32(), in.u32(), in.f64(), in.f64()};
    if (entry.right >= classes || entry.wrong >= classes)
      in.damaged("a support names a class that is not there");
    supports.push_back(entry);
  }
  return supports;
}

}  // namespace

Index SharingModel::features_used() const {
  if (uses_kernel()) return feature_count;
  const Index common = std::ssize(weights.common);
  const Index known = std::max({common, weights.own.features(), weights.group.features()});
  Index used = 0;
  for (Index f = features.bias() ? 1 : 0; f < known; ++f) {  // the bias is no feature
    const bool shared = f < common && weights.common[static_cast<std::size_t>(f)] != 0;
    used += shared || weights.own.uses(f) || weights.group.uses(f) ? 1 : 0;
  }
  return used;
}

std::string SharingModel::payload() const {
  ByteWriter out;
  write_options(out, options);
  features.write(out);
  write_scaling(out, preprocessing.scaling);
  out.texts(classes);
  sets.write(out);
  const std::size_t count = classes.size();
  out.doubles({examples_of.data(), count});
  out.doubles({divisor.data(), count});
  sums.write(out);
  weights.write(out);
  weighted.write(out);
  write_supports(out, supports);
  plain.write(out);
  centred.write(out);
  for (const Index v : {feature_count, next_slot, examples, mistakes, first_occurrences, updates, lines})
    out.index(v);
  out.index(0);  // earlier versions, which learned sets, keep votes here
  if (adapts()) write_adaptive(out, adaptive);
  // Models of sparse rows alone end here. A table's names stay where sparse rows came after it.
  const Preprocessing& input = preprocessing;
  if (input.columns > 0 || !input.names.empty()) out.index(input.columns);
  if (!input.names.empty()) out.texts(input.names);
  return out.bytes();
}

ModelPtr SharingModel::read(std::string_view payload, const std::string& path) {
  ByteReader in(payload, path);
  const SharingOptions options = read_options(in);
  auto model =
      std::make_shared<SharingModel>(options, ClassSets(options.hypotheses), FeatureNumbering::read(in));
  model->preprocessing.scaling = read_scaling(in, -1);
  model->read_classes(in);
  model->read_hypotheses(in);
  model->read_progress(in);
  if (model->adapts()) model->read_adaptive(in);
  model->read_columns(in);
  in.expect_end();
  model->bound_features();
  model->check(in);
  model->check_supports(in);
  return model;
}

// What the parts of a file say of each other. Scoring and learning rely on it and do not check again.
void SharingModel::check(const ByteReader& in) const {
  if (options.hypotheses != sets.kind() || !sets.holds_exactly(classes)) {
    in.damaged("its class sets do not fit its classes");
  }
  const Kernel& kernel = options.kernel;
  if ((kernel.kind == KernelKind::gaussian && !(kernel.sigma > 0)) || !(options.aggressiveness > 0) ||
      (adapts() && (uses_kernel() || options.average))) {
    in.damaged("an option is out of bounds");
  }
  const Index most = std::max({sums.features(), weights.own.features(), weights.group.features(),
                               weighted.own.features(), weighted.group.features(), std::ssize(weights.common),
                               std::ssize(weighted.common), plain.dims(), centred.dims(),
                               adaptive.squares.own.features(), adaptive.squares.group.features(),
                               std::ssize(adaptive.squares.common), std::ssize(adaptive.scale)});
  if (static_cast<std::uint64_t>(most) > features.end()) in.damaged("it has weights of unknown features");
  if (std::max({mistakes, first_occurrences, updates}) > examples) in.damaged("its counts do not fit");
  const Preprocessing& input = preprocessing;
  if (!input.scaling.is_identity() && input.columns > 0 &&
      std::ssize(input.scaling.factor) != input.columns) {
    in.damaged("its scaling does not fit its columns");
  }
}

void SharingModel::read_classes(ByteReader& in) {
  const std::vector<std::string> names = in.texts();
  for (const std::string& name : names) {
    if (find_class(name) >= 0) in.damaged("two of its classes have one name");
    add_class(name);
  }
  sets = ClassSets::read(in);
  const std::vector<double> counts = in.doubles(), divisors = in.doubles();
  if (sets.classes() != class_count() || counts.size() != divisors.size() ||
      static_cast<Index>(counts.size()) != class_count()) {
    in.damaged("its lists of classes differ in length");
  }
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (!(divisors[r] > 0) || counts[r] < 0) in.damaged("a class has no examples");
    examples_of[r] = counts[r];
    divisor[r] = divisors[r];
    inverse[r] = 1 / divisors[r];
  }
}

void SharingModel::read_hypotheses(ByteReader& in) {
  const auto groups = static_cast<Index>(sets.groups().size());
  sums = ClassTable::read(in, class_count());
  weights = SharingWeights::read(in, class_count(), groups);
  weighted = SharingWeights::read(in, class_count(), groups);
  supports = read_supports(in, class_count());
  plain = SupportStore<float>::read(in);
  centred = SupportStore<double>::read(in);
}

void SharingModel::read_progress(ByteReader& in) {
  for (Index* v : {&feature_count, &next_slot, &examples, &mistakes, &first_occurrences, &updates, &lines}) {
    *v = in.index(0, kMany);
  }
  // Votes on sets that were learned, three numbers per class.
  for (Index left = 3 * in.index(0, class_count()); left > 0; --left) in.f64();
}

void SharingModel::read_adaptive(ByteReader& in) {
  adaptive.squares = SharingWeights::read(in, class_count(), std::ssize(sets.groups()));
  adaptive.scale = in.doubles();
  adaptive.spread = in.f64();
}

// Files of an older sharelearn end before the columns' number or before their names.
void SharingModel::read_columns(ByteReader& in) {
  if (in.at_end()) return;
  Preprocessing& input = preprocessing;
  input.columns = in.index(0, kMany);
  if (in.at_end()) return;
  input.names = in.texts();
  if (input.columns > 0 && std::ssize(input.names) != input.columns) {
    in.damaged("its column names do not fit");
  }
}

// Features beyond every table have met nothing that was kept.
void SharingModel::bound_features() {
  feature_count = std::min(
      feature_count, std::max({sums.features(), weights.own.features(), weights.group.features(),
                               static_cast<Index>(weights.common.size()), plain.dims(), centred.dims()}));
}

void SharingModel::check_supports(const ByteReader& in) const {
  const auto kept = static_cast<Index>(supports.size());
  const bool complete = (uses_kernel() || kept == 0) && plain.size() == (keeps_plain_supports() ? kept : 0) &&
                        centred.size() == (keeps_centred_supports() ? 2 * kept : 0);
  const bool full = options.budget > 0 && kept == options.budget;
  if (!complete || next_slot >= (full ? kept : 1) || (options.budget > 0 && kept > options.budget)) {
    in.damaged("its supports are incomplete");
  }
  for (const SupportEntry& support : supports) {
    if (!(support.born >= 0) || support.born > static_cast<double>(examples)) {
      in.damaged("a support is younger than the model");
    }
  }
  if (std::max(plain.dims(), centred.dims()) > feature_count) in.damaged("its supports are too long");
}

void SharingModel::check_columns(const Dataset& data) const {
  const bool any_number = columns() == 0 || data.columns() == columns();
  const bool unscaled = preprocessing.scaling.is_identity();
  const bool by_name = features.by_name() && !data.column_names.empty();
  if (any_number || (unscaled && (data.x.is_sparse() || by_name))) return;
  require_columns(data, columns(), "the model was trained on");
}

std::vector<std::uint32_t> SharingModel::ids_of_columns(const Dataset& data) const {
  std::vector<std::uint32_t> ids;
  for (Index j = 0; j < data.columns(); ++j) {
    const bool named = features.by_name() && !data.column_names.empty();
    ids.push_back(named ? features.find_name(data.column_names[static_cast<std::size_t>(j)])
                        : features.find_index(static_cast<std::uint64_t>(j)));
  }
  return ids;
}

Grid<double> SharingModel::prepared_scores(const Dataset& data, ThreadPool& threads) const {
  if (classes.empty()) throw InputError("the model has learned no class yet: it cannot predict");
  Matrix x = data.x;
  preprocessing.scaling.apply(x, threads);
  const RowMatrix rows = to_rows(x);
  const std::vector<std::uint32_t> id_of_column = ids_of_columns(data);
  Grid<double> result(rows.rows, class_count());
  threads.for_each(blocks_of(rows.rows), [&](std::int64_t block, int) {
    SharingScorer scorer;
    ExampleBuilder builder;
    const RowRange range = block_range(block, rows.rows);
    for (Index i = range.begin; i < range.end; ++i) {
      builder.clear(*this);
      for (Index e = rows.start[static_cast<std::size_t>(i)]; e < rows.start[static_cast<std::size_t>(i) + 1];
           ++e) {
        const std::uint32_t column = rows.column[static_cast<std::size_t>(e)];
        builder.add(*this, id_of_column[column], rows.value[static_cast<std::size_t>(e)]);
      }
      builder.finish(*this);
      const auto row = scorer(*this, builder.view(), options.average);
      require_finite(row, i + 1);
      for (std::size_t r = 0; r < row.size(); ++r) result(i, static_cast<Index>(r)) = row[r];
    }
  });
  return result;
}

}  // namespace sharelearn
