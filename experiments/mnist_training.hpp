// Training of the experiment shareboost-mnist.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"
#include "pool/patches.hpp"
#include "sharelearn/learn/shareboost.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn::reproduce {

/// How templates are made and chosen.
struct TemplateSearch {
  std::vector<TemplateGroup> templates;
  MaskOptions mask;
  double contrast;  // PatchOptions::epsilon
  bool deskew;
  Index samples;
  Norm norm;
  double per_round_share;  // 0: one template per round
  CorrectiveOptions corrective;
};

/// One training set and how it is learned.
struct Part {
  std::string name;
  Index rows;          // the first training images
  Index copies;        // deformed copies of each
  Index features;      // T
  double paper_error;  // percent, at that T
  double ridge;
  Index surplus;      // templates chosen in addition to T, then removed
  double last_ridge;  // ridge while they are removed
  TemplateSearch search;
};

/// Numbers of a part's training besides the model, which Run::remember() can keep.
struct Training {
  double cpu = 0, wall = 0, memory = 0;
  std::vector<double> train_error;  // one per stored model
  std::vector<double> numbers() const;
  static Training from(const std::vector<double>& all);
};

/// Writes the model into `model_file`.
Training train_part(Run& run, const Part& part, const Dataset& originals, const std::string& model_file);

/// Values of the features on every image, in [0, 1]. Each patch is computed once for all features.
Grid<float> patch_values(const std::vector<FeaturePtr>& of, const Dataset& images, ThreadPool& threads);

}  // namespace sharelearn::reproduce
