#include "sharelearn/pool/patch_feature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pool/patch_image.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// All rows as 7-bit pixels: features of a model share them.
struct PixelRows {
  PatchFrame frame;
  std::vector<std::uint8_t> pixels;
};

constexpr char kPixelRowsKey = 0;

PixelRows pixel_rows(const DenseMatrix& x, const PatchFrame& frame) {
  constexpr Index kAtOnce = 64;
  PixelRows result{frame, std::vector<std::uint8_t>(static_cast<std::size_t>(x.rows() * x.cols()))};
  std::vector<float> block(static_cast<std::size_t>(kAtOnce * x.cols()));
  for (Index first = 0; first < x.rows(); first += kAtOnce) {
    const RowRange rows{first, std::min(first + kAtOnce, x.rows())};
    gather_rows(x, rows, block.data());
    to_pixels(std::span(block).first(static_cast<std::size_t>(rows.size() * x.cols())), frame.range,
              result.pixels.data() + first * x.cols());
  }
  return result;
}

}  // namespace

void PatchFeature::evaluate(const ScaledColumns& x, Grid<float>& out, Index first_column) const {
  const Matrix& matrix = x.matrix();
  const auto make = [&] {
    return matrix.is_sparse() ? pixel_rows(matrix.to_dense(), parts_.frame)
                              : pixel_rows(matrix.dense(), parts_.frame);
  };
  auto rows = x.shared<PixelRows>(&kPixelRowsKey, make);
  if (!(rows->frame == parts_.frame)) rows = std::make_shared<const PixelRows>(make());
  const PatchFeature* self = this;
  const PatchEvaluator evaluator({&self, 1});
  PatchEvaluator::Workspace workspace(evaluator);
  const auto pixels = static_cast<std::size_t>(parts_.frame.shape.pixels());
  for (Index i = 0; i < x.rows(); ++i) {
    std::uint8_t value = 0;
    const auto image = std::span(rows->pixels).subspan(static_cast<std::size_t>(i) * pixels, pixels);
    evaluator.evaluate_pixels(image, workspace, &value);
    out(i, first_column) = static_cast<float>(value) / 255.0f;
  }
}

nlohmann::json PatchFeature::describe(const std::vector<std::string>&) const {
  const auto middle = [&](const MaskProfile& profile) {
    const auto top = std::max_element(profile.begin(), profile.end()) - profile.begin();
    return static_cast<double>(top) + static_cast<double>(parts_.size - 1) / 2;
  };
  return {{"pool", "patches"},
          {"size", parts_.size},
          {"template", parts_.weights},
          {"mask_centre", {middle(parts_.row_profile), middle(parts_.column_profile)}},
          {"multiply_adds", multiply_adds()}};
}

std::vector<Index> PatchFeature::inputs() const {
  const ProfileRange y = range_of(parts_.row_profile), x = range_of(parts_.column_profile);
  std::vector<Index> result;
  for (Index row = y.begin; row < std::min(y.end + parts_.size - 1, parts_.frame.shape.height); ++row) {
    for (Index column = x.begin; column < std::min(x.end + parts_.size - 1, parts_.frame.shape.width);
         ++column) {
      result.push_back(row * parts_.frame.shape.width + column);
    }
  }
  return result;
}

Index PatchFeature::multiply_adds() const {
  const ProfileRange y = range_of(parts_.row_profile), x = range_of(parts_.column_profile);
  return (y.end - y.begin) * (x.end - x.begin) * parts_.size * parts_.size;
}

void PatchFeature::write(ByteWriter& out) const {
  out.index(parts_.frame.shape.height);
  out.index(parts_.frame.shape.width);
  out.f32(parts_.frame.range.low);
  out.f32(parts_.frame.range.high);
  out.f64(parts_.frame.epsilon);
  out.index(parts_.size);
  for (const std::int8_t w : parts_.weights) out.u8(static_cast<std::uint8_t>(w));
  for (const MaskProfile* profile : {&parts_.row_profile, &parts_.column_profile}) {
    for (const std::int16_t value : *profile) out.u32(static_cast<std::uint32_t>(value));
  }
  out.u32(parts_.multiplier);
}

