// The frame of `sharelearn-reproduce`. An experiment is a function listed in registry.cpp. The frame gives it
// settings, tables with the paper's figures beside ours, CSV and SVG files, and resumption.
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

/// The settings from the command line of sharelearn-reproduce.
struct Settings {
  std::string data;         ///< folder with the data sets
  std::string out = "out";  ///< folder for the CSV, SVG and model files
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
  std::string label_column;  ///< as in ReadOptions
  std::string task_column;
  std::string labels_file;  ///< path below the data folder
};

/// One run of one experiment.
class Run {
 public:
  Run(std::string_view name, const Settings& settings, Context context);
  const Settings& settings() const { return settings_; }
  Context& context() { return context_; }
  /// Reads `file` below the data folder. Throws InputError that names the missing file.
  Dataset read(const std::string& file, const DataChoice& choice = {});
  /// Prints a line of explanation or the table; writes NAME.csv / NAME.svg into the out folder.
  void say(std::string_view line);
  void show(const Table& table, const std::string& file = "");
  void show(const Plot& plot, const std::string& file);
  /// The numbers stored under `key` by an earlier, interrupted run; otherwise computes and stores them. A key
  /// must contain everything the numbers depend on (sizes, seeds).
  std::vector<double> remember(const std::string& key, const std::function<std::vector<double>()>& compute);
  /// Deletes the numbers stored by remember(): the experiment is complete, and its next run starts afresh.
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

/// Counts of words to values log(1 + count), rows of unit length; a row without words stays zero.
void weigh_words(Matrix& x);

}  // namespace sharelearn::reproduce
