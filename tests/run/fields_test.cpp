#include "sharelearn/run/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sharelearn {
namespace {

struct Options {
  std::optional<double> ridge;
  std::optional<std::int64_t> features;
  std::optional<bool> bias;
  std::optional<std::string> pool;
  std::optional<std::int64_t> bins;
  std::optional<std::vector<double>> mix;
};

FieldTable fields(Options& o) {
  FieldTable table;
  table.add("ridge", o.ridge, "Weight").at_least(0).otherwise(0.5);
  table.add("features", o.features, "Number").above(0);
  table.add("bias", o.bias, "Intercept").otherwise(true);
  table.add("pool", o.pool, "Candidates").choices({"columns", "stumps"}).otherwise("columns");
  table.add("bins", o.bins, "Bins").between(0, 256).otherwise(8).when("`pool` stumps", [&o] {
    return o.pool.value_or("") == "stumps";
  });
  table.add("mix", o.mix, "Shares").between(0, 1);
  return table;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const OptionError& error) {
    return error.what();
  }
  return "";
}

TEST(Fields, text_becomes_values_within_their_range_or_is_refused) {
  Options o;
  const FieldTable table = fields(o);
  table.find("ridge")->set_text("1e-3");
  table.find("features")->set_text("+12");
  table.find("mix")->set_text("0,0.5,1");
  EXPECT_EQ(o.ridge, 1e-3);
  EXPECT_EQ(o.features, 12);
  EXPECT_EQ(o.mix, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(refusal([&] { table.find("ridge")->set_text("nan"); }),
            "`ridge`: expected a number of at least 0, found 'nan'");
  EXPECT_EQ(refusal([&] { table.find("features")->set_text("1.5"); }),
            "`features`: expected a whole number of at most 64 bits, found '1.5'");
  EXPECT_EQ(refusal([&] { table.find("mix")->set_text("0,,1"); }), "`mix`: '0,,1' has an empty entry");
  EXPECT_EQ(refusal([&] { table.find("mix")->set_text("2"); }),
            "`mix`: expected a number from 0 to 1, found '2'");
  EXPECT_EQ(refusal([&] { table.find("pool")->set_text("trees"); }),
            "`pool`: expected one of columns, stumps, found 'trees'");
}

TEST(Fields, values_of_another_type_are_refused) {
  Options o;
  const FieldTable table = fields(o);
  EXPECT_NE(refusal([&] { table.find("ridge")->set("x"); }), "");
  EXPECT_NE(refusal([&] { table.find("features")->set(2.5); }), "");
  EXPECT_NE(refusal([&] { table.find("bias")->set(1); }), "");
  EXPECT_FALSE(o.ridge || o.features || o.bias);
}

TEST(Fields, defaults_fill_what_applies_and_is_unset) {
  Options o;
  o.ridge = 2;
  const FieldTable table = fields(o);
  table.fill();
  EXPECT_EQ(o.ridge, 2);
  EXPECT_EQ(o.bias, true);
  EXPECT_FALSE(o.bins.has_value());
  EXPECT_EQ(table.values(), (nlohmann::json{{"ridge", 2.0}, {"bias", true}, {"pool", "columns"}}));
  EXPECT_TRUE(table.values_in_effect().contains("features"));
  EXPECT_FALSE(table.values_in_effect().contains("bins"));
}

TEST(Fields, a_table_refuses_what_does_not_apply_and_values_out_of_range) {
  Options o;
  o.bins = 4;
  EXPECT_EQ(refusal([&] { fields(o).check(); }), "`bins` needs `pool` stumps");
  o.pool = "stumps";
  EXPECT_EQ(refusal([&] { fields(o).check(); }), "");
  o.ridge = std::nan("");
  EXPECT_NE(refusal([&] { fields(o).check(); }), "");
}

TEST(Fields, fronts_spell_options_their_own_way) {
  const auto spell = [](std::string_view name) { return "--" + std::string(name); };
  EXPECT_EQ(render_options("`missing` mean, not `Any Text` or a lone `", spell),
            "--missing mean, not `Any Text` or a lone `");
}

}  // namespace
}  // namespace sharelearn
