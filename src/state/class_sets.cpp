#include "sharelearn/state/class_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "sharelearn/data/line_reader.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

/// Stands in `listed_` for a class that has a set of its own.
constexpr std::uint32_t kOwn = std::numeric_limits<std::uint32_t>::max();

/// Deeper prefixes of a path are not made sets: their text would grow with the square of its length.
constexpr int kDeepest = 256;

constexpr std::array<std::pair<std::string_view, Hypotheses>, 6> kNames{{{"multi", Hypotheses::multi},
                                                                         {"single", Hypotheses::single},
                                                                         {"hybrid", Hypotheses::hybrid},
                                                                         {"sets", Hypotheses::sets},
                                                                         {"hierarchy", Hypotheses::hierarchy},
                                                                         {"learned", Hypotheses::learned}}};

void insert_sorted(std::vector<std::uint32_t>& list, std::uint32_t value) {
  const auto at = std::lower_bound(list.begin(), list.end(), value);
  if (at == list.end() || *at != value) list.insert(at, value);
}

/// Words of a line between blanks and commas; a word in double quotes may hold both.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == ',' || line[i] == '\r') {
      ++i;
      continue;
    }
    const bool quoted = line[i] == '"';
    const std::size_t begin = quoted ? ++i : i;
    while (i < line.size() && (quoted ? line[i] != '"' : line.find_first_of(" \t,\r", i) != i)) ++i;
    words.emplace_back(line.substr(begin, i - begin));
    if (quoted && i < line.size()) ++i;
  }
  return words;
}

template <class Map>
std::vector<std::string> sorted_keys(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

Hypotheses read_kind(ByteReader& in) {
  const std::uint8_t kind = in.u8();
  if (kind >= kNames.size()) in.damaged("an unknown kind of hypotheses");
  return static_cast<Hypotheses>(kind);
}

}  // namespace

Hypotheses hypotheses_from(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (text == name && kind != Hypotheses::learned) return kind;
  }
  throw InputError(
      fmt::format("hypotheses: expected multi, single, hybrid, hierarchy or a file, got \"{}\"", name));
}

std::string_view name_of(Hypotheses kind) {
  return kNames[static_cast<std::size_t>(kind)].first;
}

ClassSets::ClassSets(Hypotheses kind) : kind_(kind) {
  common_ = kind == Hypotheses::single || kind == Hypotheses::hybrid || kind == Hypotheses::hierarchy;
  own_for_all_ = kind != Hypotheses::single && kind != Hypotheses::sets;
}

ClassSets ClassSets::parse(std::string_view text, const std::string& source) {
  ClassSets sets(Hypotheses::sets);
  std::set<std::vector<std::string>> known;
  std::set<std::string> names;
  Index line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    line = line.substr(0, line.find('#'));
    if (split_words(line).empty()) continue;
    const auto fail = [&](std::string_view why) {
      throw InputError(
          fmt::format("{}, line {}: {}; expected \"name: class class ...\"", source, line_number, why));
    };
    if (std::count(line.begin(), line.end(), '"') % 2 != 0) fail("a quote is not closed");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) fail("no colon after the set's name");
    std::vector<std::string> members = split_words(line.substr(colon + 1));
    const std::vector<std::string> name = split_words(line.substr(0, colon));
    if (name.empty()) fail("the set has no name");
    if (!names.insert(name.front()).second) fail(fmt::format("the name \"{}\" stands twice", name.front()));
    if (members.empty()) fail(fmt::format("set \"{}\" names no class", name.front()));
    for (std::string& cls : members) cls = canonical_label(cls);  // as the labels of the data are
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (!known.insert(members).second) fail(fmt::format("set \"{}\" repeats an earlier set", name.front()));
    if (members.front() == "*") {
      if (members.size() > 1) fail("\"*\" is all classes: name no others beside it");
      sets.common_ = true;
    } else if (members.size() == 1) {
      sets.listed_[members.front()].push_back(kOwn);
    } else {
      const auto group = static_cast<std::uint32_t>(sets.groups_.size());
      sets.groups_.push_back({name.front(), {}});
      for (const std::string& cls : members) sets.listed_[cls].push_back(group);
    }
  }
  if (known.empty())
    throw InputError(fmt::format("{}: no sets; expected lines \"name: class class ...\"", source));
  return sets;
}

