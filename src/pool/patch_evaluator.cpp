#include "pool/patch_evaluator.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "pool/patch_image.hpp"
#include "pool/patch_pixels.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {

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

}  // namespace

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
