#include "pool/patches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/row_copies.hpp"
#include "kernels/byte_correlation.hpp"
#include "kernels/patch_response.hpp"
#include "pool/patch_image.hpp"
#include "pool/patch_pixels.hpp"
#include "run/ranks.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

constexpr Index kLine = kernels::kByteColumns;
constexpr Index kPanel = kernels::kTemplatePanel;
constexpr Index kMasksPerLine = kLine / kPanel;
constexpr Index kRowsAtOnce = 64;

/// Cache lines of 64 bytes that a panel with `masks` masks takes per row.
Index lines_of(Index masks) {
  return (masks + kMasksPerLine - 1) / kMasksPerLine;
}

PixelRange pixel_range(const ColumnView& images, ThreadPool& threads) {
  std::vector<PixelRange> of_column(static_cast<std::size_t>(images.cols()));
  threads.for_each(images.cols(), [&](Index j, int) {
    std::vector<float> values(static_cast<std::size_t>(images.rows()));
    images.column(j, values.data());
    const auto [low, high] = std::ranges::minmax(values);
    of_column[static_cast<std::size_t>(j)] = {low, high};
  });
  PixelRange all = of_column.front();
  for (const PixelRange& range : of_column)
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
  if (!(all.high > all.low)) throw InputError("the images are all of one grey: no templates can be learned");
  return all;
}

/// All images as 7-bit pixels, row after row, padded at the end for the kernel's reads.
std::vector<std::uint8_t> to_bytes(const ColumnView& images, const PatchFrame& frame, ThreadPool& threads) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images.rows() * images.cols()) + 32);
  const auto convert = [&](RowRange rows, int) {
    std::vector<float> block(static_cast<std::size_t>(rows.size() * images.cols()));
    images.gather(rows, block.data());
    PatchPixels(frame).convert(block, pixels.data() + rows.begin * images.cols());
  };
  for_each_row_block(images.rows(), threads, convert, kRowsAtOnce);
  return pixels;
}

/// The rows whose residual is large enough, and their residual in 15 bits, two rows at a time
/// (kernels::correlate_bytes).
struct ActiveRows {
  std::vector<std::int32_t> row;
  std::vector<std::int16_t> residual;
  double unit = 0;
  Index pairs() const { return static_cast<Index>(row.size()) / 2; }
};

ActiveRows active_rows(const Grid<float>& residual, double least, ThreadPool& threads) {
  const Index outputs = residual.cols();
  const Alone alone(threads);  // every rank needs all rows
  std::vector<float> magnitude(static_cast<std::size_t>(residual.rows()), 0.0f);
  const auto largest = static_cast<float>(max_over_rows(residual.rows(), threads, 0, [&](RowRange rows, int) {
    float* of_row = magnitude.data();
    for (Index c = 0; c < outputs; ++c) {
      const float* column = residual.column(c);
      for (Index i = rows.begin; i < rows.end; ++i) of_row[i] = std::max(of_row[i], std::abs(column[i]));
    }
    return static_cast<double>(*std::max_element(of_row + rows.begin, of_row + rows.end));
  }));
  ActiveRows active;
  if (!(largest > 0)) return active;
  const float bar = static_cast<float>(least) * largest;
  for (std::size_t i = 0; i < magnitude.size(); ++i) {
    if (magnitude[i] > 0 && magnitude[i] >= bar) active.row.push_back(static_cast<std::int32_t>(i));
  }
  const std::size_t count = active.row.size();
  active.row.resize((count + 1) / 2 * 2, 0);  // an unpaired last row gets a partner of residual zero
  active.residual.assign(active.row.size() * static_cast<std::size_t>(outputs), 0);
  const float scale = kernels::kResidualLimit / largest;
  for (std::size_t p = 0; p < count; ++p) {
    for (Index c = 0; c < outputs; ++c) {
      const auto at = (p / 2 * static_cast<std::size_t>(outputs) + static_cast<std::size_t>(c)) * 2 + p % 2;
      active.residual[at] = static_cast<std::int16_t>(std::lrint(residual(active.row[p], c) * scale));
    }
  }
  active.unit = static_cast<double>(largest) / kernels::kResidualLimit;
  return active;
}

}  // namespace

