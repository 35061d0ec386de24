#include "patch_options.hpp"

namespace sharelearn::cli {

void declare_patches(OptionSet& options, PoolOptions& pool) {
  options.add("--templates", pool.templates, "patches: SIZE:COUNT of the templates, as in 7:640,5:384");
  options
      .add("--image-width", pool.image_width, "patches, --deform: pixels of an image row; 0: square images")
      ->check(non_negative());
  options.add("--mask-grid", pool.mask_grid, "patches: masks lie on a grid of this many by as many centres")
      ->check(between(1, 64));
  options.add("--mask-sigma", pool.mask_sigma, "patches: width of a mask, in pixels of a 28-pixel image")
      ->check(positive());
  options.add("--mask-support", pool.mask_support, "patches: a mask is zero where it is lower than this")
      ->check(between(0.0, 0.99));
  options.add_flag("--deskew", pool.deskew,
                   "patches: straighten each image first, bright ink on black, as the model then does too");
  options
      .add("--contrast", pool.contrast,
           "patches: floor of the local contrast that divides a response; 0: none does")
      ->check(non_negative());
}

void declare_deform(OptionSet& options, DeformOptions& deform) {
  options.add("--deform", deform.copies, "Deformed copies of each training image to learn from as well")
      ->check(between(0, 1000));
  options.add("--deform-alpha", deform.alpha, "Strength of the elastic deformation")->check(non_negative());
  options.add("--deform-sigma", deform.sigma, "Smoothness of the elastic deformation, pixels")
      ->check(positive());
  options.add("--deform-rotation", deform.rotation, "Rotation, degrees at most")->check(non_negative());
  options.add("--deform-scale", deform.scale, "Scaling of each axis, at most")->check(between(0.0, 0.9));
  options.add("--deform-shear", deform.shear, "Shear, at most")->check(non_negative());
  options.add("--deform-shift", deform.shift, "Shift, pixels at most")->check(non_negative());
}

}  // namespace sharelearn::cli
