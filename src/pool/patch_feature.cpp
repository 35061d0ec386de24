#include "pool/patch_feature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pool/patch_image.hpp"
#include "pool/patch_pixels.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

namespace {

/// All rows as 7-bit pixels, shared by the features of a model.
struct PixelRows {
  PatchFrame frame;
  std::vector<std::uint8_t> pixels;
};

constexpr char kPixelRowsKey = 0;
/// This bit is stored in the same word as the 16-bit multiplier: older models have no bits above the
/// multiplier.
constexpr std::uint32_t kDeskewed = 1U << 16;

PixelRows pixel_rows(const ColumnView& x, const PatchFrame& frame) {
  constexpr Index kAtOnce = 64;
  PixelRows result{frame, std::vector<std::uint8_t>(static_cast<std::size_t>(x.rows() * x.cols()))};
  std::vector<float> block(static_cast<std::size_t>(kAtOnce * x.cols()));
  PatchPixels pixels(frame);
  for (Index first = 0; first < x.rows(); first += kAtOnce) {
    const RowRange rows{first, std::min(first + kAtOnce, x.rows())};
    x.gather(rows, block.data());
    pixels.convert(std::span<const float>(block).first(static_cast<std::size_t>(rows.size() * x.cols())),
                   result.pixels.data() + first * x.cols());
  }
  return result;
}

}  // namespace

void PatchFeature::evaluate(const ColumnView& x, Grid<float>& out, Index first_column) const {
  const auto make = [&] { return pixel_rows(x, parts_.frame); };
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
          {"deskew", parts_.frame.deskew},
          {"template", parts_.weights},
          {"mask_centre", {middle(parts_.row_profile), middle(parts_.column_profile)}},
          {"multiply_adds", multiply_adds()}};
}

formula::Formula PatchFeature::formula() const {
  const PatchFrame& frame = parts_.frame;
  return formula::make(
      formula::TemplateMaximum{.of = formula::make(formula::AllColumns{frame.shape.pixels()}),
                               .height = frame.shape.height,
                               .width = frame.shape.width,
                               .low = frame.range.low,
                               .high = frame.range.high,
                               .deskew = frame.deskew,
                               .contrast = frame.epsilon,
                               .size = parts_.size,
                               .weights = parts_.weights,
                               .row_mask = parts_.row_profile,
                               .column_mask = parts_.column_profile,
                               .multiplier = parts_.multiplier});
}

