#include "fit/checkpoints.hpp"

#include <xxhash.h>

#include "sharelearn/run/error.hpp"
#include "sharelearn/run/json_text.hpp"
#include "sharelearn/version.hpp"
#include "solve/state_bytes.hpp"

namespace sharelearn {
namespace {

/// A hash of numbers and texts, each with its length.
class Identity {
 public:
  Identity() : state_(XXH64_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH64_reset(state_, 0);
  }
  ~Identity() { XXH64_freeState(state_); }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  template <class T>
  void add(std::span<const T> values) {
    const std::uint64_t size = values.size();
    XXH64_update(state_, &size, sizeof size);
    if (size > 0) XXH64_update(state_, values.data(), values.size_bytes());
  }
  void add(std::string_view text) { add(std::span<const char>(text)); }
  void add(const std::vector<std::string>& texts) {
    add(std::to_string(texts.size()));
    for (const std::string& text : texts) add(text);
  }
  std::uint64_t value() const { return XXH64_digest(state_); }

 private:
  XXH64_state_t* state_;
};

void add(Identity& run, const LabelColumn& labels) {
  run.add(labels.names);
  run.add(std::span<const std::int32_t>(labels.id));
}

void add(Identity& run, const Dataset& data) {
  const Index sizes[] = {data.rows(), data.columns(), data.image_width};
  run.add(std::span<const Index>(sizes));
  if (data.x.is_sparse()) {
    const SparseView x = data.x.sparse();
    run.add(x.start);
    run.add(x.row);
    run.add(x.value);
  } else {
    for (Index j = 0; j < data.columns(); ++j) run.add(data.x.dense().column_span(j));
  }
  run.add(data.column_names);
  add(run, data.label);
  add(run, data.task);
  if (!data.group.empty()) add(run, data.group);
  if (!data.fold.empty()) add(run, data.fold);
  run.add(std::span<const double>(data.weight));
}

constexpr int kDeepestRound = 20;

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const CommonFit& common, std::string_view method,
                                            const FieldTable& table, const FitData& data, Collective& ranks) {
  if (!common.checkpoint) return nullptr;
  Identity run;
  run.add(std::string_view(kVersion));
  run.add(method);
  run.add(json_text(table.values_in_effect()));
  add(run, data.train);
  if (data.test != nullptr) add(run, *data.test);
  return std::make_unique<Checkpoint>(*common.checkpoint, run.value(), kCheckpointPause, ranks);
}

void write_rounds(ByteWriter& out, const std::vector<Round>& rounds) {
  out.u64(rounds.size());
  for (Round round : rounds) out.text(json_text(fields(round).values()));
}

std::vector<Round> read_rounds(ByteReader& in) {
  std::vector<Round> rounds;
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    const std::string text = in.text();
    if (depth_of(text) > kDeepestRound) in.damaged("a round in it is nested too deeply");
    const nlohmann::json values = nlohmann::json::parse(text, nullptr, false);
    if (!values.is_object()) in.damaged("a round in it is not valid JSON");
    try {
      fields(rounds.emplace_back()).restore(values);
    } catch (const nlohmann::json::exception&) {
      in.damaged("a round in it has a value of the wrong type");
    }
  }
  return rounds;
}

void write_errors(ByteWriter& out, const std::vector<Errors>& errors) {
  out.u64(errors.size());
  for (const Errors& of : errors) {
    write_bits(out, of.error);
    for (const std::optional<double>& value : {of.coverage, of.mean_absolute}) {
      out.u8(value ? 1 : 0);
      if (value) write_bits(out, *value);
    }
    write_measures(out, of.of_output);
  }
}

std::vector<Errors> read_errors(ByteReader& in) {
  std::vector<Errors> errors;
  for (std::uint64_t left = in.u64(); left > 0; --left) {
    Errors& of = errors.emplace_back();
    of.error = read_bits(in);
    for (std::optional<double>* value : {&of.coverage, &of.mean_absolute}) {
      if (in.u8() != 0) *value = read_bits(in);
    }
    of.of_output = read_measures(in);
  }
  return errors;
}

void write_measures(ByteWriter& out, const std::vector<double>& measures) {
  out.u64(measures.size());
  for (const double measure : measures) write_bits(out, measure);
}

std::vector<double> read_measures(ByteReader& in) {
  std::vector<double> measures;
  for (std::uint64_t left = in.u64(); left > 0; --left) measures.push_back(read_bits(in));
  return measures;
}

}  // namespace sharelearn
