// Pictures of image templates and of misclassified images, as SVG text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sharelearn/data/image.hpp"
#include "sharelearn/model/linear_model.hpp"

namespace sharelearn::reproduce {

/// The first `count` templates of a model, each with its place in the image and its weights per class (Fig. 5
/// of [ShareBoost11]). Light and dark are the signs of the template; the shaded square is the support of its
/// mask.
std::string templates_picture(const LinearModel& model, Index count);

struct Mistake {
  std::vector<float> pixels;
  std::string truth;
  std::string predicted;
};

/// Images with "true -> predicted" under each (Fig. 6).
std::string mistakes_picture(std::span<const Mistake> mistakes, const ImageShape& shape);

}  // namespace sharelearn::reproduce
