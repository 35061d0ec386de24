// Image templates ([ShareBoost11], section 7.4): K-means centres of image patches, each under every mask of a
// grid. The feature is the largest masked response over all positions.
//
// Unlike the other pools, this pool stores its candidates, one byte per response: computing them again in
// each round would cost a thousand times as much as the selection. They are in memory, or in a temporary file
// if the images are in a file. The bytes are laid out as [64 candidates][row][64], one cache line per row, so
// that rows with almost no residual are skipped.
#pragma once

#include <cstdint>
#include <vector>

#include "pool/patch_feature.hpp"
#include "sharelearn/pool/pool.hpp"

namespace sharelearn {

/// `count` templates of size x size.
struct TemplateGroup {
  Index size = 7;
  Index count = 1008;
};

struct PatchOptions {
  Index image_width = 0;  ///< 0: square images
  std::vector<TemplateGroup> templates = {TemplateGroup{}};
  std::vector<MaskOptions> masks = {MaskOptions{}};
  double epsilon = 1;         ///< contrast normalisation (PatchFrame); 0: none
  bool deskew = false;        ///< deskew the images first (PatchFrame)
  Index samples = 300'000;    ///< number of patches given to K-means
  double least_contrast = 1;  ///< patches with a smaller zero-mean norm (white is 1) are not sampled
  int passes = 15;            ///< K-means passes
  Index scale_rows = 4096;    ///< rows on which a feature's largest response is measured
  double headroom = 1.05;     ///< a byte of 255 stands for this multiple of the largest response
  /// Rows whose residual is below this fraction of the largest are skipped in correlate().
  double least_residual = 1e-3;
  std::uint64_t seed = 1;
};

/// Templates of one size as signed bytes.
struct TemplateBank {
  Index size = 0;
  std::vector<std::vector<std::int8_t>> templates;
  MaskGrid masks;
};

class PatchPool : public Pool {
 public:
  /// Learns templates from the images and computes every response. The images are not needed afterwards.
  /// `weights`: of each image, or none: 1; an image of weight 3 gives patches as three copies of it do.
  PatchPool(const ColumnView& images, const PatchOptions& options, ThreadPool& threads,
            std::span<const double> weights = {});
  /// The same with given templates.
  PatchPool(const ColumnView& images, std::vector<TemplateBank> banks, const PatchOptions& options,
            ThreadPool& threads, std::span<const double> weights = {});

  std::string_view name() const override { return "patches"; }
  Index rows() const override { return rows_; }
  /// Candidates are numbered by bank, then template, then mask.
  Index candidates() const override { return candidates_; }
  Index blocks() const override { return static_cast<Index>(panels_.size()); }
  /// The residual is rounded to 15 bits relative to its largest magnitude; the sums of rounded values are
  /// exact.
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override;
  void values(Index candidate, Grid<float>& out, Index first_column) const override;
  FeaturePtr feature(Index candidate) const override;

  const std::vector<TemplateBank>& banks() const { return banks_; }

 private:
  struct Panel {  // 16 templates of a bank under all its masks
    Index bank = 0;
    Index first_template = 0;
    Index templates = 0;
    Index first_candidate = 0;
    std::vector<std::int8_t> weights;
    std::vector<std::uint16_t> multiplier;  // [mask][16]
    std::vector<std::uint8_t> constant;     // [mask][16]
    std::size_t offset = 0;                 // where its bytes begin
  };
  struct Place {  // position of a candidate
    const Panel* panel;
    Index mask;
    Index lane;
  };
  class Extractor;

  /// Returns the number of bytes of all responses.
  std::size_t lay_out_panels();
  void measure_scales(const std::vector<std::uint8_t>& pixels, const PatchOptions& options,
                      std::span<const double> weights, ThreadPool& threads);
  void extract(const std::vector<std::uint8_t>& pixels, ThreadPool& threads);
  void find_constants(ThreadPool& threads);
  Index mask_count(const Panel& panel) const;
  Place place_of(Index candidate) const;

  PatchFrame frame_;
  Index rows_ = 0;
  Index candidates_ = 0;
  double least_residual_ = 0;
  std::vector<TemplateBank> banks_;
  std::vector<Panel> panels_;
  Matrix storage_;  // of the bytes: in a temporary file where the images are in a file
  std::uint8_t* bytes_ = nullptr;
};

/// Templates by K-means from 7-bit pixels (rows of shape.pixels() bytes); a step of building the pool.
std::vector<TemplateBank> learn_templates(std::span<const std::uint8_t> pixels, const ImageShape& shape,
                                          const PatchOptions& options, ThreadPool& threads,
                                          std::span<const double> weights = {});

/// A template as signed bytes that sum to zero and whose positive part sums to at most 258.
std::vector<std::int8_t> quantise_template(std::span<const float> weights);

}  // namespace sharelearn