bool ClassSets::same_rule(const ClassSets& other) const {
  const auto same_name = [](const ClassGroup& a, const ClassGroup& b) { return a.name == b.name; };
  return kind_ == other.kind_ && common_ == other.common_ && own_for_all_ == other.own_for_all_ &&
         listed_ == other.listed_ &&
         (kind_ != Hypotheses::sets ||
          std::equal(groups_.begin(), groups_.end(), other.groups_.begin(), other.groups_.end(), same_name));
}

void ClassSets::add_class(std::string_view name) {
  const auto cls = static_cast<std::uint32_t>(own_.size());
  own_.push_back(own_for_all_ ? 1 : 0);
  groups_of_.emplace_back();
  if (const auto found = listed_.find(std::string(name)); found != listed_.end()) {
    for (const std::uint32_t group : found->second) {
      if (group == kOwn) {
        own_[cls] = 1;
      } else {
        join(group, cls);
      }
    }
  }
  if (kind_ == Hypotheses::hierarchy) add_prefixes(std::string(name), cls);
  if (!common_ && groups_of_[cls].empty()) own_[cls] = 1;
  any_own_ = any_own_ || own_[cls] != 0;
}

// A class whose path is itself the prefix of others is in their group, too, whichever came first.
template <class Visit>
void ClassSets::for_each_prefix(const std::string& name, const Visit& visit) {
  std::size_t slash = name.find('/', 1);
  for (int depth = 0; depth < kDeepest && slash < name.size(); ++depth, slash = name.find('/', slash + 1)) {
    const std::string prefix = name.substr(0, slash);
    const auto [at, fresh] = group_of_path_.try_emplace(prefix, static_cast<Index>(groups_.size()));
    if (fresh) {
      groups_.push_back({prefix, {}});
      if (const auto same = class_of_path_.find(prefix); same != class_of_path_.end())
        join(at->second, same->second);
    }
    visit(at->second);
  }
}

// In ascending order, so that the sets do not depend on the order in which the names were found.
void ClassSets::expect(std::vector<std::string> names) {
  if (kind_ != Hypotheses::hierarchy) return;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) for_each_prefix(name, [](Index) {});
}

// "mail/work/projects" is in the groups "mail" and "mail/work"; its whole path is its own set.
void ClassSets::add_prefixes(const std::string& name, std::uint32_t cls) {
  class_of_path_[name] = cls;
  for_each_prefix(name, [&](Index group) { join(group, cls); });
  if (const auto group = group_of_path_.find(name); group != group_of_path_.end()) join(group->second, cls);
}

void ClassSets::join(Index group, std::uint32_t cls) {
  insert_sorted(groups_[static_cast<std::size_t>(group)].members, cls);
  insert_sorted(groups_of_[cls], static_cast<std::uint32_t>(group));
}

Index ClassSets::shared_by(Index a, Index b) const {
  Index both = common_ ? 1 : 0;
  const auto& left = groups_of(a);
  const auto& right = groups_of(b);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i] == right[j])
      ++both, ++i, ++j;
    else if (left[i] < right[j])
      ++i;
    else
      ++j;
  }
  return both;
}

Index ClassSets::largest_membership() const {
  Index largest = 0;
  for (Index c = 0; c < classes(); ++c) {
    const Index sets = (common_ ? 1 : 0) + (own(c) ? 1 : 0) + static_cast<Index>(groups_of(c).size());
    largest = std::max(largest, sets);
  }
  return largest;
}

