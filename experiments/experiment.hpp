// The frame of `sharelearn-reproduce`: an experiment is a function, its name stands in registry.cpp, and this
// gives it settings, tables with the paper's figure beside ours, CSV and SVG files, and resumption.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/report/plot.hpp"
#include "sharelearn/run/context.hpp"

namespace sharelearn::reproduce {

/// What the command line of sharelearn-reproduce says.
struct Settings {
  std::string data;         ///< folder of the data sets
  std::string out = "out";  ///< folder of the CSV, SVG and model files
  bool quick = false;       ///< a smaller size that takes under 2 minutes
  std::uint64_t seed = 1;
  int threads = 0;
};

/// Rows of text cells under a header; printed aligned, written as CSV.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;
  std::string csv() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// How Run::read finds labels.
struct DataChoice {
  std::string label_column;  ///< as ReadOptions has it
  std::string task_column;
  std::string labels_file;  ///< below the data folder
};

/// One run of one experiment.
class Run {
 public:
  Run(std::string_view name, const Settings& settings, Context context);
  const Settings& settings() const { return settings_; }
  Context& context() { return context_; }
  /// Reads `file` below the data folder; throws InputError that names what is missing.
  Dataset read(const std::string& file, const DataChoice& choice = {});
  /// Prints a line of explanation or the table; writes NAME.csv / NAME.svg into the out folder.
  void say(std::string_view line);
  void show(const Table& table, const std::string& file = "");
  void show(const Plot& plot, const std::string& file);
  /// The numbers of `key` from an earlier, interrupted run, or those `compute` gives, which are then kept.
  /// Keys carry everything the numbers depend on (sizes, seeds).
  std::vector<double> remember(const std::string& key, const std::function<std::vector<double>()>& compute);
  /// Drops what remember() kept: the experiment is complete, and its next run computes afresh.
  void forget();

 private:
  std::string path_of(const std::string& file) const;
  std::string memory_file() const;
  void load_memory();
  std::string name_;
  Settings settings_;
  Context context_;
  std::map<std::string, std::vector<double>> memory_;
};

struct Experiment {
  std::string_view name;
  std::string_view summary;
  void (*run)(Run&);
};

/// Every experiment, in the order of the help (registry.cpp: one line each).
std::span<const Experiment> all_experiments();

}  // namespace sharelearn::reproduce
