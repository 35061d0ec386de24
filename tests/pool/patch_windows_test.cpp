// Templates that are computed one by one, in several steps, give the numbers of the panels.
#include <gtest/gtest.h>

#include "pool/patch_evaluator.hpp"
#include "sharelearn/run/random.hpp"

namespace sharelearn {
namespace {

/// A template of random weights that sum to zero, under a random mask with zeros at its ends.
PatchFeature random_feature(const PatchFrame& frame, Index size, Random& random) {
  PatchFeature::Parts parts{
      .frame = frame, .size = size, .weights = {}, .row_profile = {}, .column_profile = {}};
  for (Index tap = 0; tap < size * size / 2; ++tap) {
    const auto weight = static_cast<std::int8_t>(random.below(9));
    parts.weights.push_back(weight);
    parts.weights.push_back(static_cast<std::int8_t>(-weight));
  }
  parts.weights.resize(static_cast<std::size_t>(size * size), 0);
  const auto profile = [&](Index positions) {
    MaskProfile result(static_cast<std::size_t>(positions), 0);
    const auto begin = random.below(positions);
    const auto end = begin + 1 + static_cast<Index>(random.below(positions - begin));
    for (Index i = begin; i < end; ++i)
      result[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(1 + random.below(32767));
    return result;
  };
  parts.row_profile = profile(frame.shape.height - size + 1);
  parts.column_profile = profile(frame.shape.width - size + 1);
  parts.multiplier = static_cast<std::uint16_t>(1 + random.below(65535));
  return PatchFeature(std::move(parts));
}

TEST(PatchWindows, steps_give_the_numbers_of_all_templates_together) {
  Random random(7);
  for (const ImageShape shape :
       {ImageShape{28, 28}, ImageShape{9, 40}, ImageShape{33, 8}, ImageShape{19, 21}}) {
    const PatchFrame frame{.shape = shape, .range = {0, 255}, .epsilon = 0.5};
    std::vector<PatchFeature> features;
    for (int i = 0; i < 60; ++i)
      features.push_back(random_feature(frame, 2 + static_cast<Index>(random.below(7)), random));
    std::vector<const PatchFeature*> all;
    std::vector<std::vector<const PatchFeature*>> lists(4);
    for (std::size_t i = 0; i < features.size(); ++i) {
      all.push_back(&features[i]);
      lists[i / 15].push_back(&features[i]);
    }
    const PatchEvaluator together(all), in_steps(lists);
    PatchEvaluator::Workspace first(together), second(in_steps);
    for (int image = 0; image < 20; ++image) {
      std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.pixels()));
      const std::int64_t ink = random.below(3);  // from blank images to noise
      for (auto& p : pixels)
        p = random.below(3) < ink ? static_cast<std::uint8_t>(random.below(128)) : std::uint8_t{0};
      std::vector<std::uint8_t> expected(all.size()), found(all.size());
      together.evaluate_pixels(pixels, first, expected.data());
      in_steps.prepare_pixels(pixels, second);
      for (std::size_t list = 0; list < lists.size(); ++list)
        in_steps.evaluate_list(list, second, found.data() + 15 * list);
      ASSERT_EQ(found, expected) << shape.height << " x " << shape.width << ", image " << image;
    }
  }
}

}  // namespace
}  // namespace sharelearn