/// Computes panels; one per thread.
class PatchPool::Extractor {
 public:
  explicit Extractor(const PatchPool& pool) {
    Index scratch = 0;
    for (const TemplateBank& bank : pool.banks_) {
      images_.emplace_back(pool.frame_, bank.size, bank.masks.rows);
      Tables tables;
      const Index width = images_.back().width();
      for (const MaskProfile& profile : bank.masks.columns) append_padded(profile, width, tables.columns);
      for (std::size_t r = 0; r < bank.masks.rows.size(); ++r) {
        const ProfileRange range = range_of(bank.masks.rows[r]);
        tables.rows.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(range.begin),
                               static_cast<std::int32_t>(range.end)});
      }
      for (const Mask& mask : bank.masks.masks) {
        tables.masks.push_back(
            {static_cast<std::int32_t>(mask.row_profile), static_cast<std::int32_t>(mask.column_profile)});
      }
      scratch = std::max(scratch, width * kPanel * static_cast<Index>(bank.masks.rows.size()));
      tables_.push_back(std::move(tables));
    }
    scratch_.assign(static_cast<std::size_t>(scratch), 0);
  }

  void start(const std::uint8_t* pixels) {
    prepared_.clear();
    for (PatchImage& image : images_) prepared_.push_back(&image.prepare(pixels));
  }

  /// Writes responses[mask][16] of the image last started.
  void responses(const Panel& panel, std::int16_t* out) {
    const auto bank = static_cast<std::size_t>(panel.bank);
    const Tables& tables = tables_[bank];
    const PatchImage& image = images_[bank];
    const kernels::TemplatePanel templates{.weights = panel.weights.data(),
                                           .size = image.size(),
                                           .words = (image.size() + 3) / 4,
                                           .begin_y = 0,
                                           .end_y = image.positions_y(),
                                           .begin_x = 0,
                                           .tiles = image.width() / kernels::kPositionTile - 1,
                                           .rows = tables.rows.data(),
                                           .row_count = static_cast<Index>(tables.rows.size()),
                                           .columns = tables.columns.data(),
                                           .masks = tables.masks.data(),
                                           .mask_count = static_cast<Index>(tables.masks.size())};
    kernels::panel_responses(*prepared_[bank], templates, scratch_.data(), out);
  }

 private:
  struct Tables {
    std::vector<std::int16_t> columns;
    std::vector<kernels::RowProfile> rows;
    std::vector<kernels::MaskPair> masks;
  };
  std::vector<PatchImage> images_;
  std::vector<Tables> tables_;
  std::vector<const kernels::PreparedImage*> prepared_;
  AlignedVector<std::int16_t> scratch_;
};

PatchPool::PatchPool(const ColumnView& images, const PatchOptions& options, ThreadPool& threads,
                     std::span<const double> weights)
    : PatchPool(images, {}, options, threads, weights) {}

PatchPool::PatchPool(const ColumnView& images, std::vector<TemplateBank> banks, const PatchOptions& options,
                     ThreadPool& threads, std::span<const double> weights)
    : rows_(images.rows()), least_residual_(options.least_residual), banks_(std::move(banks)) {
  if (rows_ == 0) throw InputError("there are no images to learn templates from");
  frame_ = {shape_of(images.cols(), options.image_width), pixel_range(images, threads), options.epsilon,
            options.deskew};
  const std::vector<std::uint8_t> pixels = to_bytes(images, frame_, threads);
  const std::span<const std::uint8_t> of_images(pixels.data(), pixels.size() - 32);
  if (banks_.empty()) banks_ = learn_templates(of_images, frame_.shape, options, threads, weights);
  const std::size_t count = lay_out_panels();
  storage_ = images.raw().room(static_cast<Index>(count / sizeof(float)), 1);  // whole lines of 64 bytes
  bytes_ = reinterpret_cast<std::uint8_t*>(storage_.writable_column(0));
  measure_scales(pixels, options, weights, threads);
  extract(pixels, threads);
  find_constants(threads);
}

Index PatchPool::mask_count(const Panel& panel) const {
  return static_cast<Index>(banks_[static_cast<std::size_t>(panel.bank)].masks.masks.size());
}