void ClassSets::write(ByteWriter& out) const {
  out.u8(static_cast<std::uint8_t>(kind_));
  out.u8(common_);
  out.u8(own_for_all_);
  out.index(classes());
  for (const char own : own_) out.u8(static_cast<std::uint8_t>(own));
  out.index(static_cast<Index>(groups_.size()));
  for (const ClassGroup& group : groups_) {
    out.text(group.name);
    out.indices(std::vector<Index>(group.members.begin(), group.members.end()));
  }
  out.index(static_cast<Index>(listed_.size()));
  for (const std::string& name : sorted_keys(listed_)) {
    out.text(name);
    const auto& groups = listed_.at(name);
    out.indices(std::vector<Index>(groups.begin(), groups.end()));
  }
  out.index(static_cast<Index>(class_of_path_.size()));
  for (const std::string& path : sorted_keys(class_of_path_)) {
    out.text(path);
    out.u32(class_of_path_.at(path));
  }
}

bool ClassSets::holds_exactly(const std::vector<std::string>& names) const {
  ClassSets again(kind_);
  if (kind_ == Hypotheses::learned) {  // classes move between its groups
    return !groups_.empty() && std::ssize(groups_) <= classes() + 1 && !common_ && own_for_all_ &&
           listed_.empty() && class_of_path_.empty() && std::ssize(names) == classes() &&
           std::find(own_.begin(), own_.end(), 0) == own_.end();
  }
  if (kind_ == Hypotheses::sets) {
    again.common_ = common_;
    again.own_for_all_ = own_for_all_;
    again.listed_ = listed_;
  }
  if (kind_ == Hypotheses::sets || kind_ == Hypotheses::hierarchy) {  // sets of classes that may still come
    for (const ClassGroup& group : groups_) {
      if (kind_ == Hypotheses::hierarchy) again.group_of_path_[group.name] = std::ssize(again.groups_);
      again.groups_.push_back({group.name, {}});
    }
  }
  for (const std::string& name : names) again.add_class(name);
  return again.common_ == common_ && again.own_for_all_ == own_for_all_ && again.own_ == own_ &&
         again.groups_of_ == groups_of_ && again.listed_ == listed_ &&
         again.class_of_path_ == class_of_path_ && again.group_of_path_ == group_of_path_ &&
         std::ranges::equal(again.groups_, groups_, {}, &ClassGroup::name, &ClassGroup::name);
}

ClassSets ClassSets::read(ByteReader& in) {
  ClassSets sets(read_kind(in));
  sets.common_ = in.u8() != 0;
  sets.own_for_all_ = in.u8() != 0;
  const Index classes = in.index(0, kOwn - 1);
  for (Index c = 0; c < classes; ++c) sets.own_.push_back(static_cast<char>(in.u8() != 0));
  sets.any_own_ = std::find(sets.own_.begin(), sets.own_.end(), 1) != sets.own_.end();
  sets.groups_of_.resize(static_cast<std::size_t>(classes));
  const Index groups = in.index(0, kOwn - 1);
  sets.groups_.clear();
  for (Index g = 0; g < groups; ++g) {
    ClassGroup& group = sets.groups_.emplace_back(in.text(), std::vector<std::uint32_t>());
    for (const Index cls : in.indices(0, classes - 1)) {
      const auto member = static_cast<std::uint32_t>(cls);
      if (!group.members.empty() && group.members.back() >= member)
        in.damaged("a set's classes do not ascend");
      group.members.push_back(member);
      sets.groups_of_[member].push_back(static_cast<std::uint32_t>(g));
    }
    if (sets.kind_ == Hypotheses::hierarchy) sets.group_of_path_[sets.groups_.back().name] = g;
  }
  const Index listed = in.index(0, kOwn);
  for (Index l = 0; l < listed; ++l) {
    auto& list = sets.listed_[in.text()];
    for (const Index group : in.indices(0, kOwn)) {
      if (group >= groups && group != kOwn) in.damaged("a class is listed in a set that is not there");
      list.push_back(static_cast<std::uint32_t>(group));
    }
  }
  const Index paths = in.index(0, classes);
  for (Index p = 0; p < paths; ++p) {
    const std::string path = in.text();
    const std::uint32_t cls = in.u32();
    if (cls >= classes) in.damaged("a path names a class that is not there");
    sets.class_of_path_[path] = cls;
  }
  return sets;
}

}  // namespace sharelearn
