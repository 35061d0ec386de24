// Options of image work: the pool of templates and the deformation of training images.
#pragma once

#include "options.hpp"
#include "sharelearn/pool/factory.hpp"
#include "sharelearn/transform/deform.hpp"

namespace sharelearn::cli {

/// The options of `--pool patches`.
void declare_patches(OptionSet& options, PoolOptions& pool);

/// --deform and its strengths.
void declare_deform(OptionSet& options, DeformOptions& deform);

}  // namespace sharelearn::cli
