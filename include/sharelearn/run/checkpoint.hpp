// What a long run has done so far, kept in a file: the same run, started again after it was ended in any way,
// goes on from there and ends with the same bits.
//
// A checkpoint is a set of named entries. A step of a run stores under its name its result, or the state from
// which it goes on; the entries of a step within another step have the outer name in front ("fold 3/rounds").
// A step that finds its entry takes it instead of computing it. What no entry holds is computed again in the
// same way.
//
// Policy: the file is replaced as a whole and synced, at the end of a step only, and only after a pause of at
// least kCheckpointPause seconds and kCheckpointShare times the time that the last writing took. So writing
// takes at most 1 / (1 + kCheckpointShare) of the time of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/run/bytes.hpp"
#include "sharelearn/run/collective.hpp"

namespace sharelearn {

inline constexpr double kCheckpointPause = 0.2;
inline constexpr double kCheckpointShare = 60;

class Checkpoint {
 public:
  /// Reads the file, if there is one. `run` is a hash of everything that decides the result. Throws
  /// InputError if the file is not a checkpoint, is damaged, or belongs to another run. Of several ranks the
  /// first one writes, when its clock says so; all of them take the same steps.
  Checkpoint(std::string path, std::uint64_t run, double pause = kCheckpointPause,
             Collective& ranks = this_process());

  /// Whether the run goes on from an earlier one.
  bool is_resumed() const { return resumed_; }

  /// The bytes stored under a name within the present step; null: none.
  const std::string* find(const std::string& name) const;
  /// A reader of these bytes, whose messages name the file.
  ByteReader reader(const std::string& bytes) const;
  /// Stores a result and discards the entries of the steps within it. Writes the file if that is due.
  void put(const std::string& name, const ByteWriter& result);
  /// If writing the file is due: stores a state and writes the file.
  void offer(const std::string& name, const std::function<void(ByteWriter&)>& state);

 private:
  friend class CheckpointStep;
  bool is_due() const;
  void write();
  std::string within(const std::string& name) const { return prefix_ + name; }

  using Clock = std::chrono::steady_clock;
  std::string path_;
  std::uint64_t run_;
  double pause_;
  Collective& ranks_;
  bool resumed_ = false;
  std::map<std::string, std::string> entries_;
  std::string prefix_;  ///< of the present step, "fold 3/"
  Clock::time_point written_ = Clock::now();
  double seconds_ = 0;  ///< that the last writing took
};

/// What an observer of a learner's rounds has collected, stored with the state of the learner.
struct ObserverState {
  std::function<void(ByteWriter&)> save = nullptr;
  std::function<void(ByteReader&)> restore = nullptr;
};

/// While it lives, the names of entries are within the step named. Without a checkpoint it does nothing.
class CheckpointStep {
 public:
  CheckpointStep(Checkpoint* checkpoint, const std::string& name);
  ~CheckpointStep();
  CheckpointStep(const CheckpointStep&) = delete;
  CheckpointStep& operator=(const CheckpointStep&) = delete;

 private:
  Checkpoint* checkpoint_;
  std::size_t outer_ = 0;  ///< length of the outer prefix
};

}  // namespace sharelearn