FeaturePtr PatchFeature::read(ByteReader& in, Index columns) {
  Parts parts;
  parts.frame.shape.height = in.index(1, columns);
  parts.frame.shape.width = in.index(1, columns);
  if (parts.frame.shape.pixels() != columns)
    in.damaged("an image template does not fit the number of columns");
  parts.frame.range = {in.f32(), in.f32()};
  parts.frame.epsilon = in.f64();
  if (!(parts.frame.range.high > parts.frame.range.low) || parts.frame.epsilon < 0) {
    in.damaged("an image template has no range of grey values");
  }
  const Index side = std::min(parts.frame.shape.height, parts.frame.shape.width);
  parts.size = in.index(1, std::min<Index>(8, side));
  int positive = 0, total = 0;
  for (Index tap = 0; tap < parts.size * parts.size; ++tap) {
    parts.weights.push_back(static_cast<std::int8_t>(in.u8()));
    total += parts.weights.back();
    positive += std::max<int>(0, parts.weights.back());
  }
  if (positive > kernels::kPositiveSum || total != 0)
    in.damaged("an image template's weights are out of bounds");
  const auto profile = [&](Index length) {
    MaskProfile values;
    for (Index i = parts.size - 1; i < length; ++i) {
      const std::uint32_t value = in.u32();
      if (value > 32767) in.damaged("a mask is out of bounds");
      values.push_back(static_cast<std::int16_t>(value));
    }
    return values;
  };
  parts.row_profile = profile(parts.frame.shape.height);
  parts.column_profile = profile(parts.frame.shape.width);
  const std::uint32_t multiplier = in.u32();
  if (multiplier > 65535) in.damaged("an image template's scale is out of bounds");
  parts.multiplier = static_cast<std::uint16_t>(multiplier);
  return std::make_shared<PatchFeature>(std::move(parts));
}

/// Features of one size share the image's tables; of those, features under one mask share panels.
struct PatchEvaluator::Plan {
  struct Panel {
    std::size_t group;  // of template size
    std::vector<std::int8_t> weights;
    std::vector<std::uint16_t> multiplier;
    std::vector<std::size_t> feature;  // of each lane
    kernels::RowProfile row;
    std::vector<std::int16_t> column;
    Index begin_x, tiles;
  };
  struct Group {
    Index size;
    std::vector<MaskProfile> planes;
  };
  PatchFrame frame;
  std::vector<Group> groups;
  std::vector<Panel> panels;

  std::size_t group_of(Index size) {
    const auto found = std::ranges::find(groups, size, &Group::size);
    if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
    groups.push_back({size, {}});
    return groups.size() - 1;
  }
  void add_panel(std::span<const PatchFeature* const> features, std::span<const std::size_t> members);
};

void PatchEvaluator::Plan::add_panel(std::span<const PatchFeature* const> features,
                                     std::span<const std::size_t> members) {
  const PatchFeature::Parts& like = features[members.front()]->parts();
  Panel panel;
  panel.group = group_of(like.size);
  Group& group = groups[panel.group];
  auto plane = std::ranges::find(group.planes, like.row_profile);
  if (plane == group.planes.end()) plane = group.planes.insert(plane, like.row_profile);
  const ProfileRange y = range_of(like.row_profile), x = range_of(like.column_profile);
  panel.row = {static_cast<std::int32_t>(plane - group.planes.begin()), static_cast<std::int32_t>(y.begin),
               static_cast<std::int32_t>(y.end)};
  panel.begin_x = x.begin;
  panel.tiles = (x.end - x.begin + kernels::kPositionTile - 1) / kernels::kPositionTile;
  append_padded(like.column_profile, PatchImage(frame, like.size, {}).width(), panel.column);
  panel.weights.resize(
      static_cast<std::size_t>(like.size * ((like.size + 3) / 4) * 4 * kernels::kTemplatePanel));
  panel.multiplier.assign(kernels::kTemplatePanel, 0);
  std::vector<const std::int8_t*> templates;
  for (const std::size_t f : members) {
    panel.multiplier[templates.size()] = features[f]->parts().multiplier;
    templates.push_back(features[f]->parts().weights.data());
    panel.feature.push_back(f);
  }
  kernels::pack_templates(templates.data(), static_cast<Index>(templates.size()), like.size,
                          panel.weights.data());
  panels.push_back(std::move(panel));
}

