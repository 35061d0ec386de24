// Elastic and affine deformation of training images (Simard, Steinkraus and Platt 2003; [ShareBoost11],
// section 7.4).
//
// Each copy of an image is sampled, bilinearly, at  A (p - middle) + middle + shift + elastic(p).  A rotates,
// scales and shears a little. elastic is uniform noise in [-1, 1] per pixel and axis, smoothed by a Gaussian
// and multiplied by alpha. Lengths are pixels of a 28-pixel image and are scaled for other sizes.
#pragma once

#include <cstdint>

#include "sharelearn/data/dataset.hpp"
#include "sharelearn/data/image.hpp"
#include "sharelearn/run/threads.hpp"

namespace sharelearn {

struct DeformOptions {
  Index copies = 5;       ///< deformed copies of each image
  Index image_width = 0;  ///< 0: square images
  double sigma = 5.5;     ///< width of the smoothing, pixels
  double alpha = 28;      ///< strength; with sigma 5.5 the displacement is about 0.8 pixel rms
  /// Degrees, uniform in [-rotation, rotation]; the next three are uniform in the same way.
  double rotation = 8;
  double scale = 0.08;  ///< relative, per axis
  double shear = 0.06;
  double shift = 0.3;  ///< pixels
  std::uint64_t seed = 1;
};

/// The images followed by copy 1 of each, copy 2 of each ... with their labels and weights. Copy c of row i
/// depends on the seed, c and i alone: a row of weight 3 is deformed once per copy c, with weight 3, where
/// three rows would be deformed in three ways. The expected loss is the same, its variance larger. Beyond an
/// image's border lies the smallest value of the data.
Dataset deform(const Dataset& images, const DeformOptions& options, ThreadPool& threads);

}  // namespace sharelearn