std::size_t PatchPool::lay_out_panels() {
  std::size_t offset = 0;
  for (std::size_t b = 0; b < banks_.size(); ++b) {
    const TemplateBank& bank = banks_[b];
    const auto count = static_cast<Index>(bank.templates.size());
    const auto masks = static_cast<Index>(bank.masks.masks.size());
    for (Index first = 0; first < count; first += kPanel) {
      Panel panel;
      panel.bank = static_cast<Index>(b);
      panel.first_template = first;
      panel.templates = std::min(kPanel, count - first);
      panel.first_candidate = candidates_;
      std::vector<const std::int8_t*> templates;
      for (Index t = 0; t < panel.templates; ++t) {
        templates.push_back(bank.templates[static_cast<std::size_t>(first + t)].data());
      }
      panel.weights.resize(static_cast<std::size_t>(bank.size * ((bank.size + 3) / 4) * 4 * kPanel));
      kernels::pack_templates(templates.data(), panel.templates, bank.size, panel.weights.data());
      panel.offset = offset;
      candidates_ += panel.templates * masks;
      offset += static_cast<std::size_t>(lines_of(masks) * rows_ * kLine);
      panels_.push_back(std::move(panel));
    }
  }
  return offset;
}

/// A response of 255 stands for headroom times the largest seen on evenly spaced copies of rows.
void PatchPool::measure_scales(const std::vector<std::uint8_t>& pixels, const PatchOptions& options,
                               std::span<const double> weights, ThreadPool& threads) {
  const RowCopies copies(weights, rows_);
  const Index count = std::clamp<Index>(options.scale_rows, 1, copies.count());
  std::vector<Extractor> extractors;
  for (int t = 0; t < threads.size(); ++t) extractors.emplace_back(*this);
  std::vector<std::vector<std::int16_t>> largest(panels_.size());
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    largest[p].assign(static_cast<std::size_t>(mask_count(panels_[p]) * kPanel), 0);
  }
  // One piece of work per panel, so no two threads write to the same place. Each piece prepares the images
  // again, which costs little.
  threads.for_each(static_cast<Index>(panels_.size()), [&](Index piece, int worker) {
    Extractor& extractor = extractors[static_cast<std::size_t>(worker)];
    auto& top = largest[static_cast<std::size_t>(piece)];
    std::vector<std::int16_t> responses(top.size());
    for (Index s = 0; s < count; ++s) {
      extractor.start(pixels.data() + copies.row(s * copies.count() / count) * frame_.shape.pixels());
      extractor.responses(panels_[static_cast<std::size_t>(piece)], responses.data());
      for (std::size_t i = 0; i < top.size(); ++i) top[i] = std::max(top[i], responses[i]);
    }
  });
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    for (const std::int16_t value : largest[p]) {
      const double multiplier = value > 0 ? 65536.0 * 255 / (options.headroom * value) : 0;
      panels_[p].multiplier.push_back(static_cast<std::uint16_t>(std::min(multiplier, 65535.0)));
    }
  }
}

void PatchPool::extract(const std::vector<std::uint8_t>& pixels, ThreadPool& threads) {
  std::vector<Extractor> extractors;
  for (int t = 0; t < threads.size(); ++t) extractors.emplace_back(*this);
  const auto work = [&](RowRange rows, int worker) {
    Extractor& extractor = extractors[static_cast<std::size_t>(worker)];
    std::vector<std::int16_t> responses;
    std::vector<std::uint8_t> bytes;
    for (Index i = rows.begin; i < rows.end; ++i) {
      extractor.start(pixels.data() + i * frame_.shape.pixels());
      for (const Panel& panel : panels_) {
        const Index lines = lines_of(mask_count(panel));
        responses.resize(panel.multiplier.size());
        bytes.assign(static_cast<std::size_t>(lines * kLine), 0);
        extractor.responses(panel, responses.data());
        kernels::quantise_responses(responses.data(), panel.multiplier.data(),
                                    static_cast<Index>(responses.size()), bytes.data());
        for (Index line = 0; line < lines; ++line) {
          std::copy_n(bytes.data() + line * kLine, kLine,
                      bytes_ + panel.offset + static_cast<std::size_t>((line * rows_ + i) * kLine));
        }
      }
    }
  };
  for_each_row_block(rows_, threads, work, kRowsAtOnce);
}

