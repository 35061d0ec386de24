// The parts of a sharing model: the table of features x classes, the class sets, the support store.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "kernels/class_rows.hpp"
#include "sharelearn/run/error.hpp"
#include "sharelearn/run/random.hpp"
#include "sharelearn/state/class_sets.hpp"
#include "sharelearn/state/class_table.hpp"
#include "sharelearn/state/support_store.hpp"

namespace sharelearn {
namespace {

TEST(ClassTable, holds_what_a_map_holds_however_it_grows) {
  Random random(1);
  ClassTable table;
  std::map<std::pair<Index, Index>, double> expected;
  Index classes = 1;
  for (int step = 0; step < 20000; ++step) {
    if (step % 100 == 0) table.grow_classes(classes += 3);
    // Low features occur in many classes and become arrays; high features stay lists.
    const Index f = random.below(1 + random.below(200)), c = random.below(classes);
    const double v = random.normal();
    table.at(f, c) += v;
    expected[{f, c}] += v;
  }
  ByteWriter out;
  table.write(out);
  ByteReader in(out.bytes(), "memory");
  const ClassTable copy = ClassTable::read(in, classes);
  bool dense = false, sparse = false;
  for (Index f = 0; f < 210; ++f) {
    dense = dense || table.row(f).dense();
    sparse = sparse || (!table.row(f).empty() && !table.row(f).dense());
    for (Index c = 0; c < classes; ++c) {
      const auto at = expected.find({f, c});
      ASSERT_EQ(table.value(f, c), at == expected.end() ? 0 : at->second);
      ASSERT_EQ(copy.value(f, c), table.value(f, c));
    }
  }
  EXPECT_TRUE(dense && sparse);
}

TEST(ClassRows, quotients_have_the_bits_of_a_division) {
  Random random(2);
  const Index width = 64;
  AlignedVector<double> sums(width), counts(width), inverse(width), scores(width);
  for (int trial = 0; trial < 2000; ++trial) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(width); ++c) {
      counts[c] = static_cast<double>(1 + random.below(trial % 2 == 0 ? 100 : 1000000));
      inverse[c] = 1 / counts[c];
      sums[c] = random.coin() ? static_cast<double>(random.below(1000000)) : random.normal() * 100;
      scores[c] = 0;
    }
    const double* row = sums.data();
    const double one = 1;
    kernels::add_mapped({}, scores.data(), width, &row, &one, &one, 1, {counts.data(), inverse.data()});
    for (std::size_t c = 0; c < static_cast<std::size_t>(width); ++c)
      ASSERT_EQ(scores[c], sums[c] / counts[c]);
  }
}

TEST(ClassSets, a_file_gives_groups_own_sets_and_all) {
  ClassSets sets =
      ClassSets::parse("desert: beetle_a, beetle_b\nall: *\nown: \"big beetle\"  # alone\n", "f");
  for (const char* name : {"beetle_b", "big beetle", "other"}) sets.add_class(name);
  EXPECT_TRUE(sets.common());
  EXPECT_EQ(sets.groups_of(0), std::vector<std::uint32_t>{0});
  EXPECT_FALSE(sets.own(0));
  EXPECT_TRUE(sets.own(1));
  EXPECT_FALSE(sets.own(2));  // it is in the set of all
  EXPECT_EQ(sets.shared_by(0, 0), 2);
  EXPECT_EQ(sets.shared_by(0, 2), 1);
  EXPECT_EQ(sets.largest_membership(), 2);
}

TEST(ClassSets, classes_of_a_file_are_compared_as_labels_are) {
  ClassSets sets = ClassSets::parse("s: 01 +2.0\n", "f");
  for (const char* name : {"1", "2"}) sets.add_class(name);
  EXPECT_EQ(sets.shared_by(0, 1), 1);
}

TEST(ClassSets, have_the_same_rule_if_any_class_gets_the_same_sets) {
  const ClassSets a = ClassSets::parse("s: a b\n", "f");
  ClassSets grown = a, all = a;
  grown.add_class("b");
  all.give_every_class_its_own();
  EXPECT_TRUE(a.same_rule(grown));
  EXPECT_FALSE(a.same_rule(all));
  EXPECT_FALSE(a.same_rule(ClassSets::parse("s: a c\n", "f")));
  EXPECT_FALSE(a.same_rule(ClassSets::parse("t: a b\n", "f")));
  EXPECT_FALSE(a.same_rule(ClassSets(Hypotheses::multi)));
}

TEST(ByteWriter, refuses_numbers_the_reader_would_refuse) {
  ByteWriter out;
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(out.f64(infinite), Failure);
  EXPECT_THROW(out.f32(std::numeric_limits<float>::quiet_NaN()), Failure);
  EXPECT_THROW(out.doubles(std::vector<double>{1, infinite}), Failure);
  EXPECT_THROW(out.floats(std::vector<float>{std::numeric_limits<float>::infinity()}), Failure);
}