std::vector<Index> PatchFeature::inputs() const {
  if (parts_.frame.deskew) {  // the slant depends on the whole image
    std::vector<Index> all(static_cast<std::size_t>(parts_.frame.shape.pixels()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
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
  out.u32(parts_.multiplier | (parts_.frame.deskew ? kDeskewed : 0));
}

FeaturePtr PatchFeature::read(ByteReader& in, Index columns) {
  Parts parts;
  parts.frame.shape.height = in.index(1, columns);
  parts.frame.shape.width = in.index(1, columns);
  if (columns % parts.frame.shape.height != 0 ||
      parts.frame.shape.width != columns / parts.frame.shape.height) {
    in.damaged("an image template does not fit the number of columns");
  }
  parts.frame.range = {in.f32(), in.f32()};
  parts.frame.epsilon = in.f64();
  if (!(parts.frame.range.high > parts.frame.range.low) ||
      !std::isfinite(parts.frame.range.high - parts.frame.range.low) || parts.frame.epsilon < 0) {
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
  std::uint32_t multiplier = in.u32();
  parts.frame.deskew = (multiplier & kDeskewed) != 0;
  multiplier &= ~kDeskewed;
  if (multiplier > 65535) in.damaged("an image template's scale is out of bounds");
  parts.multiplier = static_cast<std::uint16_t>(multiplier);
  return std::make_shared<PatchFeature>(std::move(parts));
}

/// Features of one size share the tables of the image. Up to 16 features form a panel; panels of features
/// under the same mask are the cheapest.
struct PatchEvaluator::Plan {
  struct Panel {
    std::size_t group;  // index of the template size
    std::vector<std::int8_t> weights;
    std::vector<std::uint16_t> multiplier;
    std::vector<std::size_t> feature;  // feature of each lane
    std::vector<std::size_t> mask;     // mask of each lane
    std::vector<kernels::RowProfile> rows;
    std::vector<std::int16_t> columns;
    std::vector<kernels::MaskPair> masks;
    Index begin_y, end_y, begin_x, tiles;
  };
  struct Group {
    Index size;
    std::vector<MaskProfile> planes;
  };
  /// Templates of one size that are computed one by one.
  struct Windows {
    std::size_t group;
    std::vector<kernels::TemplateWindow> windows;  // point into `weights` and `masks`
    std::vector<std::uint16_t> multiplier;
    std::vector<std::size_t> feature;
    std::vector<AlignedVector<std::uint32_t>> weights;
    std::vector<MaskProfile> masks;
  };
  PatchFrame frame;
  std::vector<Group> groups;
  std::vector<Panel> panels;
  std::vector<Windows> windows;
  std::vector<std::size_t> list_end;    // number of panels up to the end of each list of features
  std::vector<std::size_t> window_end;  // the same of windows
  std::size_t most_windows = 0;         // of one element of `windows`
  bool in_steps = false;                // there are several lists, most of them short
  std::size_t most_rows = 1;
  std::size_t most_masks = 1;

  std::size_t group_of(Index size) {
    const auto found = std::ranges::find(groups, size, &Group::size);
    if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
    groups.push_back({size, {}});
    return groups.size() - 1;
  }
  void add_list(std::span<const PatchFeature* const> features);
  void add_panel(std::span<const PatchFeature* const> features, std::span<const std::size_t> members);
  void add_window(const PatchFeature::Parts& parts, std::size_t feature, Windows& to);
};

namespace {

/// Features that will form a panel, and the range of positions under any of their masks.
struct Gathering {
  std::vector<std::size_t> members;
  ProfileRange y, x;
  Index tiles() const { return (x.end - x.begin + kernels::kPositionTile - 1) / kernels::kPositionTile; }
  Index cost() const { return (y.end - y.begin) * tiles(); }
};

ProfileRange hull(const ProfileRange& a, const ProfileRange& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Gathering united(const Gathering& a, const Gathering& b) {
  Gathering both{a.members, hull(a.y, b.y), hull(a.x, b.x)};
  both.members.insert(both.members.end(), b.members.begin(), b.members.end());
  return both;
}

/// Repeatedly merges the two gatherings whose union fits into a panel and saves the most work, while any
/// saves work.
void unite_small(std::vector<Gathering>& all) {
  for (;;) {
    Index saving = 0;
    std::size_t first = 0, second = 0;
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        if (all[a].members.size() + all[b].members.size() > kernels::kTemplatePanel) continue;
        const Index saved = all[a].cost() + all[b].cost() - united(all[a], all[b]).cost();
        if (saved > saving) saving = saved, first = a, second = b;
      }
    }
    if (saving == 0) return;
    all[first] = united(all[first], all[second]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(second));
  }
}

/// Position of `value` in `list`; appends the value if it is not there.
template <class T>
std::size_t place_in(std::vector<T>& list, const T& value) {
  const auto found = std::ranges::find(list, value);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

}  // namespace

/// Products of two taps that a panel and its templates one by one compute: a panel computes 4 positions of 16
/// templates at once, a window 16 positions.
bool cheaper_one_by_one(std::span<const PatchFeature* const> features, const Gathering& gathering) {
  const Index size = features[gathering.members.front()]->parts().size;
  const Index panel = gathering.cost() * size * ((size + 3) / 4) * 8;
  Index single = 0;
  for (const std::size_t f : gathering.members) {
    const ProfileRange y = range_of(features[f]->parts().row_profile);
    const ProfileRange x = range_of(features[f]->parts().column_profile);
    const Index rest = (x.end - x.begin) % 16;
    Index vectors = (y.end - y.begin) * ((x.end - x.begin) / 16 + (rest > kernels::kFewColumns ? 1 : 0));
    if (rest <= kernels::kFewColumns) vectors += rest * ((y.end - y.begin + 15) / 16);
    single += vectors * size * ((size + 1) / 2);
  }
  return single < panel;
}

void PatchEvaluator::Plan::add_window(const PatchFeature::Parts& parts, std::size_t feature, Windows& to) {
  constexpr std::size_t kBeyond = 16;
  const ProfileRange y = range_of(parts.row_profile), x = range_of(parts.column_profile);
  std::vector<std::int8_t> transposed;
  for (Index at = 0; at < parts.size * parts.size; ++at) {
    const Index from = at % parts.size * parts.size + at / parts.size;
    transposed.push_back(parts.weights[static_cast<std::size_t>(from)]);
  }
  const auto packed = [&](const std::vector<std::int8_t>& taps) {
    auto& words = to.weights.emplace_back(static_cast<std::size_t>(parts.size * ((parts.size + 1) / 2) * 8));
    kernels::pack_window(taps.data(), parts.size, words.data());
    return words.data();
  };
  const std::uint32_t* weights = packed(parts.weights);
  const std::uint32_t* turned = packed(transposed);
  const auto cut = [&](const MaskProfile& profile, ProfileRange range) {
    MaskProfile part(profile.begin() + range.begin, profile.begin() + range.end);
    part.resize(part.size() + kBeyond, 0);
    return to.masks.emplace_back(std::move(part)).data();
  };
  const std::int16_t* rows = cut(parts.row_profile, y);
  const std::int16_t* columns = cut(parts.column_profile, x);
  to.windows.push_back({weights, parts.size, turned, y.begin, y.end, x.begin, x.end, rows, columns});
  to.multiplier.push_back(parts.multiplier);
  to.feature.push_back(feature);
  most_windows = std::max(most_windows, to.windows.size());
}

void PatchEvaluator::Plan::add_panel(std::span<const PatchFeature* const> features,
                                     std::span<const std::size_t> members) {
  const Index size = features[members.front()]->parts().size;
  const Index width = PatchImage(frame, size, {}).width();
  Panel panel;
  panel.group = group_of(size);
  panel.multiplier.assign(kernels::kTemplatePanel, 0);
  panel.weights.resize(static_cast<std::size_t>(size * ((size + 3) / 4) * 4 * kernels::kTemplatePanel));
  std::vector<MaskProfile> row_profiles, column_profiles;
  std::vector<std::pair<std::size_t, std::size_t>> masks;
  std::vector<const std::int8_t*> templates;
  ProfileRange y = range_of(features[members.front()]->parts().row_profile);
  ProfileRange x = range_of(features[members.front()]->parts().column_profile);
  for (const std::size_t f : members) {
    const PatchFeature::Parts& parts = features[f]->parts();
    y = hull(y, range_of(parts.row_profile));
    x = hull(x, range_of(parts.column_profile));
    panel.mask.push_back(place_in(masks, std::pair(place_in(row_profiles, parts.row_profile),
                                                   place_in(column_profiles, parts.column_profile))));
    panel.multiplier[templates.size()] = parts.multiplier;
    panel.feature.push_back(f);
    templates.push_back(parts.weights.data());
  }
  for (const MaskProfile& profile : row_profiles) {
    const ProfileRange range = range_of(profile);
    panel.rows.push_back({static_cast<std::int32_t>(place_in(groups[panel.group].planes, profile)),
                          static_cast<std::int32_t>(range.begin), static_cast<std::int32_t>(range.end)});
  }
  for (const MaskProfile& profile : column_profiles) append_padded(profile, width, panel.columns);
  for (const auto& [row, column] : masks) {
    panel.masks.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)});
  }
  panel.begin_y = y.begin;
  panel.end_y = y.end;
  panel.begin_x = x.begin;
  panel.tiles = Gathering{{}, y, x}.tiles();
  kernels::pack_templates(templates.data(), static_cast<Index>(templates.size()), size, panel.weights.data());
  most_rows = std::max(most_rows, panel.rows.size());
  most_masks = std::max(most_masks, panel.masks.size());
  panels.push_back(std::move(panel));
}

void PatchEvaluator::Plan::add_list(std::span<const PatchFeature* const> features) {
  using Key = std::tuple<MaskProfile, MaskProfile>;
  std::map<Index, std::map<Key, std::vector<std::size_t>>> of_size;
  for (std::size_t f = 0; f < features.size(); ++f) {
    const PatchFeature::Parts& parts = features[f]->parts();
    if (!(parts.frame == frame)) throw InputError("image templates for different images cannot be mixed");
    of_size[parts.size][{parts.row_profile, parts.column_profile}].push_back(f);
  }
  for (const auto& [size, under_mask] : of_size) {
    std::vector<Gathering> gatherings;
    for (const auto& [key, members] : under_mask) {
      for (std::size_t first = 0; first < members.size(); first += kernels::kTemplatePanel) {
        const auto count =
            std::min(members.size() - first, static_cast<std::size_t>(kernels::kTemplatePanel));
        const auto begin = members.begin() + static_cast<std::ptrdiff_t>(first);
        gatherings.push_back({{begin, begin + static_cast<std::ptrdiff_t>(count)},
                              range_of(std::get<0>(key)),
                              range_of(std::get<1>(key))});
      }
    }
    unite_small(gatherings);
    Windows one_by_one{group_of(size), {}, {}, {}, {}, {}};
    for (const Gathering& gathering : gatherings) {
      if (!in_steps || !cheaper_one_by_one(features, gathering)) {
        add_panel(features, gathering.members);
        continue;
      }
      for (const std::size_t f : gathering.members) add_window(features[f]->parts(), f, one_by_one);
    }
    if (!one_by_one.windows.empty()) windows.push_back(std::move(one_by_one));
  }
}

PatchEvaluator::PatchEvaluator(std::span<const PatchFeature* const> features)
    : PatchEvaluator(std::vector<std::vector<const PatchFeature*>>{{features.begin(), features.end()}}) {}

PatchEvaluator::PatchEvaluator(const std::vector<std::vector<const PatchFeature*>>& lists)
    : plan_(std::make_unique<Plan>()) {
  plan_->in_steps = lists.size() > 1;
  bool first = true;
  for (const auto& features : lists) {
    if (first && !features.empty()) {
      plan_->frame = features.front()->parts().frame;
      first = false;
    }
    plan_->add_list(features);
    plan_->list_end.push_back(plan_->panels.size());
    plan_->window_end.push_back(plan_->windows.size());
  }
}

PatchEvaluator::~PatchEvaluator() = default;
PatchEvaluator::PatchEvaluator(PatchEvaluator&&) noexcept = default;
PatchEvaluator& PatchEvaluator::operator=(PatchEvaluator&&) noexcept = default;

const PatchFrame& PatchEvaluator::frame() const {
  return plan_->frame;
}

struct PatchEvaluator::Workspace::State {
  explicit State(const PatchFrame& frame) : converter(frame) {}
  PatchPixels converter;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> pairs;                 // each pixel and its right neighbour
  std::vector<std::uint8_t> turned, turned_pairs;  // the transposed image; its pixels and their neighbours
  std::vector<PatchImage> images;                  // one per template size
  std::vector<const kernels::PreparedImage*> prepared;
  AlignedVector<std::int16_t> scratch;
  std::vector<std::int16_t> responses, window_responses;
};

PatchEvaluator::Workspace::Workspace(const PatchEvaluator& evaluator)
    : state_(std::make_unique<State>(evaluator.frame())) {
  const Plan& plan = *evaluator.plan_;
  state_->pixels.assign(static_cast<std::size_t>(plan.frame.shape.pixels()) + 32, 0);
  Index width = 0;
  for (const Plan::Group& group : plan.groups) {
    state_->images.emplace_back(plan.frame, group.size, group.planes);
    width = std::max(width, state_->images.back().width());
  }
  state_->scratch.assign(static_cast<std::size_t>(width * kernels::kTemplatePanel) * plan.most_rows, 0);
  if (!plan.windows.empty()) {
    state_->pairs.assign(2 * state_->pixels.size() + 64, 0);
    state_->turned.assign(state_->pixels.size(), 0);
    state_->turned_pairs.assign(state_->pairs.size(), 0);
  }
  state_->window_responses.assign(plan.most_windows, 0);
  state_->responses.assign(static_cast<std::size_t>(kernels::kTemplatePanel) * plan.most_masks, 0);
}

PatchEvaluator::Workspace::~Workspace() = default;
PatchEvaluator::Workspace::Workspace(Workspace&&) noexcept = default;

void PatchEvaluator::evaluate(std::span<const float> image, Workspace& workspace, std::uint8_t* out) const {
  workspace.state_->converter.convert(image, workspace.state_->pixels.data());
  run(workspace, out);
}

void PatchEvaluator::evaluate(std::span<const std::uint8_t> image, Workspace& workspace,
                              std::uint8_t* out) const {
  workspace.state_->converter.convert(image, workspace.state_->pixels.data());
  run(workspace, out);
}

void PatchEvaluator::evaluate_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace,
                                     std::uint8_t* out) const {
  std::ranges::copy(pixels, workspace.state_->pixels.begin());
  run(workspace, out);
}