void PatchPool::find_constants(ThreadPool& threads) {
  threads.for_each(static_cast<Index>(panels_.size()), [&](Index p, int) {
    Panel& panel = panels_[static_cast<std::size_t>(p)];
    const Index lines = lines_of(mask_count(panel));
    panel.constant.assign(static_cast<std::size_t>(lines * kLine), 0);
    for (Index line = 0; line < lines; ++line) {
      const std::uint8_t* first = bytes_ + panel.offset + static_cast<std::size_t>(line * rows_ * kLine);
      std::uint8_t differs[kLine] = {};
      for (Index i = 1; i < rows_; ++i) {
        for (Index b = 0; b < kLine; ++b) {
          differs[b] = static_cast<std::uint8_t>(differs[b] | (first[b] ^ first[i * kLine + b]));
        }
      }
      for (Index b = 0; b < kLine; ++b)
        panel.constant[static_cast<std::size_t>(line * kLine + b)] = differs[b] == 0;
    }
  });
}

void PatchPool::correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const {
  const Index outputs = residual.cols();
  const ActiveRows active = active_rows(residual, least_residual_, threads);
  for_each_own(blocks(), threads, [&](Index block, int worker) {
    const Panel& panel = panels_[static_cast<std::size_t>(block)];
    const Index masks = mask_count(panel);
    std::vector<double> by_line(static_cast<std::size_t>(lines_of(masks) * kLine * outputs), 0.0);
    for (Index line = 0; line < lines_of(masks); ++line) {
      kernels::correlate_bytes(bytes_ + panel.offset + static_cast<std::size_t>(line * rows_ * kLine),
                               active.row.data(), active.pairs(), active.residual.data(), outputs,
                               by_line.data() + line * kLine * outputs);
    }
    std::vector<double> sums(static_cast<std::size_t>(panel.templates * masks * outputs), 0.0);
    for (Index t = 0; t < panel.templates; ++t) {
      for (Index m = 0; m < masks; ++m) {
        const Index from = m * kPanel + t;
        if (panel.constant[static_cast<std::size_t>(from)] != 0) continue;
        for (Index c = 0; c < outputs; ++c) {
          sums[static_cast<std::size_t>((t * masks + m) * outputs + c)] =
              by_line[static_cast<std::size_t>(from * outputs + c)] * active.unit / 255;
        }
      }
    }
    visit({block, panel.first_candidate, panel.templates * masks, sums.data()}, worker);
  });
}

PatchPool::Place PatchPool::place_of(Index candidate) const {
  const auto after = std::ranges::upper_bound(panels_, candidate, {}, &Panel::first_candidate);
  const Panel& panel = *(after - 1);
  const Index within = candidate - panel.first_candidate;
  return {&panel, within % mask_count(panel), within / mask_count(panel)};
}

void PatchPool::values(Index candidate, Grid<float>& out, Index first_column) const {
  const Place place = place_of(candidate);
  const Index line = place.mask / kMasksPerLine;
  const std::uint8_t* from = bytes_ + place.panel->offset + static_cast<std::size_t>(line * rows_ * kLine) +
                             place.mask % kMasksPerLine * kPanel + place.lane;
  float* to = out.column(first_column);
  for (Index i = 0; i < rows_; ++i) to[i] = static_cast<float>(from[i * kLine]) / 255.0f;
}

FeaturePtr PatchPool::feature(Index candidate) const {
  const Place place = place_of(candidate);
  const TemplateBank& bank = banks_[static_cast<std::size_t>(place.panel->bank)];
  const Mask& mask = bank.masks.masks[static_cast<std::size_t>(place.mask)];
  return std::make_shared<PatchFeature>(PatchFeature::Parts{
      frame_, bank.size, bank.templates[static_cast<std::size_t>(place.panel->first_template + place.lane)],
      bank.masks.rows[static_cast<std::size_t>(mask.row_profile)],
      bank.masks.columns[static_cast<std::size_t>(mask.column_profile)],
      place.panel->multiplier[static_cast<std::size_t>(place.mask * kPanel + place.lane)]});
}

}  // namespace sharelearn
