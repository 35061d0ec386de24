// The collection T of class sets ([Fink06], section 4): which classes share a hypothesis.
//
// A set is one of three: a class's own (the singleton, scored on plain x), the common one of all classes, or
// a group. Classes may appear at any moment; a new class joins the sets its name belongs to, and gets one of
// its own if it belongs to none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sharelearn/data/matrix.hpp"
#include "sharelearn/run/bytes.hpp"

namespace sharelearn {

enum class Hypotheses {
  multi,      ///< a set for each class
  single,     ///< one set of all classes
  hybrid,     ///< both
  sets,       ///< as a file says
  hierarchy,  ///< class names are paths: every prefix is a set, the empty one and the class itself included
  learned     ///< of models of earlier versions, which found sets while learning; they still predict
};
Hypotheses hypotheses_from(std::string_view name);
std::string_view name_of(Hypotheses kind);

struct ClassGroup {
  std::string name;
  std::vector<std::uint32_t> members;  ///< classes seen so far, ascending
};

class ClassSets {
 public:
  explicit ClassSets(Hypotheses kind = Hypotheses::multi);
  /// Lines `name: class class ...`, classes compared as labels are; `*` as a class means all of them; `#`
  /// starts a comment. A set of one class is that class's own. Throws InputError with `source` and the line.
  static ClassSets parse(std::string_view text, const std::string& source);

  /// Every class also gets a set of its own.
  void give_every_class_its_own() { own_for_all_ = true; }
  /// Hierarchy: these classes are going to come, so that a class whose path is the prefix of another's is in
  /// the set of its path from its first example on. Other kinds know already.
  void expect(std::vector<std::string> names);
  /// Tells of the next class; classes are numbered in this order.
  void add_class(std::string_view name);

  /// True if both put any class into the same sets, whatever classes were seen.
  bool same_rule(const ClassSets& other) const;

  Hypotheses kind() const { return kind_; }
  Index classes() const { return static_cast<Index>(own_.size()); }
  bool common() const { return common_; }
  bool own(Index cls) const { return own_[static_cast<std::size_t>(cls)] != 0; }
  bool any_own() const { return any_own_; }
  /// True if some set is shared, so that class statistics are needed.
  bool any_shared() const { return common_ || !groups_.empty(); }
  const std::vector<ClassGroup>& groups() const { return groups_; }
  const std::vector<std::uint32_t>& groups_of(Index cls) const {
    return groups_of_[static_cast<std::size_t>(cls)];
  }
  /// Shared sets that hold both classes: the weight of their kernel in each other's score.
  Index shared_by(Index a, Index b) const;
  /// rho of eq. (8): the largest number of sets a class is in.
  Index largest_membership() const;

  /// True if these classes, in this order, give these sets: what a file says of them is consistent.
  bool holds_exactly(const std::vector<std::string>& names) const;

  void write(ByteWriter& out) const;
  static ClassSets read(ByteReader& in);

 private:
  /// Calls visit(group) for the set of every prefix of a path, which is made if it is new.
  template <class Visit>
  void for_each_prefix(const std::string& name, const Visit& visit);
  void add_prefixes(const std::string& name, std::uint32_t cls);
  void join(Index group, std::uint32_t cls);

  Hypotheses kind_;
  bool common_ = false;
  bool own_for_all_ = false;
  bool any_own_ = false;
  std::vector<ClassGroup> groups_;
  std::vector<std::vector<std::uint32_t>> groups_of_;  ///< of each class, ascending
  std::vector<char> own_;
  // What a file says of classes that may still come.
  std::unordered_map<std::string, std::vector<std::uint32_t>> listed_;  ///< class -> groups
  std::unordered_map<std::string, Index> group_of_path_;                ///< hierarchy: prefix -> group
  std::unordered_map<std::string, std::uint32_t> class_of_path_;        ///< hierarchy: class name -> class
};

}  // namespace sharelearn