void PatchEvaluator::prepare_pixels(std::span<const std::uint8_t> pixels, Workspace& workspace) const {
  std::ranges::copy(pixels, workspace.state_->pixels.begin());
  prepare(workspace);
}

void PatchEvaluator::run(Workspace& workspace, std::uint8_t* out) const {
  prepare(workspace);
  evaluate_list(0, workspace, out);
}

void PatchEvaluator::prepare(Workspace& workspace) const {
  Workspace::State& state = *workspace.state_;
  state.prepared.assign(state.images.size(), nullptr);
  if (state.pairs.empty()) return;
  const ImageShape& shape = plan_->frame.shape;
  constexpr Index kFrom = kernels::kWindowLanes;
  for (Index x = kFrom; x < shape.width; ++x) {
    const std::uint8_t* column = state.pixels.data() + x;
    std::uint8_t* to = state.turned.data() + x * shape.height;
    for (Index y = 0; y < shape.height; ++y) to[y] = column[y * shape.width];
  }
  kernels::pair_pixels(state.pixels.data(), shape.pixels(), state.pairs.data());
  if (shape.width <= kFrom) return;
  const Index skipped = kFrom * shape.height;
  kernels::pair_pixels(state.turned.data() + skipped, shape.pixels() - skipped,
                       state.turned_pairs.data() + 2 * skipped);
}