TEST(ClassSets, a_class_in_no_set_gets_its_own) {
  ClassSets sets = ClassSets::parse("g: a b\n", "f");
  sets.add_class("c");
  sets.add_class("a");
  EXPECT_TRUE(sets.own(0));
  EXPECT_FALSE(sets.own(1));
}

TEST(ClassSets, bad_files_are_refused_with_their_line) {
  for (const char* text : {"", "no colon here\n", "a:\n", ": x y\n", "a: x y\nb: y x\n", "a: * x\n"}) {
    EXPECT_THROW(ClassSets::parse(text, "f"), InputError) << text;
  }
  try {
    ClassSets::parse("a: x y\n\nbad\n", "sets.txt");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("sets.txt, line 3"), std::string::npos) << error.what();
  }
}

TEST(ClassSets, a_hierarchy_has_a_set_for_every_prefix) {
  ClassSets sets(Hypotheses::hierarchy);
  for (const char* name : {"mail/work/a", "mail", "mail/home", "news/x"}) sets.add_class(name);
  const auto shared = [&](Index a, Index b) { return sets.shared_by(a, b); };
  EXPECT_EQ(shared(0, 2), 2);  // all, mail
  EXPECT_EQ(shared(0, 1), 2);  // the class "mail" is its own prefix
  EXPECT_EQ(shared(0, 3), 1);  // all
  EXPECT_EQ(shared(0, 0), 3);  // all, mail, mail/work
  ByteWriter out;
  sets.write(out);
  ByteReader in(out.bytes(), "memory");
  ClassSets copy = ClassSets::read(in);
  for (ClassSets* s : {&sets, &copy}) {
    s->add_class("mail/home/b");
    EXPECT_EQ(s->shared_by(2, 4), 3);  // all, mail, mail/home
    EXPECT_TRUE(s->own(4));
  }
}

TEST(ClassSets, a_hierarchy_that_knows_what_comes_has_the_sets_of_a_file) {
  ClassSets sets(Hypotheses::hierarchy);
  sets.expect({"news/x", "mail/work/a", "mail"});
  ClassSets file = ClassSets::parse(
      "all: *\nmail: mail mail/work/a mail/home\nwork: mail/work/a mail/work/b\nnews: news/x news/y\n", "f");
  file.give_every_class_its_own();
  for (const char* name : {"mail", "mail/work/a", "news/x", "mail/home"}) {
    sets.add_class(name);
    file.add_class(name);
    for (Index c = 0; c < sets.classes(); ++c) {
      EXPECT_EQ(sets.own(c), file.own(c));
      for (Index d = 0; d < sets.classes(); ++d) EXPECT_EQ(sets.shared_by(c, d), file.shared_by(c, d));
    }
  }
  EXPECT_TRUE(sets.holds_exactly({"mail", "mail/work/a", "news/x", "mail/home"}));
  ByteWriter out;
  sets.write(out);
  ByteReader in(out.bytes(), "memory");
  EXPECT_TRUE(ClassSets::read(in).holds_exactly({"mail", "mail/work/a", "news/x", "mail/home"}));
}

TEST(SupportStore, evaluates_kernels_of_all_its_vectors_as_vectors_grow) {
  Random random(3);
  SupportStore<float> floats;
  SupportStore<double> doubles;
  std::vector<std::vector<double>> vectors;
  for (Index j = 0; j < 21; ++j) {
    std::vector<double> v(static_cast<std::size_t>(3 + j / 4));
    for (double& x : v) x = static_cast<double>(static_cast<float>(random.normal()));
    floats.set(j, v);
    doubles.set(j, v);
    vectors.push_back(v);
  }
  vectors[2] = {1, 2};
  floats.set(2, vectors[2]);
  doubles.set(2, vectors[2]);
  const Index dims = 10;
  std::vector<std::vector<double>> queries(6, std::vector<double>(static_cast<std::size_t>(dims)));
  std::vector<const double*> z;
  for (auto& q : queries) {
    for (double& x : q) x = random.normal();
    z.push_back(q.data());
  }
  for (const KernelKind kind : {KernelKind::gaussian, KernelKind::polynomial}) {
    const Kernel kernel{kind, 2.5, 3, 1};
    std::vector<double> a, b;
    floats.evaluate(kernel, z, dims, a);
    doubles.evaluate(kernel, z, dims, b);
    for (std::size_t r = 0; r < queries.size(); ++r) {
      for (std::size_t j = 0; j < vectors.size(); ++j) {
        const double expected = kernel(queries[r], vectors[j]);
        const auto at = r * static_cast<std::size_t>(floats.stride()) + j;
        EXPECT_EQ(a[at], expected);
        EXPECT_EQ(b[at], expected);
      }
    }
  }
}

}  // namespace
}  // namespace sharelearn