PatchEvaluator::PatchEvaluator(std::span<const PatchFeature* const> features)
    : plan_(std::make_unique<Plan>()) {
  if (features.empty()) return;
  plan_->frame = features.front()->parts().frame;
  using Key = std::tuple<Index, MaskProfile, MaskProfile>;
  std::map<Key, std::vector<std::size_t>> under_mask;
  for (std::size_t f = 0; f < features.size(); ++f) {
    const PatchFeature::Parts& parts = features[f]->parts();
    if (!(parts.frame == plan_->frame))
      throw InputError("image templates for different images cannot be mixed");
    under_mask[{parts.size, parts.row_profile, parts.column_profile}].push_back(f);
  }
  for (const auto& [key, members] : under_mask) {
    for (std::size_t first = 0; first < members.size(); first += kernels::kTemplatePanel) {
      const auto count = std::min(members.size() - first, static_cast<std::size_t>(kernels::kTemplatePanel));
      plan_->add_panel(features, std::span(members).subspan(first, count));
    }
  }
}

PatchEvaluator::~PatchEvaluator() = default;
PatchEvaluator::PatchEvaluator(PatchEvaluator&&) noexcept = default;
PatchEvaluator& PatchEvaluator::operator=(PatchEvaluator&&) noexcept = default;

const PatchFrame& PatchEvaluator::frame() const {
  return plan_->frame;
}

struct PatchEvaluator::Workspace::State {
  std::vector<std::uint8_t> pixels;
  std::vector<PatchImage> images;  // one a template size
  AlignedVector<std::int16_t> scratch;
};

PatchEvaluator::Workspace::Workspace(const PatchEvaluator& evaluator) : state_(std::make_unique<State>()) {
  const Plan& plan = *evaluator.plan_;
  state_->pixels.assign(static_cast<std::size_t>(plan.frame.shape.pixels()) + 32, 0);
  Index width = 0;
  for (const Plan::Group& group : plan.groups) {
    state_->images.emplace_back(plan.frame, group.size, group.planes);
    width = std::max(width, state_->images.back().width());
  }
  state_->scratch.assign(static_cast<std::size_t>(width * kernels::kTemplatePanel), 0);
}

PatchEvaluator::Workspace::~Workspace() = default;
PatchEvaluator::Workspace::Workspace(Workspace&&) noexcept = default;

void PatchEvaluator::evaluate(std::span<const float> image, Workspace& workspace, std::uint8_t* out) const {
  to_pixels(image, plan_->frame.range, workspace.state_->pixels.data());
  run(workspace, out);
}

void PatchEvaluator::evaluate(std::span<const std::uint8_t> image, Workspace& workspace,
                              std::uint8_t* out) const {
  std::uint8_t* pixel = workspace.state_->pixels.data();
  for (const std::uint8_t value : image) {  // round(value * 127 / 255)
    *pixel++ = static_cast<std::uint8_t>((value * 2 * kernels::kFullPixel + 255) / 510);
  }
  run(workspace, out);
}

void PatchEvaluator::evaluate_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace,
                                     std::uint8_t* out) const {
  std::ranges::copy(pixels, workspace.state_->pixels.begin());
  run(workspace, out);
}

void PatchEvaluator::run(Workspace& workspace, std::uint8_t* out) const {
  Workspace::State& state = *workspace.state_;
  std::vector<const kernels::PreparedImage*> prepared;
  for (PatchImage& image : state.images) prepared.push_back(&image.prepare(state.pixels.data()));
  const kernels::MaskPair mask{0, 0};
  for (const Plan::Panel& panel : plan_->panels) {
    const Index size = plan_->groups[panel.group].size;
    const kernels::TemplatePanel templates{.weights = panel.weights.data(),
                                           .size = size,
                                           .words = (size + 3) / 4,
                                           .begin_y = panel.row.begin,
                                           .end_y = panel.row.end,
                                           .begin_x = panel.begin_x,
                                           .tiles = panel.tiles,
                                           .rows = &panel.row,
                                           .row_count = 1,
                                           .columns = panel.column.data(),
                                           .masks = &mask,
                                           .mask_count = 1};
    std::int16_t responses[kernels::kTemplatePanel];
    std::uint8_t bytes[kernels::kTemplatePanel];
    kernels::panel_responses(*prepared[panel.group], templates, state.scratch.data(), responses);
    kernels::quantise_responses(responses, panel.multiplier.data(), kernels::kTemplatePanel, bytes);
    for (std::size_t lane = 0; lane < panel.feature.size(); ++lane) out[panel.feature[lane]] = bytes[lane];
  }
}

}  // namespace sharelearn