void PatchEvaluator::evaluate_list(std::size_t list, Workspace& workspace, std::uint8_t* out) const {
  Workspace::State& state = *workspace.state_;
  const auto prepared =
      [&](std::size_t group) -> const kernels::PreparedImage& {  // a size when it is first needed
    const auto*& tables = state.prepared[group];
    if (tables == nullptr) tables = &state.images[group].prepare(state.pixels.data());
    return *tables;
  };
  for (std::size_t p = list == 0 ? 0 : plan_->window_end[list - 1]; p < plan_->window_end[list]; ++p) {
    const Plan::Windows& windows = plan_->windows[p];
    std::int16_t* responses = state.window_responses.data();
    (void)prepared(windows.group);
    kernels::window_responses(
        state.images[windows.group].paired(state.pairs.data(), state.turned_pairs.data()),
        windows.windows.data(), std::ssize(windows.windows), responses);
    for (std::size_t w = 0; w < windows.feature.size(); ++w) {
      const int value = responses[w] * windows.multiplier[w] >> 16;
      out[windows.feature[w]] = static_cast<std::uint8_t>(std::min(255, value));
    }
  }
  for (std::size_t p = list == 0 ? 0 : plan_->list_end[list - 1]; p < plan_->list_end[list]; ++p) {
    const Plan::Panel& panel = plan_->panels[p];
    const Index size = plan_->groups[panel.group].size;
    const kernels::TemplatePanel templates{.weights = panel.weights.data(),
                                           .size = size,
                                           .words = (size + 3) / 4,
                                           .begin_y = panel.begin_y,
                                           .end_y = panel.end_y,
                                           .begin_x = panel.begin_x,
                                           .tiles = panel.tiles,
                                           .rows = panel.rows.data(),
                                           .row_count = static_cast<Index>(panel.rows.size()),
                                           .columns = panel.columns.data(),
                                           .masks = panel.masks.data(),
                                           .mask_count = static_cast<Index>(panel.masks.size())};
    kernels::panel_responses(prepared(panel.group), templates, state.scratch.data(), state.responses.data());
    std::int16_t own[kernels::kTemplatePanel] = {};
    for (std::size_t lane = 0; lane < panel.feature.size(); ++lane) {
      own[lane] = state.responses[panel.mask[lane] * kernels::kTemplatePanel + lane];
    }
    std::uint8_t bytes[kernels::kTemplatePanel];
    kernels::quantise_responses(own, panel.multiplier.data(), kernels::kTemplatePanel, bytes);
    for (std::size_t lane = 0; lane < panel.feature.size(); ++lane) out[panel.feature[lane]] = bytes[lane];
  }
}

}  // namespace sharelearn
