#include "sharelearn/pool/formula.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sharelearn::formula {
namespace {

using nlohmann::json;

TEST(Formula, is_written_as_its_operations) {
  JsonWriter write;
  const Formula column = make(Columns{{2}});
  const Formula sum = make(Sum{{make(Constant{0.5}), make(Affine{column, 2, {1}})}});
  EXPECT_EQ(write(make(LessThan{sum, 3})), json::parse(R"({"op": "less_than", "threshold": 3.0, "of":
    {"op": "sum", "of": [{"op": "constant", "value": 0.5},
                         {"op": "affine", "factor": 2.0, "offset": [1.0], "of":
                           {"op": "columns", "columns": [2]}}]}})"));
  EXPECT_EQ(write.shared(), json::array());
}

TEST(Formula, projections_of_one_identity_are_written_once) {
  const int first = 0, second = 0;
  const auto projected = [](const void* identity) {
    return make(Cos{make(Projection{make(AllColumns{2}), {}, {{1, 2}}, false, identity})});
  };
  JsonWriter write;
  EXPECT_EQ(write(projected(&first))["of"], json::parse(R"({"op": "shared", "index": 0})"));
  EXPECT_EQ(write(projected(&second))["of"]["index"], 1);
  EXPECT_EQ(write(projected(&first))["of"]["index"], 0);
  EXPECT_EQ(write(projected(nullptr))["of"]["directions"], json::parse("[[1.0, 2.0]]"));
  EXPECT_EQ(write.shared().size(), 2U);
  EXPECT_EQ(write.shared()[1]["op"], "projection");
}

}  // namespace
}  // namespace sharelearn::formula
